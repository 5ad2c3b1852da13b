% Errors and the checks that throw them.

type_error(Type, Culprit) :-
    throw(error(type_error(Type, Culprit), _)).

domain_error(Domain, Culprit) :-
    throw(error(domain_error(Domain, Culprit), _)).

existence_error(Kind, Culprit) :-
    throw(error(existence_error(Kind, Culprit), _)).

existence_error(Kind, Culprit, Set) :-
    throw(error(existence_error(Kind, Culprit, Set), _)).

permission_error(Action, Kind, Culprit) :-
    throw(error(permission_error(Action, Kind, Culprit), _)).

instantiation_error(_) :-
    throw(error(instantiation_error, _)).

uninstantiation_error(Culprit) :-
    throw(error(uninstantiation_error(Culprit), _)).

representation_error(Limit) :-
    throw(error(representation_error(Limit), _)).

syntax_error(Message) :-
    throw(error(syntax_error(Message), _)).

resource_error(Resource) :-
    throw(error(resource_error(Resource), _)).

% No rule of a predicate that is made of rules with => matches a call.
'$no_rule'(Goal) :-
    throw(error(existence_error(matching_rule, Goal), _)).

% SWI-Prolog writes several library predicates with single sided unification
% and names the module and the rule when no rule matches.
'$no_matching_rule'(Module, Head) :-
    functor(Head, Name, Arity),
    throw(error(existence_error(matching_rule, Module:Head),
                context(Module:Name/Arity, _))).

must_be(Type, Term) :-
    (   var(Type)
    ->  instantiation_error(Type)
    ;   '$has_type'(Type, Term)
    ->  true
    ;   '$is_not'(Type, Term)
    ).

is_of_type(Type, Term) :-
    (   var(Type)
    ->  instantiation_error(Type)
    ;   '$has_type'(Type, Term)
    ->  true
    ).

'$has_type'(any, _).
'$has_type'(atom, Term) :- atom(Term).
'$has_type'(atomic, Term) :- atomic(Term).
'$has_type'(between(Low,High), Term) :-
    (   integer(Low)
    ->  integer(Term),
        between(Low, High, Term)
    ;   number(Term),
        Term >= Low,
        Term =< High
    ).
'$has_type'(boolean, Term) :- '$boolean'(Term).
'$has_type'(callable, Term) :- callable(Term).
'$has_type'(char, Term) :- '$char'(Term).
'$has_type'(code, Term) :- '$code'(Term).
'$has_type'(chars, Term) :- is_list(Term), '$all_of_type'(Term, char).
'$has_type'(codes, Term) :- is_list(Term), '$all_of_type'(Term, code).
'$has_type'(text, Term) :- '$text'(Term).
'$has_type'(compound, Term) :- compound(Term).
'$has_type'(constant, Term) :- atomic(Term).
'$has_type'(float, Term) :- float(Term).
'$has_type'(ground, Term) :- ground(Term).
'$has_type'(cyclic, Term) :- \+ acyclic_term(Term).
'$has_type'(acyclic, Term) :- acyclic_term(Term).
'$has_type'(integer, Term) :- integer(Term).
'$has_type'(nonneg, Term) :- integer(Term), Term >= 0.
'$has_type'(positive_integer, Term) :- integer(Term), Term > 0.
'$has_type'(negative_integer, Term) :- integer(Term), Term < 0.
'$has_type'(nonvar, Term) :- nonvar(Term).
'$has_type'(number, Term) :- number(Term).
'$has_type'(oneof(Terms), Term) :- ground(Term), \+ \+ memberchk(Term, Terms).
'$has_type'(pair, Term) :- nonvar(Term), Term = _-_.
'$has_type'(proper_list, Term) :- is_list(Term).
'$has_type'(list, Term) :- is_list(Term).
'$has_type'(list(Type), Term) :- is_list(Term), '$all_of_type'(Term, Type).
'$has_type'(list_or_partial_list, Term) :-
    '$skip_list'(_, Term, Tail),
    (   var(Tail)
    ->  true
    ;   Tail == []
    ).
'$has_type'(symbol, Term) :- atom(Term).
'$has_type'(var, Term) :- var(Term).
'$has_type'(rational, Term) :- rational(Term).
'$has_type'(string, Term) :- string(Term).
'$has_type'(stream, Term) :- '$standard_stream'(Term).
'$has_type'(encoding, Term) :- '$encoding'(Term).
'$has_type'(dict, _) :- fail.
'$has_type'(assoc, Term) :-
    (   Term == t
    ->  true
    ;   compound(Term),
        functor(Term, t, 5)
    ).
