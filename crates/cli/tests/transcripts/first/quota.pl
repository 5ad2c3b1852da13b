:- dynamic serviceInstance/3, fact/3, node/2.

reject(request(_, _, _, _, To), closed) :-
    fact(To, closed, yes).

accept(request(_, _, _, _, none)).
accept(request(_, _, Application, _, Node)) :-
    node(Node, Free),
    Free > 1,
    \+ serviceInstance(_, Application, Node).
