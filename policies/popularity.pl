% Popularity: instances with many requests move close to their clients, others make room.
%
% For edges with little hardware, which is given to the instances with the highest request rates. An instance goes down, away
% from the cloud, if its requests are popular: it migrates to the neighbour through which all its client requests come, or
% replicates to the one that sends most. An unpopular instance goes up, towards the cloud, if its node has no room for another
% instance like it: it makes room for others. Neither load nor latency matters.
%
% An agent sees neither the other instances of its node nor other requests for their hardware, so popularity is measured
% against fixed rates, not against other instances. fact(Node, tier, Tier) defines the direction: the cloud has tier 0. The
% simulator provides it to agents whose policy reads it.
%
% An inhibited operation is not proposed again while it is remembered. The gap between the two rates keeps an instance from
% oscillating.

:- ensure_loaded('library.pl').
:- dynamic fact/3.

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
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
    \+ idle(Instance),
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    unpopular(Unpopular),
    Total < Unpopular,
    \+ may_fit(Instance, self),
    up(Instance, Neighbour),
    \+ inhibited(migrate, Instance, Neighbour).

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
