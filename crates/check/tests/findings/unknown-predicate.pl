operation(undeploy, Instance, self) :- idel(Instance).

idle(Instance) :- \+ requests(Instance, _, _, _).
