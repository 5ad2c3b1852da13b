:- initialization(main).

main :- format("started~n"), halt(4).

never.
