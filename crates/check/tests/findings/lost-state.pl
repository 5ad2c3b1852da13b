:- dynamic quiet/1.

operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _),
    quiet_before(Instance).

quiet_before(Instance) :-
    (   quiet(Instance)
    ->  true
    ;   assertz(quiet(Instance)),
        fail
    ).
