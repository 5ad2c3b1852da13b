:- dynamic quiet/1.
:- assertz(quiet(s1)).

operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _),
    quiet(Instance).
operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _),
    \+ quiet(Instance).
