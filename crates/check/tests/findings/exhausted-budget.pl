operation(undeploy, Instance, self) :- wait(Instance).

wait(Instance) :- requests(Instance, _, _, _), wait(Instance).
