operation(undeploy, Instance, self) :- \+ requests(Instance, _, _, _), \+ requests(Instance, _, many, _).
