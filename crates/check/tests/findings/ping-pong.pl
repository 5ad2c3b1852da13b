% Moves to the neighbour that sends most, without counting its own node.
operation(migrate, Instance, Neighbour) :-
    aggregate_all(max(Rate, Sender), ( requests(Instance, Sender, Rate, _), Sender \== self ), max(_, Neighbour)).
