% Follows the requests when all come from one side, also when that is its own node.
operation(migrate, Instance, Neighbour) :- findall(Sender, requests(Instance, Sender, _, _), [Neighbour]).
