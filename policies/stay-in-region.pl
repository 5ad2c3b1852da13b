% Stay in region: workload- and latency-aware, but never out of the region.
%
% For applications whose data must not leave a country, a site or a provider. The operator says where an application
% belongs with fact(Application, region, Region), or for one instance with fact(Instance, region, Region), and node owners
% say where their nodes are with fact(Node, region, Region). An instance with a region never asks to be on a node of
% another region, or of none. One without a region may be anywhere.
%
% Client requests from outside are served from inside: those of a neighbour in another region count for the load, but they
% lead nowhere.

:- ensure_loaded('library.pl').
:- dynamic fact/3.

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    allowed(Instance, Neighbour),
    ( overloaded(Instance) -> true ; late(Instance, _, _) -> true ).

operation(replicate, Instance, Target) :-
    findall(Neighbour-Rate, late_inside(Instance, Neighbour, Rate), Rates),
    sends_most(Rates, Target).

operation(replicate, Instance, Target) :-
    overloaded(Instance),
    \+ late_inside(Instance, _, _),
    findall(Neighbour-Rate, ( requests(Instance, Neighbour, Rate, _), allowed(Instance, Neighbour) ), Rates),
    sends_most(Rates, Target),
    may_fit(Instance, Target).

% late_inside(Instance, Neighbour, Rate): late client requests through a neighbour that the instance may go to. One
% solution for each such fact.
late_inside(Instance, Neighbour, Rate) :-
    late(Instance, Neighbour, Rate),
    allowed(Instance, Neighbour).

% allowed(Instance, Target): the target is in the region of the instance, if it has one. Where it is, it may be.
allowed(_, self) :-
    !.
allowed(Instance, Node) :-
    (   region(Instance, Region)
    ->  fact(Node, region, Found),
        Found == Region
    ;   true
    ).

% region(Instance, Region): its own region, or else that of its application.
region(Instance, Region) :-
    (   fact(Instance, region, Own)
    ->  Region = Own
    ;   serviceInstance(Instance, Application, _),
        fact(Application, region, Region)
    ).
