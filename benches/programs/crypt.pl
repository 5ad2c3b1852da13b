% A multiplication of which only the parity of the digits is known (E even, O odd, no leading zero):
%
%         O E E
%     *     E E
%     ---------
%       E O E E      times the units
%       E O E        times the tens
%     ---------
%       O O E E
%
% Numbers are lists of digits, the units first: integer arithmetic with carries, and search.

iterations(1000).

run(Iterations) :-
    between(1, Iterations, _),
    crypt(_, _, _),
    fail.
run(_).

check :-
    findall(product(Factor, Multiplier, Product), crypt(Factor, Multiplier, Product), Products),
    Products == [product([8,4,3], [8,2], [4,4,7,9])].

crypt([A, B, C], [Units, Tens], Product) :-
    odd(C), even(B), even(A),
    even(Units), Units > 0,
    times_digit([A, B, C], Units, 0, ByUnits),
    parities(ByUnits, [even, even, odd, even]),
    even(Tens), Tens > 0,
    times_digit([A, B, C], Tens, 0, ByTens),
    parities(ByTens, [even, odd, even]),
    plus_digits(ByUnits, [0|ByTens], 0, Product),
    parities(Product, [even, even, odd, odd]).

% times_digit(Number, Digit, Carry, Product)
times_digit([], _, Carry, Product) :-
    (   Carry =:= 0
    ->  Product = []
    ;   Product = [Carry]
    ).
times_digit([Low|Number], Digit, Carry, [ProductLow|Product]) :-
    Sum is Low * Digit + Carry,
    ProductLow is Sum mod 10,
    NextCarry is Sum // 10,
    times_digit(Number, Digit, NextCarry, Product).

% plus_digits(Number, OtherOfSameLength, Carry, Sum)
plus_digits([], [], Carry, Sum) :-
    (   Carry =:= 0
    ->  Sum = []
    ;   Sum = [Carry]
    ).
plus_digits([Low|Number], [OtherLow|Other], Carry, [SumLow|Sum]) :-
    Total is Low + OtherLow + Carry,
    SumLow is Total mod 10,
    NextCarry is Total // 10,
    plus_digits(Number, Other, NextCarry, Sum).

parities([], []).
parities([Digit|Digits], [Parity|Parities]) :-
    parity(Parity, Digit),
    parities(Digits, Parities).

parity(even, Digit) :- even(Digit).
parity(odd, Digit) :- odd(Digit).

even(0). even(2). even(4). even(6). even(8).

odd(1). odd(3). odd(5). odd(7). odd(9).
