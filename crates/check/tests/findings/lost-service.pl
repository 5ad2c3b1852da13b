% Undeploys at a low load, without knowing whether another instance exists.
operation(undeploy, Instance, self) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Total =< 5.
