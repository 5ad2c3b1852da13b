% Stay in region: workload- and latency-aware, but never leaves its region.
%
% For applications whose data must not leave a country, a site or a provider. The operator assigns a region to an
% application with fact(Application, region, Region), or to one instance with fact(Instance, region, Region). Node owners
% state the regions of their nodes with fact(Node, region, Region). An instance with a region never proposes a node of
% another region, or without a region. An instance without a region may be anywhere.
%
% Client requests from outside are served from inside: the requests through a neighbour in another region count as load,
% but the instance does not follow them.

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

% allowed(Instance, Target): the target is in the region of the instance, if it has one. Its own node is always allowed.
allowed(_, self) :-
    !.
allowed(Instance, Node) :-
    (   region(Instance, Region)
    ->  fact(Node, region, Found),
        Found == Region
    ;   true
    ).

% region(Instance, Region): the region of the instance or, if it has none, of its application.
region(Instance, Region) :-
    (   fact(Instance, region, Own)
    ->  Region = Own
    ;   serviceInstance(Instance, Application, _),
        fact(Application, region, Region)
    ).
