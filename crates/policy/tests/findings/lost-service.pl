% Goes away when there is little to do, and does not know whether anybody else is there.
operation(undeploy, Instance, self) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Total =< 5.
