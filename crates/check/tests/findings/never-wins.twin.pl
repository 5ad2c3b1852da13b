operation(undeploy, Instance, self) :- \+ requests(Instance, _, _, _).
operation(migrate, Instance, Neighbour) :- late(Instance, Neighbour), node(_, Free), Free > 0.
operation(replicate, Instance, Neighbour) :- late(Instance, Neighbour).

late(Instance, Neighbour) :-
    once(requests(Instance, Neighbour, _, _)),
    \+ ( requests(Instance, Other, _, _), Other \== Neighbour ),
    Neighbour \== self.
