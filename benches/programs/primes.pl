% The primes below 10,000, by striking out multiples among asserted facts: assert, lookup by the first argument, retract.

:- dynamic candidate/1, prime/1.

iterations(20).

run(Iterations) :-
    between(1, Iterations, _),
    primes(10000),
    fail.
run(_).

check :-
    primes(100),
    findall(Prime, prime(Prime), Primes),
    length(Primes, 25),
    prime(97),
    \+ prime(91).

primes(Most) :-
    retractall(candidate(_)),
    retractall(prime(_)),
    forall(between(2, Most, Number), assertz(candidate(Number))),
    strike(Most).

strike(Most) :-
    retract(candidate(Prime)),
    !,
    assertz(prime(Prime)),
    Multiple is 2 * Prime,
    strike_multiples(Multiple, Prime, Most),
    strike(Most).
strike(_).

strike_multiples(Multiple, Prime, Most) :-
    Multiple =< Most,
    !,
    (   retract(candidate(Multiple))
    ->  true
    ;   true
    ),
    Next is Multiple + Prime,
    strike_multiples(Next, Prime, Most).
strike_multiples(_, _, _).
