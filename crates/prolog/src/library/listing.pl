% Clauses as text: portray_clause/1 and listing/0,1.

portray_clause(Clause) :-
    '$variable_names'(Clause, Names),
    '$list_clause'(Clause, Names).

portray_clause(_, Clause) :-
    portray_clause(Clause).

listing :-
    '$predicates'(All),
    '$list_all'(All).

listing(Spec) :-
    (   var(Spec)
    ->  instantiation_error(Spec)
    ;   Spec = [_|_]
    ->  forall(member(Each, Spec), listing(Each))
    ;   '$plain'(Spec, Plain),
        ( Plain = Name/Arity -> true ; Plain = Name ),
        findall(Name/Arity,
                ( '$predicates'(All), member(Name/Arity, All) ; '$empty_dynamic'(Name, Arity) ),
                Found),
        '$list_all'(Found)
    ).

'$empty_dynamic'(Name, Arity) :-
    atom(Name),
    integer(Arity),
    functor(Head, Name, Arity),
    predicate_property(Head, dynamic),
    \+ current_predicate(Name/Arity).

'$list_all'([]).
'$list_all'([Name/Arity|Rest]) :-
    functor(Head, Name, Arity),
    (   predicate_property(Head, dynamic)
    ->  format(':- dynamic ~q.~n~n', [Name/Arity])
    ;   true
    ),
    (   \+ \+ catch(clause(Head, _), error(permission_error(_, _, _), _), fail)
    ->  (   predicate_property(Head, ssu)
        ->  forall(clause(Head, Body), '$list_rule'(Head, Body))
        ;   forall(clause(Head, Body), '$list_one'(Head, Body))
        )
    ;   true
    ),
    nl,
    '$list_all'(Rest).

'$list_one'(Head, Body) :-
    (   Body == true
    ->  portray_clause(Head)
    ;   portray_clause((Head :- Body))
    ).

% A rule with a guard has the commit behind it as a cut.
'$list_rule'(Head, Body) :-
    (   Body = (Guard, !, Rest)
    ->  portray_clause((Head, Guard => Rest))
    ;   portray_clause((Head => Body))
    ).

'$list_clause'(Clause, Names) :-
    (   nonvar(Clause),
        Clause = (Head :- Body)
    ->  (   Body == true
        ->  '$list_term'(Head, Names, 1199)
        ;   '$list_term'(Head, Names, 1199),
            write(' :-'),
            '$list_new_line'(4),
            '$list_body'(Body, 4, Names, 1199)
        )
    ;   nonvar(Clause),
        Clause = (Head --> Body)
    ->  '$list_term'(Head, Names, 1199),
        write(' -->'),
        '$list_new_line'(4),
        '$list_body'(Body, 4, Names, 1199)
    ;   nonvar(Clause),
        Clause = (Head => Body)
    ->  '$list_term'(Head, Names, 1199),
        write(' =>'),
        '$list_new_line'(4),
        '$list_body'(Body, 4, Names, 1199)
    ;   nonvar(Clause),
        Clause = (:- Body)
    ->  write(':- '),
        '$list_body'(Body, 3, Names, 1199)
    ;   '$list_term'(Clause, Names, 1199)
    ),
    write('.\n').

'$list_body'(Body, Indent, Names, Priority) :-
    (   var(Body)
    ->  '$list_term'(Body, Names, Priority)
    ;   Body = (A, B)
    ->  '$list_body'(A, Indent, Names, 999),
        write(','),
        '$list_new_line'(Indent),
        '$list_body'(B, Indent, Names, 1000)
    ;   '$list_alternatives'(Body)
    ->  Inner is Indent + 4,
        write('(   '),
        '$list_inside'(Body, Indent, Inner, Names),
        '$list_new_line'(Indent),
        write(')')
    ;   Body = (\+ Goal),
        nonvar(Goal),
        '$list_alternatives'(Goal)
    ->  write('\\+ '),
        Inner is Indent + 3,
        '$list_body'(Goal, Inner, Names, 900)
    ;   '$list_term'(Body, Names, Priority)
    ).

'$list_alternatives'((_ ; _)).
'$list_alternatives'((_ -> _)).
'$list_alternatives'((_ *-> _)).

% The parts of a disjunction or of a conditional, each behind its operator.
'$list_inside'(Body, Indent, Inner, Names) :-
    (   nonvar(Body),
        '$list_parts'(Body, A, Operator, B)
    ->  (   Operator == (';  ')
        ->  '$list_condition'(A, Indent, Inner, Names)
        ;   '$list_body'(A, Inner, Names, 999)
        ),
        '$list_new_line'(Indent),
        write(Operator),
        write(' '),
        '$list_inside'(B, Indent, Inner, Names)
    ;   '$list_body'(Body, Inner, Names, 999)
    ).

'$list_parts'((A ; B), A, ';  ', B).
'$list_parts'((A -> B), A, '-> ', B).
'$list_parts'((A *-> B), A, '*->', B).

% To the left of `;`, a conditional stands without brackets of its own.
'$list_condition'(Body, Indent, Inner, Names) :-
    (   nonvar(Body),
        ( Body = (_ -> _) ; Body = (_ *-> _) )
    ->  '$list_inside'(Body, Indent, Inner, Names)
    ;   '$list_body'(Body, Inner, Names, 999)
    ).

'$list_new_line'(Indent) :-
    nl,
    tab(Indent).

'$list_term'(Term, Names, Priority) :-
    write_term(Term,
               [ quoted(true), numbervars(true), spacing(next_argument),
                 variable_names(Names), priority(Priority) ]).
