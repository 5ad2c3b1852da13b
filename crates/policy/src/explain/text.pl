% Writes terms as text for users. The second half of interpreter.pl, with the same rules for names.

% Spaces around comparison operators, and `_` for variables that occur once.
'$why_texts'([], []).
'$why_texts'([Item|Items], [Text|Texts]) :-
    '$why_text'(Item, Text),
    '$why_texts'(Items, Texts).

'$why_text'(Term, Text) :-
    '$why_variables'(Term, All, []),
    term_variables(Term, Distinct),
    '$why_names'(Distinct, All, 0, Names),
    with_output_to(atom(Text), '$why_write'(Term, Names)).

'$why_write'(Term, Names) :-
    (   nonvar(Term),
        Term =.. [Operator, Left, Right],
        '$why_spaced'(Operator)
    ->  '$why_write_term'(Left, 699, Names),
        put_char(' '), write(Operator), put_char(' '),
        '$why_write_term'(Right, 699, Names)
    ;   nonvar(Term), Term = (Left, Right)
    ->  '$why_write'(Left, Names),
        put_char(','), put_char(' '),
        '$why_write'(Right, Names)
    ;   nonvar(Term), Term = (\+ Goal)
    ->  '$why_write_negation'(Goal, Names)
    ;   '$why_write_term'(Term, 999, Names)
    ).

'$why_write_negation'(Goal, Names) :-
    write('\\+ '),
    (   nonvar(Goal), Goal = (_, _)
    ->  write('( '), '$why_write'(Goal, Names), write(' )')
    ;   '$why_write'(Goal, Names)
    ).

'$why_write_term'(Term, Priority, Names) :-
    write_term(Term, [quoted(true), spacing(next_argument), priority(Priority), variable_names(Names)]).

'$why_spaced'(>).
'$why_spaced'(<).
'$why_spaced'(>=).
'$why_spaced'(=<).
'$why_spaced'(=:=).
'$why_spaced'(=\=).
'$why_spaced'(==).
'$why_spaced'(\==).
'$why_spaced'(=).
'$why_spaced'(\=).
'$why_spaced'(is).
'$why_spaced'(@<).
'$why_spaced'(@>).
'$why_spaced'(@=<).
'$why_spaced'(@>=).

'$why_variables'(Term, Variables, Rest) :-
    (   var(Term)
    ->  Variables = [Term|Rest]
    ;   compound(Term)
    ->  Term =.. [_|Arguments],
        '$why_variables_of'(Arguments, Variables, Rest)
    ;   Variables = Rest
    ).

'$why_variables_of'([], Rest, Rest).
'$why_variables_of'([Argument|Arguments], Variables, Rest) :-
    '$why_variables'(Argument, Variables, More),
    '$why_variables_of'(Arguments, More, Rest).

'$why_names'([], _, _, []).
'$why_names'([Variable|Variables], All, Number, [Name = Variable|Names]) :-
    '$why_count'(All, Variable, 0, Count),
    (   Count =:= 1
    ->  Name = '_',
        Next = Number
    ;   Code is 0'A + Number mod 26,
        char_code(Letter, Code),
        Cycle is Number // 26,
        ( Cycle =:= 0 -> Name = Letter ; atom_concat(Letter, Cycle, Name) ),
        Next is Number + 1
    ),
    '$why_names'(Variables, All, Next, Names).

'$why_count'([], _, Count, Count).
'$why_count'([Item|Items], Variable, Count, Total) :-
    ( Item == Variable -> Next is Count + 1 ; Next = Count ),
    '$why_count'(Items, Variable, Next, Total).
