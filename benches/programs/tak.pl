% The Takeuchi function at 18, 12, 6: deep recursion, small integers, a comparison that selects the clause.

iterations(150).

run(Iterations) :-
    between(1, Iterations, _),
    tak(18, 12, 6, _),
    fail.
run(_).

check :-
    tak(18, 12, 6, Result),
    Result =:= 7,
    tak(7, 5, 3, Small),
    Small =:= 4.

tak(X, Y, Z, Result) :-
    X =< Y,
    !,
    Result = Z.
tak(X, Y, Z, Result) :-
    LessX is X - 1,
    LessY is Y - 1,
    LessZ is Z - 1,
    tak(LessX, Y, Z, First),
    tak(LessY, Z, X, Second),
    tak(LessZ, X, Y, Third),
    tak(First, Second, Third, Result).
