operation(undeploy, Instance, self) :-
    Limit = 1,
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Limit < 10,
    Total < Limit.
