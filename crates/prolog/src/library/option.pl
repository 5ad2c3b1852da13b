% Option lists: Name(Value) or Name=Value, the first one counts.

option(Option, Options) :-
    (   is_list(Options)
    ->  functor(Option, Name, Arity),
        functor(Wanted, Name, Arity),
        '$find_option'(Wanted, Options),
        Option = Wanted
    ;   '$no_matching_rule'(swi_option, option(Option, Options))
    ).

option(Option, Options, Default) :-
    functor(Option, Name, Arity),
    functor(Wanted, Name, Arity),
    (   '$find_option'(Wanted, Options)
    ->  Option = Wanted
    ;   arg(1, Option, Default)
    ).

% Wanted has fresh arguments: an option that is there with another value is
% found, and does not make way for a later one.
'$find_option'(Wanted, Options) :-
    (   memberchk(Wanted, Options)
    ->  true
    ;   functor(Wanted, Name, 1),
        arg(1, Wanted, Value),
        memberchk(Name=Value, Options)
    ).

select_option(Option, Options, Rest) :-
    functor(Option, Name, Arity),
    functor(Wanted, Name, Arity),
    '$take_option'(Wanted, Options, Rest),
    Option = Wanted.

select_option(Option, Options, Rest, Default) :-
    functor(Option, Name, Arity),
    functor(Wanted, Name, Arity),
    (   '$take_option'(Wanted, Options, Rest)
    ->  Option = Wanted
    ;   Rest = Options,
        arg(1, Option, Default)
    ).

'$take_option'(Wanted, Options, Rest) :-
    (   selectchk(Wanted, Options, Others)
    ->  Rest = Others
    ;   functor(Wanted, Name, 1),
        arg(1, Wanted, Value),
        selectchk(Name=Value, Options, Rest)
    ).

merge_options([], Old, Merged) :-
    !,
    '$canonical_options'(Old, Merged).
merge_options(New, [], Merged) :-
    !,
    '$canonical_options'(New, Merged).
merge_options(New, Old, Merged) :-
    '$canonical_options'(New, CanonicalNew),
    '$canonical_options'(Old, CanonicalOld),
    sort(CanonicalNew, SortedNew),
    sort(CanonicalOld, SortedOld),
    '$merge_options'(SortedNew, SortedOld, Merged).

'$canonical_options'(Options, Canonical) :-
    (   memberchk(_=_, Options)
    ->  '$canonical_each'(Options, Canonical)
    ;   Canonical = Options
    ).

'$canonical_each'([], []).
'$canonical_each'([Option|Options], [Canonical|Rest]) :-
    '$canonical_option'(Option, Canonical),
    '$canonical_each'(Options, Rest).

'$canonical_option'(Option, Canonical) :-
    (   (   Option = (Name=Value)
        ;   Option = Name-Value
        )
    ->  Canonical =.. [Name,Value]
    ;   Canonical = Option
    ).

'$merge_options'([], Old, Old).
'$merge_options'([New|News], Olds, Merged) :-
    '$merge_old'(Olds, New, News, Merged).

'$merge_old'([], New, News, [New|News]).
'$merge_old'([Old|Olds], New, News, Merged) :-
    functor(New, NewName, NewArity),
    functor(Old, OldName, OldArity),
    compare(Order, NewName-NewArity, OldName-OldArity),
    '$merge_options'(Order, New, News, Old, Olds, Merged).

'$merge_options'(<, New, News, Old, Olds, [New|Merged]) :-
    '$merge_options'(News, [Old|Olds], Merged).
'$merge_options'(=, New, News, _, Olds, [New|Merged]) :-
    '$merge_options'(News, Olds, Merged).
'$merge_options'(>, New, News, Old, Olds, [Old|Merged]) :-
    '$merge_old'(Olds, New, News, Merged).
