% Moves to whoever sends most, itself not counted.
operation(migrate, Instance, Neighbour) :-
    aggregate_all(max(Rate, Sender), ( requests(Instance, Sender, Rate, _), Sender \== self ), max(_, Neighbour)).
