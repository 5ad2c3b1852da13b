% Moves to the neighbour that sends most, counting its own node.
operation(migrate, Instance, Neighbour) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    aggregate_all(max(Rate, Sender), requests(Instance, Sender, Rate, _), max(Most, Neighbour)),
    Most * 2 > Total,
    Neighbour \== self.
