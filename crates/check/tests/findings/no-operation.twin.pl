operation(undeploy, Instance, self) :- \+ requests(Instance, _, _, _).
