% Replicates wherever there are clients.
operation(replicate, Instance, self) :- requests(Instance, _, _, _).
