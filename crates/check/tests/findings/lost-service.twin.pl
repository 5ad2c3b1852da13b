% Undeploys without requests: all clients are served by other instances.
operation(undeploy, Instance, self) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Total =< 0.
