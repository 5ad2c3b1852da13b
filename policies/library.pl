% Predicates that the shipped policies share.
%
% A policy is evaluated on the knowledge base of one agent, which has these facts and no others:
%
%   service(Application, Hardware, MaxRate, MaxLatency)   what one instance needs, handles and tolerates
%   serviceInstance(Instance, Application, Node)          the instance that the agent manages
%   node(Node, FreeHardware, Neighbours)                  the node of the instance (node/2: without the neighbours)
%   requests(Instance, Neighbour, Rate, Latency)          client requests by the last hop through which they came,
%                                                         `self` if the client is on the instance's own node
%   inhibited(Operation, Instance, Target)                an inhibited operation that the agent still remembers
%
% A query for all proposals of a policy returns one per reason. Each predicate below therefore states its number of
% solutions, unless it has at most one.

% mario: allow no-operation, this is a library for policies and not a policy

:- dynamic service/4, serviceInstance/3, node/2, node/3, requests/4, inhibited/3.

% idle(Instance): no client request reaches the instance.
idle(Instance) :-
    \+ requests(Instance, _, _, _).

% overloaded(Instance): the rate of client requests exceeds what one instance handles.
overloaded(Instance) :-
    handles(Instance, MaxRate),
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Total > MaxRate.

% late(Instance, Neighbour, Rate): client requests through Neighbour exceed the latency that the application
% tolerates. One solution for each such fact, in the order of the facts.
late(Instance, Neighbour, Rate) :-
    tolerates(Instance, MaxLatency),
    requests(Instance, Neighbour, Rate, Latency),
    Latency > MaxLatency.

% handles(Instance, MaxRate): one instance serves this rate and no more.
handles(Instance, MaxRate) :-
    serviceInstance(Instance, Application, _),
    service(Application, _, MaxRate, _).

% tolerates(Instance, MaxLatency): a client request with a higher latency is late.
tolerates(Instance, MaxLatency) :-
    serviceInstance(Instance, Application, _),
    service(Application, _, _, MaxLatency).

% all_come_through(Instance, Neighbour): there are client requests, and all have this last hop.
all_come_through(Instance, Neighbour) :-
    once(requests(Instance, Neighbour, _, _)),
    \+ ( requests(Instance, Other, _, _), Other \== Neighbour ).

% most_come_through(Instance, Neighbour): the last hop of most client requests.
most_come_through(Instance, Neighbour) :-
    findall(Hop-Rate, requests(Instance, Hop, Rate, _), Rates),
    sends_most(Rates, Neighbour).

% most_late_come_through(Instance, Neighbour): the last hop of most of the client requests that are late.
most_late_come_through(Instance, Neighbour) :-
    findall(Hop-Rate, late(Instance, Hop, Rate), Rates),
    sends_most(Rates, Neighbour).

% sends_most(Rates, Neighbour): of a list of Neighbour-Rate, the neighbour with the greatest sum of rates;
% of equals, the last in the standard order of terms. Fails for an empty list.
sends_most(Rates, Neighbour) :-
    keysort(Rates, [First|Rest]),
    sum_per_neighbour(Rest, First, Sums),
    sort(0, @>=, Sums, [_-Neighbour|_]).

% Rates of one neighbour are adjacent once sorted. The sum comes first in Sum-Neighbour, so that it is compared first.
sum_per_neighbour([], Neighbour-Sum, [Sum-Neighbour]).
sum_per_neighbour([Hop-Rate|Rest], Neighbour-Sum, Sums) :-
    (   Hop == Neighbour
    ->  NewSum is Sum + Rate,
        sum_per_neighbour(Rest, Neighbour-NewSum, Sums)
    ;   Sums = [Sum-Neighbour|MoreSums],
        sum_per_neighbour(Rest, Hop-Rate, MoreSums)
    ).

% may_fit(Instance, Target): as far as the agent can see, Target has room for another instance. It sees only the
% hardware of its own node; a neighbour's manager judges for the neighbour.
may_fit(Instance, Target) :-
    (   Target == self
    ->  serviceInstance(Instance, Application, Node),
        service(Application, Hardware, _, _),
        node(Node, FreeHardware, _),
        FreeHardware >= Hardware
    ;   true
    ).
