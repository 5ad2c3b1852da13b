% Several resources: workload- and latency-aware, and never for a place at home that some kind of hardware has no room for.
%
% For applications that need more than units: memory, storage, bandwidth, a GPU. service/4 and node/3 show the units alone, so
% a policy that reads only these asks again and again for an instance at home that the manager has no memory for. Here an
% instance at home is asked for only if there is enough of every kind; otherwise the others through whom requests come are next.
% What a neighbour has, its own manager knows.

:- ensure_loaded('library.pl').
:- dynamic needs/3, free/3.

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    ( overloaded(Instance) -> true ; late(Instance, _, _) -> true ).

operation(replicate, Instance, Target) :-
    most_late_come_through(Instance, Target).

operation(replicate, Instance, Target) :-
    overloaded(Instance),
    \+ late(Instance, _, _),
    findall(Neighbour-Rate, ( requests(Instance, Neighbour, Rate, _), has_room(Instance, Neighbour) ), Rates),
    sends_most(Rates, Target).

% has_room(Instance, Target): nothing the agent sees speaks against one more instance on Target, in any kind of hardware.
has_room(Instance, Target) :-
    (   Target == self
    ->  serviceInstance(Instance, Application, Node),
        \+ scarce(Application, Node, _)
    ;   true
    ).

% scarce(Application, Node, Kind): the node has too little of this kind. One solution for each such kind.
scarce(Application, Node, Kind) :-
    needs(Application, Kind, Needed),
    \+ ( free(Node, Kind, Free), Free >= Needed ).
