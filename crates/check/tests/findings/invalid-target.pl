% Follows the requests if all come through one neighbour, even if that is its own node.
operation(migrate, Instance, Neighbour) :- findall(Sender, requests(Instance, Sender, _, _), [Neighbour]).
