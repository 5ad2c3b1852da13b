% Naive reverse of a list of 30 elements: list construction and first-argument indexing, no arithmetic.
% One iteration is 496 inferences.

iterations(100000).

run(Iterations) :-
    thirty(List),
    between(1, Iterations, _),
    naive_reverse(List, _),
    fail.
run(_).

check :-
    thirty(List),
    naive_reverse(List, Reversed),
    Reversed == [30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1].

thirty([1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]).

naive_reverse([], []).
naive_reverse([Head|Tail], Reversed) :-
    naive_reverse(Tail, ReversedTail),
    concatenate(ReversedTail, [Head], Reversed).

concatenate([], List, List).
concatenate([Head|Tail], List, [Head|Rest]) :-
    concatenate(Tail, List, Rest).
