operation(undeploy, Instance, self) :- idle(Instance).
idle(Instance) :- \+ requests(Instance, _, _, _).
operation(migrate, Instance, Neighbour) :- requests(Instance, Neighbour, _, Latency), Neighbour \== self, Latency > 6.
