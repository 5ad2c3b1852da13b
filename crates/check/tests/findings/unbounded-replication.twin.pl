% Replicates wherever there are more clients than one instance handles.
operation(replicate, Instance, self) :-
    serviceInstance(Instance, Application, _),
    service(Application, _, MaxRate, _),
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Total > MaxRate.
