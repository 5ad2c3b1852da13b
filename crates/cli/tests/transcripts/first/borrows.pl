:- ensure_loaded('library.pl').

operation(migrate, Instance, Neighbour) :-
    overloaded(Instance),
    all_come_through(Instance, Neighbour).
