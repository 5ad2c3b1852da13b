% Flavours by load: the best flavour that handles the load, and a smaller one if there is no room.
%
% For applications that can run in several ways, such as a full and a lite version. An instance follows its clients like
% workload-and-latency-aware, and in addition
%
% - adapts to a flavour that handles more, if it is overloaded in its current one and its node has room;
% - adapts to its smallest flavour, if requests are late and an operation towards the clients was inhibited: a small
%   instance finds room nearer to them, and replicas keep the flavour;
% - adapts to a better flavour again, if its requests are in time, that flavour handles them, and its node has room.
%
% The limits for late requests and overload are those of the current flavour. An application without flavours is managed
% by its own limits and never adapts.

:- ensure_loaded('library.pl').
:- dynamic flavour/6, running/2.
:- remembers(inhibited, 5).

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(adapt, Instance, Flavour) :-
    over(Instance),
    best(Instance, Flavour).

operation(adapt, Instance, Flavour) :-
    found_no_room(Instance),
    once(too_late(Instance, _, _)),
    smallest(Instance, Flavour).

operation(migrate, Instance, Neighbour) :-
    once(too_late(Instance, _, _)),
    all_come_through(Instance, Neighbour),
    Neighbour \== self.

operation(replicate, Instance, Neighbour) :-
    findall(Hop-Rate, too_late(Instance, Hop, Rate), Rates),
    sends_most(Rates, Neighbour).

operation(replicate, Instance, Target) :-
    over(Instance),
    \+ best(Instance, _),
    \+ too_late(Instance, _, _),
    most_come_through(Instance, Target),
    has_room(Instance, Target).

operation(adapt, Instance, Flavour) :-
    \+ idle(Instance),
    \+ inhibited(_, Instance, _),
    \+ too_late(Instance, _, _),
    \+ over(Instance),
    best(Instance, Flavour),
    present(Instance, _, _, _, Quality),
    quality(Instance, Flavour, Better),
    Better > Quality.

% present(Instance, Hardware, MaxRate, MaxLatency, Quality): the current flavour of the instance.
present(Instance, Hardware, MaxRate, MaxLatency, Quality) :-
    serviceInstance(Instance, Application, _),
    (   running(Instance, Flavour)
    ->  flavour(Application, Flavour, Hardware, MaxRate, MaxLatency, Quality)
    ;   service(Application, Hardware, MaxRate, MaxLatency),
        Quality = 1
    ).

% over(Instance): the client requests exceed the rate that the instance handles in its current flavour.
over(Instance) :-
    present(Instance, _, MaxRate, _, _),
    load(Instance, Load),
    Load > MaxRate.

% load(Instance, Load): the rate of all client requests.
load(Instance, Load) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Load).

% too_late(Instance, Neighbour, Rate): client requests through Neighbour exceed the latency that the flavour tolerates.
too_late(Instance, Neighbour, Rate) :-
    present(Instance, _, _, MaxLatency, _),
    requests(Instance, Neighbour, Rate, Latency),
    Latency > MaxLatency.

% found_no_room(Instance): the agent remembers that a migration or a replication was inhibited.
found_no_room(Instance) :-
    once(( inhibited(migrate, Instance, _) ; inhibited(replicate, Instance, _) )).

% best(Instance, Flavour): of the other flavours that handle the load and fit on the node, the one of the best
% quality; of equals, the one that needs least hardware.
best(Instance, Flavour) :-
    serviceInstance(Instance, Application, Node),
    node(Node, Free),
    load(Instance, Load),
    present(Instance, Held, _, _, _),
    running(Instance, Present),
    findall(key(Worse, Hardware)-Other,
            ( flavour(Application, Other, Hardware, MaxRate, _, Quality),
              Other \== Present,
              MaxRate >= Load,
              Hardware - Held =< Free,
              Worse is -Quality ),
            Others),
    keysort(Others, [_-Flavour|_]).

% smallest(Instance, Flavour): the flavour that needs least hardware of those that are smaller and handle the load.
smallest(Instance, Flavour) :-
    serviceInstance(Instance, Application, _),
    load(Instance, Load),
    present(Instance, Held, _, _, _),
    findall(Hardware-Other,
            ( flavour(Application, Other, Hardware, MaxRate, _, _), Hardware < Held, MaxRate >= Load ),
            Others),
    keysort(Others, [_-Flavour|_]).

% quality(Instance, Flavour, Quality): the quality of a flavour of the instance's application.
quality(Instance, Flavour, Quality) :-
    serviceInstance(Instance, Application, _),
    flavour(Application, Flavour, _, _, _, Quality).

% has_room(Instance, Target): as far as the agent can see, Target has room for a replica.
has_room(Instance, Target) :-
    (   Target == self
    ->  serviceInstance(Instance, _, Node),
        present(Instance, Hardware, _, _, _),
        node(Node, Free),
        Free >= Hardware
    ;   true
    ).
