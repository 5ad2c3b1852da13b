% Terms inside terms: subterms, and how often one occurs.
%
% "term" in a name compares by unification, "var" by identity.

contains_term(Sub, Term) :-
    (   Sub = Term
    ->  true
    ;   compound(Term),
        arg(_, Term, Argument),
        contains_term(Sub, Argument)
    ->  true
    ).

contains_var(Sub, Term) :-
    (   Sub == Term
    ->  true
    ;   compound(Term),
        arg(_, Term, Argument),
        contains_var(Sub, Argument)
    ->  true
    ).

free_of_term(Sub, Term) :-
    \+ contains_term(Sub, Term).

free_of_var(Sub, Term) :-
    \+ contains_var(Sub, Term).

occurrences_of_term(Sub, Term, Count) :-
    findall(x, sub_term(Sub, Term), Marks),
    length(Marks, Found),
    Count = Found.

occurrences_of_var(Sub, Term, Count) :-
    findall(x, sub_var(Sub, Term), Marks),
    length(Marks, Found),
    Count = Found.

sub_term(Term, Term).
sub_term(Sub, Term) :-
    compound(Term),
    arg(_, Term, Argument),
    sub_term(Sub, Argument).

sub_var(Sub, Term) :-
    Sub == Term.
sub_var(Sub, Term) :-
    compound(Term),
    arg(_, Term, Argument),
    sub_var(Sub, Argument).

% The variables of Sub that Term mentions outside the first occurrence of Sub.
sub_term_shared_variables(Sub, Term, Shared) :-
    '$drop_first'(Term, Sub, Rest, _),
    term_variables(Rest, Outside),
    term_variables(Sub, Inside),
    '$identical_members'(Inside, Outside, Shared).

'$drop_first'(Term, Sub, Rest, Dropped) :-
    (   Dropped == true
    ->  Rest = Term
    ;   Term == Sub
    ->  Rest = true,
        Dropped = true
    ;   compound(Term)
    ->  Term =.. [Name|Arguments],
        '$drop_first_argument'(Arguments, Sub, Others, Dropped),
        Rest =.. [Name|Others]
    ;   Rest = Term
    ).

'$drop_first_argument'([], _, [], _).
'$drop_first_argument'([Argument|Arguments], Sub, [Rest|Others], Dropped) :-
    '$drop_first'(Argument, Sub, Rest, Dropped),
    '$drop_first_argument'(Arguments, Sub, Others, Dropped).

'$identical_members'([], _, []).
'$identical_members'([Term|Terms], List, Members) :-
    (   '$identical_member'(List, Term)
    ->  Members = [Term|Rest]
    ;   Members = Rest
    ),
    '$identical_members'(Terms, List, Rest).

'$identical_member'([Head|Tail], Term) :-
    (   Head == Term
    ->  true
    ;   '$identical_member'(Tail, Term)
    ).
