% Popularity with cool-down: like popularity, but an instance that has migrated stays for a while.
%
% For agents that evaluate often while requests arrive at random. Each evaluation then sees few requests, with much noise:
% with popularity alone, an instance between two groups of clients alternates between them. With this policy it does not
% migrate again within ten evaluations of its last migration; it may still replicate or undeploy.

:- ensure_loaded('library.pl').
:- dynamic fact/3, done/4.
:- remembers(operations, 10).

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    cool(Instance),
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    comes_through(Instance, Neighbour, Rate),
    popular(Popular),
    Rate >= Popular,
    \+ inhibited(migrate, Instance, Neighbour).

operation(replicate, Instance, Neighbour) :-
    \+ all_come_through(Instance, _),
    findall(Hop-Rate, worth_following(Instance, Hop, Rate), Rates),
    sends_most(Rates, Neighbour).

operation(migrate, Instance, Neighbour) :-
    cool(Instance),
    \+ idle(Instance),
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    unpopular(Unpopular),
    Total < Unpopular,
    \+ may_fit(Instance, self),
    up(Instance, Neighbour),
    \+ inhibited(migrate, Instance, Neighbour).

% cool(Instance): it has not migrated for as long as it remembers.
cool(Instance) :-
    \+ done(_, Instance, migrate, _).

% popular(Rate), unpopular(Rate): the minimum rate of popular requests, and the rate below which they are unpopular.
popular(4).
unpopular(3).

% worth_following(Instance, Neighbour, Rate): popular requests come through a neighbour that has not just refused a replica.
% One solution for each such neighbour.
worth_following(Instance, Neighbour, Rate) :-
    setof(Hop, Any^Latency^requests(Instance, Hop, Any, Latency), Hops),
    member(Neighbour, Hops),
    Neighbour \== self,
    \+ inhibited(replicate, Instance, Neighbour),
    comes_through(Instance, Neighbour, Rate),
    popular(Popular),
    Rate >= Popular.

% comes_through(Instance, Neighbour, Rate): the rate of all client requests with this last hop.
comes_through(Instance, Neighbour, Rate) :-
    aggregate_all(sum(One), requests(Instance, Neighbour, One, _), Rate).

% up(Instance, Neighbour): the first neighbour that is nearer to the cloud.
up(Instance, Neighbour) :-
    serviceInstance(Instance, _, Node),
    node(Node, _, Neighbours),
    fact(Node, tier, Tier),
    once(( member(Neighbour, Neighbours), fact(Neighbour, tier, Above), Above < Tier )).
