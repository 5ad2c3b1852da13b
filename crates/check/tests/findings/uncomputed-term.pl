operation(undeploy, Instance, self) :-
    aggregate_all(count, requests(Instance, _, _, _), Count),
    Count == 0+0.
