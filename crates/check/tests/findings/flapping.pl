% A second instance leaves each with so few requests that one undeploys again.
operation(undeploy, Instance, self) :- total(Instance, Total), Total =< 2.
operation(replicate, Instance, self) :- total(Instance, Total), Total > 4.

total(Instance, Total) :- aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total).
