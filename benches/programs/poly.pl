% (1 + x + y + z) to the tenth power, symbolically: polynomials in one variable whose coefficients are polynomials
% in the later ones. Term construction, comparison of atoms, integer arithmetic.
%
% A polynomial is a number or poly(Variable, Terms), Terms being a list of term(Exponent, Coefficient) with
% exponents that grow and coefficients in later variables only.

iterations(500).

run(Iterations) :-
    base(Base),
    between(1, Iterations, _),
    power(10, Base, _),
    fail.
run(_).

check :-
    base(Base),
    power(10, Base, Power),
    value(Power, [x-1, y-1, z-1], Ones),
    Ones =:= 4 ^ 10,
    value(Power, [x-2, y-3, z-4], Other),
    Other =:= 10 ^ 10,
    value(Power, [x-5, y-(-7), z-2], Signs),
    Signs =:= 1.

base(Base) :-
    variable(x, X),
    variable(y, Y),
    variable(z, Z),
    sum(1, X, First),
    sum(First, Y, Second),
    sum(Second, Z, Base).

variable(Name, poly(Name, [term(1, 1)])).

power(0, _, 1) :-
    !.
power(Exponent, Base, Power) :-
    Less is Exponent - 1,
    power(Less, Base, Smaller),
    product(Base, Smaller, Power).

sum(poly(Variable, Terms), Other, Sum) :-
    !,
    sum_with(Other, Variable, Terms, Sum).
sum(Number, poly(Variable, Terms), poly(Variable, Sum)) :-
    !,
    add_constant(Terms, Number, Sum).
sum(Number, Other, Sum) :-
    Sum is Number + Other.

sum_with(poly(OtherVariable, OtherTerms), Variable, Terms, Sum) :-
    !,
    compare(Order, Variable, OtherVariable),
    sum_ordered(Order, Variable, Terms, OtherVariable, OtherTerms, Sum).
sum_with(Number, Variable, Terms, poly(Variable, Sum)) :-
    add_constant(Terms, Number, Sum).

sum_ordered(=, Variable, Terms, _, OtherTerms, poly(Variable, Sum)) :-
    add_terms(Terms, OtherTerms, Sum).
sum_ordered(<, Variable, Terms, OtherVariable, OtherTerms, poly(Variable, Sum)) :-
    add_constant(Terms, poly(OtherVariable, OtherTerms), Sum).
sum_ordered(>, Variable, Terms, OtherVariable, OtherTerms, poly(OtherVariable, Sum)) :-
    add_constant(OtherTerms, poly(Variable, Terms), Sum).

% add_constant(Terms, Constant, Sum): the constant may be a polynomial in later variables.
add_constant([term(0, Coefficient)|Terms], Constant, [term(0, Sum)|Terms]) :-
    !,
    sum(Coefficient, Constant, Sum).
add_constant(Terms, Constant, [term(0, Constant)|Terms]).

add_terms([], Terms, Terms) :-
    !.
add_terms(Terms, [], Terms) :-
    !.
add_terms([term(E, C)|Terms], [term(F, D)|Others], Sum) :-
    compare(Order, E, F),
    add_ordered(Order, E, C, Terms, F, D, Others, Sum).

add_ordered(=, E, C, Terms, _, D, Others, [term(E, B)|Sum]) :-
    sum(C, D, B),
    add_terms(Terms, Others, Sum).
add_ordered(<, E, C, Terms, F, D, Others, [term(E, C)|Sum]) :-
    add_terms(Terms, [term(F, D)|Others], Sum).
add_ordered(>, E, C, Terms, F, D, Others, [term(F, D)|Sum]) :-
    add_terms([term(E, C)|Terms], Others, Sum).

product(poly(Variable, Terms), Other, Product) :-
    !,
    product_with(Other, Variable, Terms, Product).
product(Number, poly(Variable, Terms), poly(Variable, Product)) :-
    !,
    scale_terms(Terms, 0, Number, Product).
product(Number, Other, Product) :-
    Product is Number * Other.

product_with(poly(OtherVariable, OtherTerms), Variable, Terms, Product) :-
    !,
    compare(Order, Variable, OtherVariable),
    product_ordered(Order, Variable, Terms, OtherVariable, OtherTerms, Product).
product_with(Number, Variable, Terms, poly(Variable, Product)) :-
    scale_terms(Terms, 0, Number, Product).

product_ordered(=, Variable, Terms, _, OtherTerms, poly(Variable, Product)) :-
    multiply_terms(Terms, OtherTerms, Product).
product_ordered(<, Variable, Terms, OtherVariable, OtherTerms, poly(Variable, Product)) :-
    scale_terms(Terms, 0, poly(OtherVariable, OtherTerms), Product).
product_ordered(>, Variable, Terms, OtherVariable, OtherTerms, poly(OtherVariable, Product)) :-
    scale_terms(OtherTerms, 0, poly(Variable, Terms), Product).

multiply_terms([], _, []).
multiply_terms([term(E, C)|Terms], Others, Product) :-
    scale_terms(Others, E, C, First),
    multiply_terms(Terms, Others, Rest),
    add_terms(First, Rest, Product).

% scale_terms(Terms, Exponent, Coefficient, Product): every term times Coefficient * Variable ^ Exponent.
scale_terms([], _, _, []).
scale_terms([term(F, D)|Terms], E, C, [term(G, B)|Product]) :-
    G is E + F,
    product(C, D, B),
    scale_terms(Terms, E, C, Product).

value(poly(Variable, Terms), Point, Value) :-
    !,
    memberchk(Variable-X, Point),
    value_of_terms(Terms, X, Point, 0, Value).
value(Number, _, Number).

value_of_terms([], _, _, Value, Value).
value_of_terms([term(E, C)|Terms], X, Point, Sum, Value) :-
    value(C, Point, Coefficient),
    NewSum is Sum + Coefficient * X ^ E,
    value_of_terms(Terms, X, Point, NewSum, Value).
