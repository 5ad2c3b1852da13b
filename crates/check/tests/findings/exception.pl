operation(undeploy, Instance, self) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    100 / Total > 50.
