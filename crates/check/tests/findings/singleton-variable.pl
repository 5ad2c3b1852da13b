operation(undeploy, Instance, self) :- \+ requests(Instance, Neighbour, _, _).
