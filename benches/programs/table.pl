% A table of 40,000 asserted facts, and a lookup of each.

:- dynamic row/2.

iterations(1).

run(Iterations) :-
    between(1, Iterations, _),
    fill(40000),
    look_up(40000),
    fail.
run(_).

check :-
    fill(100),
    row(77, Value),
    Value =:= 23,
    \+ row(101, _).

fill(Rows) :-
    retractall(row(_, _)),
    forall(between(1, Rows, Key),
           ( Value is Rows - Key, assertz(row(Key, Value)) )).

look_up(Rows) :-
    forall(between(1, Rows, Key), row(Key, _)).
