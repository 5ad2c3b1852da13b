:- dynamic load/2.

operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _).
operation(replicate, Instance, self) :-
    load(Instance, Load),
    Load > 10.
