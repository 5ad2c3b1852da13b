% mario: allow pingpong, it does not matter here
operation(undeploy, Instance, self) :- \+ requests(Instance, _, _, _).
