operation(undeploy, Instance, self) :- \+ requests(Instance, _, 5, _).
