operation(undeploy, Instance, self) :- \+ requests(Instance, _, many, _).
