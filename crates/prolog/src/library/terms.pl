% Terms compared and changed as wholes: library(terms).

subsumes_chk(General, Specific) :-
    subsumes_term(General, Specific).

subsumes(General, Specific) :-
    subsumes_term(General, Specific),
    General = Specific.

variant(A, B) :-
    A =@= B.

same_functor(A, B) :-
    same_functor(A, B, _, _).

same_functor(A, B, Arity) :-
    same_functor(A, B, _, Arity).

same_functor(A, B, Name, Arity) :-
    (   nonvar(A)
    ->  functor(A, Name, Arity),
        functor(B, Name, Arity)
    ;   functor(B, Name, Arity),
        functor(A, Name, Arity)
    ).

mapargs(Goal, A, B) :-
    same_functor(A, B, Arity),
    '$map_arguments'(1, Arity, Goal, A, B).

'$map_arguments'(Place, Arity, Goal, A, B) :-
    (   Place =< Arity
    ->  arg(Place, A, First),
        arg(Place, B, Second),
        call(Goal, First, Second),
        Next is Place + 1,
        '$map_arguments'(Next, Arity, Goal, A, B)
    ;   true
    ).
