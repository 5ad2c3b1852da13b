% Goes away when there is nothing to do: whoever has clients has others to go to.
operation(undeploy, Instance, self) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Total =< 0.
