operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _),
    \+ inhibited(undeploy, Instance, _).
