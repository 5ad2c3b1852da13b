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

% Catcher tells the cleanup how the goal ended: exit, fail or exception(Error).
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
    catch('$call_marked'(Goal, Before, After), Error,
          '$cleanup_after_error'(Error, Catcher, Cleanup)),
    (   Before == After
    ->  !,
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
    catch('$cleanup'(exception(Thrown), Catcher, Cleanup), Second, true),
    (   nonvar(Second),
        Second = error(_,_),
        Thrown \= error(_,_)
    ->  throw(Second)
    ;   throw(Thrown)
    ).

'$cleanup'(End, Catcher, Cleanup) :-
    (   Catcher = End,
        call(Cleanup)
    ->  true
    ;   true
    ).
