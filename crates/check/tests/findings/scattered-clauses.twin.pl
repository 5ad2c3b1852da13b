operation(undeploy, Instance, self) :- idle(Instance).
operation(migrate, Instance, Neighbour) :- requests(Instance, Neighbour, _, Latency), Neighbour \== self, Latency > 100.
idle(Instance) :- \+ requests(Instance, _, _, _).
