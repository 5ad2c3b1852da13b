operation(undeploy, Instance, self) :-
    \+ requests(Instance, Neighbour, _, _),
    node(Neighbour, _).
