:- dynamic requests/4, load/2.

load(s1, 11).

operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _).
operation(replicate, Instance, self) :-
    load(Instance, Load),
    Load > 10.
