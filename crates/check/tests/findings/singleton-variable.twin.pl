operation(undeploy, Instance, self) :- \+ requests(Instance, _Neighbour, _, _).