'$has_type'(type, Term) :- ground(Term), '$type'(Term).

'$boolean'(Term) :-
    atom(Term),
    (   Term = true
    ->  true
    ;   Term = false
    ).

'$char'(Term) :-
    atom(Term),
    atom_length(Term, 1).

'$code'(Term) :-
    integer(Term),
    Term >= 0,
    Term =< 0x10ffff.

'$text'(Term) :-
    (   atom(Term)
    ->  true
    ;   string(Term)
    ->  true
    ;   is_list(Term),
        (   '$all_of_type'(Term, char)
        ->  true
        ;   '$all_of_type'(Term, code)
        )
    ).

'$all_of_type'(Terms, Type) :-
    (   var(Type)
    ->  instantiation_error(Type)
    ;   '$each_of_type'(Terms, Type)
    ).

'$each_of_type'([], _).
'$each_of_type'([Term|Terms], Type) :-
    (   '$has_type'(Type, Term)
    ->  '$each_of_type'(Terms, Type)
    ).

% There are no files: the streams that exist have these names.
'$standard_stream'(Term) :-
    atom(Term),
    '$standard_stream_name'(Term).

'$standard_stream_name'(user_input).
'$standard_stream_name'(user_output).
'$standard_stream_name'(user_error).

'$encoding'(octet).
'$encoding'(ascii).
'$encoding'(iso_latin_1).
'$encoding'(text).
'$encoding'(utf8).
'$encoding'(unicode_be).
'$encoding'(unicode_le).
'$encoding'(wchar_t).

% What '$has_type' knows.
'$type'(any).
'$type'(atom).
'$type'(atomic).
'$type'(between(_,_)).
'$type'(boolean).
'$type'(callable).
'$type'(char).
'$type'(code).
'$type'(chars).
'$type'(codes).
'$type'(text).
'$type'(compound).
'$type'(constant).
'$type'(float).
'$type'(ground).
'$type'(cyclic).
'$type'(acyclic).
'$type'(integer).
'$type'(nonneg).
'$type'(positive_integer).
'$type'(negative_integer).
'$type'(nonvar).
'$type'(number).
'$type'(oneof(_)).
'$type'(pair).
'$type'(proper_list).
'$type'(list).
'$type'(list(_)).
'$type'(list_or_partial_list).
'$type'(symbol).
'$type'(var).
'$type'(rational).
'$type'(string).
'$type'(stream).
'$type'(encoding).
'$type'(dict).
'$type'(assoc).
'$type'(type).

% Throws the error that says why Term is not of Type.
'$is_not'(Type, Term) :-
    (   '$list_type'(Type, Expected)
    ->  '$is_not_list'(Expected, Term)
    ;   Type == list_or_partial_list
    ->  type_error(list, Term)
    ;   Type == var
    ->  uninstantiation_error(Term)
    ;   Type == cyclic
    ->  domain_error(cyclic_term, Term)
    ;   Type == acyclic
    ->  domain_error(acyclic_term, Term)
    ;   \+ '$type'(Type)
    ->  existence_error(type, Type)
    ;   var(Term)
    ->  instantiation_error(Term)
    ;   '$ground_type'(Type),
        \+ ground(Term)
    ->  instantiation_error(Term)
    ;   type_error(Type, Term)
    ).

'$list_type'(list, list).
'$list_type'(list(Type), list(Type)).
'$list_type'(chars, list(char)).
'$list_type'(codes, list(code)).

'$ground_type'(ground).
'$ground_type'(oneof(_)).
'$ground_type'(stream).
'$ground_type'(text).
'$ground_type'(string).
'$ground_type'(rational).

'$is_not_list'(Expected, Term) :-
    '$skip_list'(_, Term, Tail),
    (   var(Tail)
    ->  instantiation_error(Term)
    ;   Tail == []
    ->  Expected = list(Type),
        '$is_not_element'(Term, Type)
    ;   type_error(Expected, Term)
    ).

'$is_not_element'([Term|Terms], Type) :-
    (   '$has_type'(Type, Term)
    ->  '$is_not_element'(Terms, Type)
    ;   '$is_not'(Type, Term)
    ).
