% Follows the requests if all come through one neighbour that is not its own node.
operation(migrate, Instance, Neighbour) :-
    findall(Sender, requests(Instance, Sender, _, _), [Neighbour]),
    Neighbour \== self.
