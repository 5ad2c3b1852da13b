% Grammar rules: their translation to clauses, and phrase/2,3.

dcg_translate_rule(Rule, Clause) :-
    Rule = (Head --> Body),
    (   nonvar(Head),
        Head = (NonTerminal,Pushback)
    ->  Clause = (Extended :- Parse,Push),
        '$dcg_extend'(NonTerminal, Before, After, Extended),
        '$dcg_body'(Body, Before, Between, Parse),
        '$dcg_body'(Pushback, After, Between, Push)
    ;   Clause = (Extended :- Parse),
        '$dcg_extend'(Head, Before, After, Extended),
        '$dcg_body'(Body, Before, After, Parse)
    ).

'$dcg_body'(Body, Before, After, Goal) :-
    (   var(Body)
    ->  Goal = phrase(Body, Before, After)
    ;   '$dcg_construct'(Body, Before, After, Goal)
    ->  true
    ;   string(Body)
    ->  string_codes(Body, Codes),
        '$dcg_terminals'(Codes, Before, After, Goal)
    ;   '$dcg_extend'(Body, Before, After, Goal)
    ).

'$dcg_construct'([], Before, After, Before = After).
'$dcg_construct'([First|Rest], Before, After, Goal) :-
    '$dcg_terminals'([First|Rest], Before, After, Goal).
'$dcg_construct'(!, Before, After, (!, After = Before)).
'$dcg_construct'({}, Before, Before, true).
'$dcg_construct'({Goal}, Before, After, (Goal, After = Before)).
'$dcg_construct'((First,Second), Before, After, (FirstGoal,SecondGoal)) :-
    '$dcg_body'(First, Before, Between, FirstGoal),
    '$dcg_body'(Second, Between, After, SecondGoal).
'$dcg_construct'((Left;Right), Before, After, (LeftGoal;RightGoal)) :-
    '$dcg_branch'(Left, Before, After, LeftGoal),
    '$dcg_branch'(Right, Before, After, RightGoal).
'$dcg_construct'('|'(Left,Right), Before, After, (LeftGoal;RightGoal)) :-
    '$dcg_branch'(Left, Before, After, LeftGoal),
    '$dcg_branch'(Right, Before, After, RightGoal).
'$dcg_construct'((If->Then), Before, After, (IfGoal->ThenGoal)) :-
    '$dcg_body'(If, Before, Between, IfGoal),
    '$dcg_body'(Then, Between, After, ThenGoal).
'$dcg_construct'((If*->Then), Before, After, (IfGoal*->ThenGoal)) :-
    '$dcg_body'(If, Before, Between, IfGoal),
    '$dcg_body'(Then, Between, After, ThenGoal).
'$dcg_construct'(\+ Body, Before, After, (\+ Goal, After = Before)) :-
    '$dcg_body'(Body, Before, _, Goal).
'$dcg_construct'(Module:Body, Before, After, Goal) :-
    '$dcg_body'(Body, Before, After, Plain),
    (   Module == user
    ->  Goal = Plain
    ;   Goal = Module:Plain
    ).

% A branch that consumes nothing must not tie Before to After while the rule
% is translated: the other branch would be tied with it.
'$dcg_branch'(Body, Before, After, Goal) :-
    '$dcg_body'(Body, Before, End, Parse),
    (   End == Before
    ->  Goal = (Parse, After = Before)
    ;   End = After,
        Goal = Parse
    ).

'$dcg_terminals'(List, Before, After, Goal) :-
    '$skip_list'(_, List, Tail),
    (   Tail == []
    ->  '$append'(List, After, Open),
        Goal = (Before = Open)
    ;   var(Tail)
    ->  Goal = '$append'(List, After, Before)
    ;   type_error(list_or_partial_list, List)
    ).

'$dcg_extend'(NonTerminal, Before, After, Goal) :-
    (   var(NonTerminal)
    ->  instantiation_error(NonTerminal)
    ;   NonTerminal = Module:Inner
    ->  Goal = Module:Extended,
        '$dcg_extend'(Inner, Before, After, Extended)
    ;   \+ callable(NonTerminal)
    ->  type_error(callable, NonTerminal)
    ;   '$dcg_reserved'(NonTerminal)
    ->  permission_error(define, dcg_nonterminal, NonTerminal)
    ;   NonTerminal =.. [Name|Arguments],
        '$append'(Arguments, [Before,After], Extended),
        Goal =.. [Name|Extended]
    ).

'$dcg_reserved'([]).
'$dcg_reserved'([_|_]).
'$dcg_reserved'({_}).
'$dcg_reserved'({}).
'$dcg_reserved'(!).
'$dcg_reserved'(\+ _).
'$dcg_reserved'((_,_)).
'$dcg_reserved'((_;_)).
'$dcg_reserved'('|'(_,_)).
'$dcg_reserved'((_->_)).
'$dcg_reserved'((_*->_)).
'$dcg_reserved'((_-->_)).

phrase(Body, List) :-
    phrase(Body, List, []).

phrase(Body, List, Rest) :-
    '$phrase_list'(List),
    '$phrase_list'(Rest),
    call_dcg(Body, List, Rest).

'$phrase_list'(Term) :-
    (   var(Term)
    ->  true
    ;   Term = [_|_]
    ->  true
    ;   Term == []
    ->  true
    ;   type_error(list, Term)
    ).

call_dcg(Body, Before, After) :-
    '$strip_user'(Body, Plain),
    (   nonvar(Plain),
        '$dcg_control'(Plain)
    ->  '$dcg_body'(Plain, First, Last, Goal),
        Before = First,
        After = Last,
        call(Goal)
    ;   call(Plain, Before, After)
    ).

'$strip_user'(Term, Plain) :-
    (   nonvar(Term),
        Term = Module:Inner,
        Module == user
    ->  '$strip_user'(Inner, Plain)
    ;   Plain = Term
    ).

'$dcg_control'(Body) :-
    (   string(Body)
    ->  true
    ;   '$dcg_control_construct'(Body)
    ).

'$dcg_control_construct'([]).
'$dcg_control_construct'([_|_]).
'$dcg_control_construct'(!).
'$dcg_control_construct'({_}).
'$dcg_control_construct'(\+ _).
'$dcg_control_construct'((_,_)).
'$dcg_control_construct'((_;_)).
'$dcg_control_construct'('|'(_,_)).
'$dcg_control_construct'((_->_)).
