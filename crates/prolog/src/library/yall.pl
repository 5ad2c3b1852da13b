% Lambda expressions: Parameters>>Body, Free/Parameters>>Body and Free/Goal.
%
% A call works on a copy of the expression: its variables are its own, except
% those in Free, written {X,Y}. Arguments beyond the parameters are passed on
% to the body.

'>>'(Parameters, Body) :-
    '$lambda_instance'(Parameters, Body, [], Instance, Extra),
    '$call_with'(Extra, Instance).

'>>'(Parameters, Body, A1) :-
    '$lambda_instance'(Parameters, Body, [A1], Instance, Extra),
    '$call_with'(Extra, Instance).

'>>'(Parameters, Body, A1, A2) :-
    '$lambda_instance'(Parameters, Body, [A1,A2], Instance, Extra),
    '$call_with'(Extra, Instance).

'>>'(Parameters, Body, A1, A2, A3) :-
    '$lambda_instance'(Parameters, Body, [A1,A2,A3], Instance, Extra),
    '$call_with'(Extra, Instance).

'>>'(Parameters, Body, A1, A2, A3, A4) :-
    '$lambda_instance'(Parameters, Body, [A1,A2,A3,A4], Instance, Extra),
    '$call_with'(Extra, Instance).

'>>'(Parameters, Body, A1, A2, A3, A4, A5) :-
    '$lambda_instance'(Parameters, Body, [A1,A2,A3,A4,A5], Instance, Extra),
    '$call_with'(Extra, Instance).

'>>'(Parameters, Body, A1, A2, A3, A4, A5, A6) :-
    '$lambda_instance'(Parameters, Body, [A1,A2,A3,A4,A5,A6], Instance, Extra),
    '$call_with'(Extra, Instance).

'>>'(Parameters, Body, A1, A2, A3, A4, A5, A6, A7) :-
    '$lambda_instance'(Parameters, Body, [A1,A2,A3,A4,A5,A6,A7], Instance, Extra),
    '$call_with'(Extra, Instance).

'/'(Free, Lambda) :-
    '$lambda_free'(Free),
    copy_term_nat(Free+Lambda, Free+Instance),
    call(Instance).

'/'(Free, Lambda, A1) :-
    '$lambda_free'(Free),
    copy_term_nat(Free+Lambda, Free+Instance),
    call(Instance, A1).

'/'(Free, Lambda, A1, A2) :-
    '$lambda_free'(Free),
    copy_term_nat(Free+Lambda, Free+Instance),
    call(Instance, A1, A2).

'/'(Free, Lambda, A1, A2, A3) :-
    '$lambda_free'(Free),
    copy_term_nat(Free+Lambda, Free+Instance),
    call(Instance, A1, A2, A3).

'/'(Free, Lambda, A1, A2, A3, A4) :-
    '$lambda_free'(Free),
    copy_term_nat(Free+Lambda, Free+Instance),
    call(Instance, A1, A2, A3, A4).

'/'(Free, Lambda, A1, A2, A3, A4, A5) :-
    '$lambda_free'(Free),
    copy_term_nat(Free+Lambda, Free+Instance),
    call(Instance, A1, A2, A3, A4, A5).

'/'(Free, Lambda, A1, A2, A3, A4, A5, A6) :-
    '$lambda_free'(Free),
    copy_term_nat(Free+Lambda, Free+Instance),
    call(Instance, A1, A2, A3, A4, A5, A6).

'/'(Free, Lambda, A1, A2, A3, A4, A5, A6, A7) :-
    '$lambda_free'(Free),
    copy_term_nat(Free+Lambda, Free+Instance),
    call(Instance, A1, A2, A3, A4, A5, A6, A7).

'$lambda_instance'(Parameters, Body, Arguments, Instance, Extra) :-
    (   var(Parameters)
    ->  instantiation_error(Parameters)
    ;   Parameters = Free/List
    ->  '$lambda_free'(Free),
        must_be(list, List),
        copy_term_nat(Free+List+Body, Free+Copy+Instance)
    ;   must_be(list, Parameters),
        copy_term_nat(Parameters+Body, Copy+Instance)
    ),
    '$bind_parameters'(Copy, Arguments, Extra, Parameters>>Body).

'$bind_parameters'([], Extra, Extra, _).
'$bind_parameters'([Parameter|Parameters], Arguments, Extra, Lambda) :-
    (   Arguments = [Argument|Others]
    ->  Parameter = Argument,
        '$bind_parameters'(Parameters, Others, Extra, Lambda)
    ;   Lambda = (All>>Body),
        '$qualified'(Body, Qualified),
        domain_error(lambda_parameters, All>>Qualified)
    ).

'$lambda_free'(Free) :-
    (   var(Free)
    ->  instantiation_error(Free)
    ;   Free = {_}
    ->  true
    ;   Free == {}
    ->  true
    ;   type_error(lambda_free, Free)
    ).

% One argument moves at a time: [] or [_|_] picks the clause.
'$call_with'([], Goal) :-
    call(Goal).
'$call_with'([A1|Extra], Goal) :-
    '$call_with'(Extra, Goal, A1).

'$call_with'([], Goal, A1) :-
    call(Goal, A1).
'$call_with'([A2|Extra], Goal, A1) :-
    '$call_with'(Extra, Goal, A1, A2).

'$call_with'([], Goal, A1, A2) :-
    call(Goal, A1, A2).
'$call_with'([A3|Extra], Goal, A1, A2) :-
    '$call_with'(Extra, Goal, A1, A2, A3).

'$call_with'([], Goal, A1, A2, A3) :-
    call(Goal, A1, A2, A3).
'$call_with'([A4|Extra], Goal, A1, A2, A3) :-
    '$call_with'(Extra, Goal, A1, A2, A3, A4).

'$call_with'([], Goal, A1, A2, A3, A4) :-
    call(Goal, A1, A2, A3, A4).
'$call_with'([A5|Extra], Goal, A1, A2, A3, A4) :-
    '$call_with'(Extra, Goal, A1, A2, A3, A4, A5).

'$call_with'([], Goal, A1, A2, A3, A4, A5) :-
    call(Goal, A1, A2, A3, A4, A5).
'$call_with'([A6|Extra], Goal, A1, A2, A3, A4, A5) :-
    '$call_with'(Extra, Goal, A1, A2, A3, A4, A5, A6).

'$call_with'([], Goal, A1, A2, A3, A4, A5, A6) :-
    call(Goal, A1, A2, A3, A4, A5, A6).
'$call_with'([A7|Extra], Goal, A1, A2, A3, A4, A5, A6) :-
    '$call_with'(Extra, Goal, A1, A2, A3, A4, A5, A6, A7).

'$call_with'([], Goal, A1, A2, A3, A4, A5, A6, A7) :-
    call(Goal, A1, A2, A3, A4, A5, A6, A7).

is_lambda(Term) :-
    compound(Term),
    Term =.. [Name,First,Second|_],
    '$is_lambda'(Name, First, Second).

'$is_lambda'(>>, Parameters, Body) :-
    nonvar(Parameters),
    (   Parameters = Free/List
    ->  '$is_lambda_free'(Free),
        is_list(List)
    ;   is_list(Parameters)
    ),
    callable(Body).
'$is_lambda'(/, Free, Body) :-
    '$is_lambda_free'(Free),
    callable(Body).

'$is_lambda_free'(Free) :-
    nonvar(Free),
    (   Free = {_}
    ->  true
    ;   Free == {}
    ).
