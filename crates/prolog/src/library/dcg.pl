% Grammar rules: their translation to clauses, and phrase/2,3.

dcg_translate_rule(Rule, Clause) :-
    Rule = (Head --> Body),
    (   nonvar(Head),
        Head = (NonTerminal,Pushback)
    ->  Clause = (Extended :- Parse,Push),
        '$dcg_extend'(NonTerminal, Before, After, Extended),
        '$dcg_body'(Body, user, Before, Between, Parse),
        '$dcg_body'(Pushback, user, After, Between, Push)
    ;   Clause = (Extended :- Parse),
        '$dcg_extend'(Head, Before, After, Extended),
        '$dcg_body'(Body, user, Before, After, Parse)
    ).

'$dcg_body'(Body, Module, Before, After, Goal) :-
    (   var(Body)
    ->  '$dcg_qualify'(Module, Body, Qualified),
        Goal = phrase(Qualified, Before, After)
    ;   '$dcg_construct'(Body, Module, Before, After, Goal)
    ->  true
    ;   string(Body)
    ->  string_codes(Body, Codes),
        '$dcg_terminals'(Codes, Before, After, Goal)
    ;   '$dcg_extend'(Body, Before, After, Extended),
        '$dcg_qualify'(Module, Extended, Goal)
    ).

'$dcg_construct'([], _, Before, After, Before = After).
'$dcg_construct'([First|Rest], _, Before, After, Goal) :-
    '$dcg_terminals'([First|Rest], Before, After, Goal).
'$dcg_construct'(!, _, Before, After, (!, After = Before)).
'$dcg_construct'({}, _, Before, Before, true).
'$dcg_construct'({Goal}, Module, Before, After, (Qualified, After = Before)) :-
    '$dcg_qualify'(Module, Goal, Qualified).
'$dcg_construct'((First,Second), Module, Before, After, (FirstGoal,SecondGoal)) :-
    '$dcg_body'(First, Module, Before, Between, FirstGoal),
    '$dcg_body'(Second, Module, Between, After, SecondGoal).
'$dcg_construct'((Left;Right), Module, Before, After, (LeftGoal;RightGoal)) :-
    '$dcg_branch'(Left, Module, Before, After, LeftGoal),
    '$dcg_branch'(Right, Module, Before, After, RightGoal).
'$dcg_construct'('|'(Left,Right), Module, Before, After, (LeftGoal;RightGoal)) :-
    '$dcg_branch'(Left, Module, Before, After, LeftGoal),
    '$dcg_branch'(Right, Module, Before, After, RightGoal).
'$dcg_construct'((If->Then), Module, Before, After, (IfGoal->ThenGoal)) :-
    '$dcg_body'(If, Module, Before, Between, IfGoal),
    '$dcg_body'(Then, Module, Between, After, ThenGoal).
'$dcg_construct'((If*->Then), Module, Before, After, (IfGoal*->ThenGoal)) :-
    '$dcg_body'(If, Module, Before, Between, IfGoal),
    '$dcg_body'(Then, Module, Between, After, ThenGoal).
'$dcg_construct'(\+ Body, Module, Before, After, (\+ Goal, After = Before)) :-
    '$dcg_body'(Body, Module, Before, _, Goal).
'$dcg_construct'(Module:Body, _, Before, After, Goal) :-
    '$dcg_body'(Body, Module, Before, After, Goal).

'$dcg_qualify'(Module, Goal, Qualified) :-
    (   Module == user
    ->  Qualified = Goal
    ;   Qualified = Module:Goal
    ).

% A branch that consumes nothing must not tie Before to After while the rule
% is translated: the other branch would be tied with it. The branches of a
% disjunction in a branch see to that themselves, and share After: a variable
% for each would be bound to that of the branch around it, in a long chain.
'$dcg_branch'(Body, Module, Before, After, Goal) :-
    (   nonvar(Body),
        '$dcg_disjunction'(Body)
    ->  '$dcg_construct'(Body, Module, Before, After, Goal)
    ;   '$dcg_body'(Body, Module, Before, End, Parse),
        '$dcg_leave'(End, Parse, Before, After, Goal)
    ).

'$dcg_disjunction'((_;_)).
'$dcg_disjunction'('|'(_,_)).

'$dcg_leave'(End, Parse, Before, After, Goal) :-
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
    '$strip_module'(Body, user, Module, Plain),
    (   nonvar(Plain),
        '$dcg_control'(Plain)
    ->  '$dcg_body'(Plain, Module, First, Last, Goal),
        Before = First,
        After = Last,
        call(Goal)
    ;   call(Body, Before, After)
    ).

'$strip_module'(Term, Outer, Module, Plain) :-
    (   nonvar(Term),
        Term = Inner:Rest
    ->  '$strip_module'(Rest, Inner, Module, Plain)
    ;   Module = Outer,
        Plain = Term
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
