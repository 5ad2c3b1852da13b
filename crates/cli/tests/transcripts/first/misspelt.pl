operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _).

operation(migrate, Instance, Neighbour) :-
    requests(Instance, Neigbour, Rate, _),
    overloded(Rate).

overloaded(Rate) :-
    Rate > 5.
