% A small program for the transcripts.

:- dynamic visited/1.

parent(ann, bob).
parent(bob, cid).
parent(bob, dora).

ancestor(X, Y) :- parent(X, Y).
ancestor(X, Z) :- parent(X, Y), ancestor(Y, Z).

greet(Name) :- format("hello ~w", [Name]).
count_down(0) :- format("done~n").
count_down(N) :- N > 0, format("~w~n", [N]), M is N - 1, count_down(M).

visit(X) :- parent(X, _), assertz(visited(X)).

loop :- loop.
