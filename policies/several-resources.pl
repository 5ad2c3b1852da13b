% Several resources: workload- and latency-aware, and replicates on its own node only if every kind of hardware suffices.
%
% For applications that need more than units: memory, storage, bandwidth, a GPU. service/4 and node/3 show only the units, so
% a policy that reads nothing else repeatedly proposes a replica on its own node although the node has too little memory. This
% policy proposes one there only if there is enough of every kind; otherwise it considers the other neighbours with requests.
% The hardware of a neighbour is known only to the neighbour's manager.

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

% has_room(Instance, Target): as far as the agent can see, Target has room for another instance, in every kind of hardware.
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
