operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _),
    node(_, _).
