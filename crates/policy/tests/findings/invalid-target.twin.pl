% Follows the requests when all come from one side that is not its own node.
operation(migrate, Instance, Neighbour) :-
    findall(Sender, requests(Instance, Sender, _, _), [Neighbour]),
    Neighbour \== self.
