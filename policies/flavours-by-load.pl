% Flavours by load: the best flavour that handles the load, and a smaller one where it is tight.
%
% For applications that can be run in several ways, such as a full and a lite version. An instance follows its clients as
% workload-and-latency-aware does, and beside that
%
% - takes on a flavour that handles more, if there is more to do than its present one handles and its node has room for it;
% - takes on its smallest flavour, if clients are late and a move towards them was inhibited: what is small finds room
%   nearer to them, and copies keep the flavour;
% - takes on a better flavour again, if it is near enough to its clients, handles them in it, and its node has room.
%
% What is called late, and how much is handled, are the numbers of the flavour that the instance runs in. An application
% without flavours is managed by its own numbers, and never adapts.

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

% present(Instance, Hardware, MaxRate, MaxLatency, Quality): how the instance runs.
present(Instance, Hardware, MaxRate, MaxLatency, Quality) :-
    serviceInstance(Instance, Application, _),
    (   running(Instance, Flavour)
    ->  flavour(Application, Flavour, Hardware, MaxRate, MaxLatency, Quality)
    ;   service(Application, Hardware, MaxRate, MaxLatency),
        Quality = 1
    ).

% over(Instance): there is more to do than the instance handles as it runs.
over(Instance) :-
    present(Instance, _, MaxRate, _, _),
    load(Instance, Load),
    Load > MaxRate.

% load(Instance, Load): all client requests of the period.
load(Instance, Load) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Load).

% too_late(Instance, Neighbour, Rate): client requests come through Neighbour later than the flavour tolerates.
too_late(Instance, Neighbour, Rate) :-
    present(Instance, _, _, MaxLatency, _),
    requests(Instance, Neighbour, Rate, Latency),
    Latency > MaxLatency.

% found_no_room(Instance): a move or a copy was inhibited, and that is remembered.
found_no_room(Instance) :-
    once(( inhibited(migrate, Instance, _) ; inhibited(replicate, Instance, _) )).

% best(Instance, Flavour): of the other flavours that handle the load and for which there is room, the one of the best
% quality; of equals, the one that needs least.
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

% smallest(Instance, Flavour): the flavour that needs least, if that is less than the instance holds and handles its load.
smallest(Instance, Flavour) :-
    serviceInstance(Instance, Application, _),
    load(Instance, Load),
    present(Instance, Held, _, _, _),
    findall(Hardware-Other,
            ( flavour(Application, Other, Hardware, MaxRate, _, _), Hardware < Held, MaxRate >= Load ),
            Others),
    keysort(Others, [_-Flavour|_]).

% quality(Instance, Flavour, Quality): how good a flavour of the instance's application is.
quality(Instance, Flavour, Quality) :-
    serviceInstance(Instance, Application, _),
    flavour(Application, Flavour, _, _, _, Quality).

% has_room(Instance, Target): nothing the agent sees speaks against a copy on Target.
has_room(Instance, Target) :-
    (   Target == self
    ->  serviceInstance(Instance, _, Node),
        present(Instance, Hardware, _, _, _),
        node(Node, Free),
        Free >= Hardware
    ;   true
    ).
