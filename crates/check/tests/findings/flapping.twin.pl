% A second instance leaves each with enough requests.
operation(undeploy, Instance, self) :- total(Instance, Total), Total =< 0.
operation(replicate, Instance, self) :- total(Instance, Total), Total > 4.

total(Instance, Total) :- aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total).
