operation(undeploy, Instance, self) :- idle(Instance).

idle(Instance) :- \+ requests(Instance, _, _, _).
