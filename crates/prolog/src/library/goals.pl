% Control constructs as predicates. What a program writes in a clause body is
% compiled in place; these serve goals that are known only at run time.

% '$body'(Goal, Cut), native, interprets one control construct: a cut inside of
% Goal cuts back to Cut.
'$and'(A, B, Cut) :-
    '$body'(A, Cut),
    '$body'(B, Cut).

'$or'(A, _, Cut) :-
    '$body'(A, Cut).
'$or'(_, B, Cut) :-
    '$body'(B, Cut).

'$if'(Condition, Then, Else, Cut) :-
    (   call(Condition)
    ->  '$body'(Then, Cut)
    ;   '$body'(Else, Cut)
    ).

'$then'(Condition, Then, Cut) :-
    (   call(Condition)
    ->  '$body'(Then, Cut)
    ).

'$soft_if'(Condition, Then, Else, Cut) :-
    (   call(Condition)
    *-> '$body'(Then, Cut)
    ;   '$body'(Else, Cut)
    ).

'$soft_then'(Condition, Then, Cut) :-
    call(Condition),
    '$body'(Then, Cut).

\+ Goal :-
    \+ call(Goal).

A, B :-
    call((A, B)).

A ; B :-
    call((A ; B)).

Condition -> Then :-
    call((Condition -> Then)).

Condition *-> Then :-
    call((Condition *-> Then)).

A | B :-
    call((A ; B)).

! .

true.

otherwise.

fail :-
    fail.

false :-
    fail.

once(Goal) :-
    (   call(Goal)
    ->  true
    ).

ignore(Goal) :-
    (   call(Goal)
    ->  true
    ;   true
    ).

forall(Condition, Action) :-
    \+ ( call(Condition), \+ call(Action) ).

findall(Template, Goal, Results) :-
    findall(Template, call(Goal), Results).

findall(Template, Goal, Results, Tail) :-
    '$check_result_list'(Results),
    findall(Template, call(Goal), Found),
    '$append'(Found, Tail, Results).

% Goals that waited for variables which have just been bound: one list per
% variable.
'$wake'([]).
'$wake'([Goals|Rest]) :-
    '$wake_all'(Goals),
    '$wake'(Rest).

'$wake_all'([]).
'$wake_all'([Goal|Goals]) :-
    call(Goal),
    '$wake_all'(Goals).

with_output_to(Sink, Goal) :-
    '$check_sink'(Sink),
    '$divert',
    (   catch(Goal, Error, ( '$end_diversion'(_), throw(Error) ))
    ->  '$end_diversion'(Text),
        '$deliver'(Sink, Text)
    ;   '$end_diversion'(_),
        fail
    ).

'$deliver'(atom(Atom), Text) :-
    atom_string(Atom, Text).
'$deliver'(string(String), Text) :-
    String = Text.
'$deliver'(codes(Codes), Text) :-
    string_codes(Text, Codes).
'$deliver'(codes(Codes, Tail), Text) :-
    string_codes(Text, All),
    '$append'(All, Tail, Codes).
'$deliver'(chars(Chars), Text) :-
    string_chars(Text, Chars).
'$deliver'(chars(Chars, Tail), Text) :-
    string_chars(Text, All),
    '$append'(All, Tail, Chars).
