operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _),
    \+ inhibited(undeplo, Instance, _).
