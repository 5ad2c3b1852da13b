% Control: cleanup after a goal, and apply/2.

apply(Goal, Extra) :-
    (   var(Goal)
    ->  instantiation_error(Goal)
    ;   Goal = Module:Inner
    ->  call(Module:apply(Inner, Extra))
    ;   callable(Goal)
    ->  Goal =.. [Name|Arguments],
        must_be(list, Extra),
        '$append'(Arguments, Extra, All),
        Whole =.. [Name|All],
        call(Whole)
    ;   type_error(callable, Goal)
    ).

call_cleanup(Goal, Cleanup) :-
    setup_call_catcher_cleanup(true, Goal, _, Cleanup).

setup_call_cleanup(Setup, Goal, Cleanup) :-
    setup_call_catcher_cleanup(Setup, Goal, _, Cleanup).

% Catcher tells the cleanup how the goal ended: exit, fail, ! or exception(Error).
setup_call_catcher_cleanup(Setup, Goal, Catcher, Cleanup) :-
    once(Setup),
    '$check_cleanup'(Cleanup),
    '$call_cleanup'(Goal, Catcher, Cleanup).

'$check_cleanup'(Cleanup) :-
    (   var(Cleanup)
    ->  instantiation_error(Cleanup)
    ;   callable(Cleanup)
    ->  true
    ;   type_error(callable, Cleanup)
    ).

% Goal is done when it has left no choice point: the newest one is then the
% same before and after.
'$call_cleanup'(Goal, Catcher, Cleanup) :-
    prolog_current_choice(Height),
    '$open_cleanup'(Height, '$cleanup'(!, Catcher, Cleanup)),
    catch('$call_marked'(Goal, Before, After), Error,
          '$cleanup_after_error'(Error, Catcher, Cleanup)),
    (   Before == After
    ->  '$close_cleanup',
        !,
        '$cleanup'(exit, Catcher, Cleanup)
    ;   true
    ).
'$call_cleanup'(_, Catcher, Cleanup) :-
    '$cleanup'(fail, Catcher, Cleanup),
    fail.

'$call_marked'(Goal, Before, After) :-
    prolog_current_choice(Before),
    call(Goal),
    prolog_current_choice(After).

% The exception of the goal is the one that counts, unless only that of the
% cleanup is an error.
'$cleanup_after_error'(Thrown, Catcher, Cleanup) :-
    '$close_cleanup',
    catch('$cleanup'(exception(Thrown), Catcher, Cleanup), Second, true),
    (   nonvar(Second),
        Second = error(_,_),
        Thrown \= error(_,_)
    ->  throw(Second)
    ;   throw(Thrown)
    ).

% A later exception took the choice points of the goal away.
'$cleanup_quietly'(Cleanup) :-
    catch(Cleanup, _, true).

'$cleanup'(End, Catcher, Cleanup) :-
    (   Catcher = End,
        call(Cleanup)
    ->  true
    ;   true
    ).

not(Goal) :-
    \+ call(Goal).

% Answers in groups of N; the last group holds what is left.
findnsols(N, Template0, Goal0, List) :-
    must_be(nonneg, N),
    copy_term(Template0-Goal0, Template-Goal),
    State = found(0, []),
    (   N =:= 0
    ->  List = []
    ;   '$call_marked'(Goal, Before, After),
        arg(1, State, Count0),
        Count is Count0 + 1,
        arg(2, State, Found0),
        nb_setarg(2, State, [Template|Found0]),
        nb_setarg(1, State, Count),
        Count =:= N,
        ( Before == After -> ! ; true ),
        arg(2, State, Found),
        nb_setarg(1, State, 0),
        nb_setarg(2, State, []),
        '$reverse'(Found, [], List0),
        List = List0
    ;   arg(2, State, Found),
        '$reverse'(Found, [], List)
    ).

'$reverse'([], Reversed, Reversed).
'$reverse'([X|Xs], Before, Reversed) :-
    '$reverse'(Xs, [X|Before], Reversed).

expand_term(Term, Expanded) :-
    (   nonvar(Term),
        Term = (_ --> _)
    ->  dcg_translate_rule(Term, Expanded)
    ;   Expanded = Term
    ).

expand_goal(Goal, Goal).

divmod(Dividend, Divisor, Quotient, Remainder) :-
    Quotient is Dividend div Divisor,
    Remainder is Dividend mod Divisor.

rational(Number, Number, 1) :-
    integer(Number).

name(Name, Codes) :-
    (   var(Name)
    ->  atom_codes(Atom, Codes),
        (   catch(atom_number(Atom, Number), _, fail)
        ->  Name = Number
        ;   Name = Atom
        )
    ;   atomic(Name)
    ->  atom_codes(Name, Codes)
    ;   type_error(atomic, Name)
    ).

concat_atom(Parts, Atom) :-
    atomic_list_concat(Parts, Atom).

concat_atom(Parts, Separator, Atom) :-
    atomic_list_concat(Parts, Separator, Atom).

normalize_space(Sink, Text) :-
    ( number(Text) -> number_codes(Text, Codes) ; Codes = Text ),
    split_string(Codes, " \t\n\r\f\v", " \t\n\r\f\v", Words0),
    '$words'(Words0, Words),
    atomic_list_concat(Words, ' ', Normal),
    format(Sink, "~w", [Normal]).

'$words'([], []).
'$words'([Word|Rest], Words) :-
    (   Word == ""
    ->  Words = More
    ;   Words = [Word|More]
    ),
    '$words'(Rest, More).
