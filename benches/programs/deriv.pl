% Symbolic differentiation of four formulas: structures as first arguments, clauses selected by functor.

iterations(200000).

run(Iterations) :-
    between(1, Iterations, _),
    formula(_, Formula),
    derivative(Formula, x, _),
    fail.
run(_).

% The check compares derivatives with their known values at x = 2. Logarithms nested ten deep have no value there, so
% two deep ones are compared as formulas.
check :-
    slope_at_2(operators, 6 * 11 + 3 * 4 * 11 + 3 * 6 * 12),
    slope_at_2(products, 10 * 2 ** 9),
    slope_at_2(quotients, -8.0 * 2.0 ** -9),
    formula(logarithms, Logarithms),
    derivative(Logarithms, x, _),
    derivative(log(log(x)), x, Slope),
    Slope == 1 / x / log(x).

slope_at_2(Name, Expected) :-
    formula(Name, Formula),
    derivative(Formula, x, Slope),
    value(Slope, 2.0, Value),
    abs(Value - Expected) < 1.0e-9.

value(x, X, X) :- !.
value(Number, _, Number) :- number(Number), !.
value(U + V, X, Value) :- value(U, X, A), value(V, X, B), Value is A + B.
value(U - V, X, Value) :- value(U, X, A), value(V, X, B), Value is A - B.
value(U * V, X, Value) :- value(U, X, A), value(V, X, B), Value is A * B.
value(U / V, X, Value) :- value(U, X, A), value(V, X, B), Value is A / B.
value(U ^ N, X, Value) :- value(U, X, A), Value is A ** N.

formula(operators, (x + 1) * ((x ^ 2 + 2) * (x ^ 3 + 3))).
formula(quotients, ((((((((x / x) / x) / x) / x) / x) / x) / x) / x) / x).
formula(logarithms, log(log(log(log(log(log(log(log(log(log(x))))))))))).
formula(products, ((((((((x * x) * x) * x) * x) * x) * x) * x) * x) * x).

derivative(U + V, X, DU + DV) :- !,
    derivative(U, X, DU),
    derivative(V, X, DV).
derivative(U - V, X, DU - DV) :- !,
    derivative(U, X, DU),
    derivative(V, X, DV).
derivative(U * V, X, DU * V + U * DV) :- !,
    derivative(U, X, DU),
    derivative(V, X, DV).
derivative(U / V, X, (DU * V - U * DV) / V ^ 2) :- !,
    derivative(U, X, DU),
    derivative(V, X, DV).
derivative(U ^ N, X, DU * N * U ^ Less) :- !,
    integer(N),
    Less is N - 1,
    derivative(U, X, DU).
derivative(log(U), X, DU / U) :- !,
    derivative(U, X, DU).
derivative(X, X, 1) :- !.
derivative(_, _, 0).
