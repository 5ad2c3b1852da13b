% Goals that wait for variables: freeze/2, dif/2, when/2, and what still waits.
%
% A waiting goal is attached with '$suspend' and called when its variable is
% bound, to a term or to another variable. One that waits for several variables
% carries a Done mark: it is bound when the goal has had its effect, and calls
% that come later do nothing.

freeze(Variable, Goal) :-
    (   var(Variable)
    ->  '$suspend'(Variable, '$frozen'(Variable, Goal))
    ;   call(Goal)
    ).

'$frozen'(Variable, Goal) :-
    freeze(Variable, Goal).

% Attaches a goal with a Done mark to each variable of a list, unless it is
% there already.
'$suspend_each'([], _, _).
'$suspend_each'([Term|Terms], Goal, Done) :-
    (   var(Term),
        '$suspended'(Term, Waiting),
        \+ '$waits_already'(Waiting, Done)
    ->  '$suspend'(Term, Goal)
    ;   true
    ),
    '$suspend_each'(Terms, Goal, Done).

'$waits_already'([Goal|Goals], Done) :-
    (   '$done_mark'(Goal, Mark),
        Mark == Done
    ->  true
    ;   '$waits_already'(Goals, Done)
    ).

'$done_mark'('$dif'(_, _, Done), Done).
'$done_mark'('$when'(_, _, Done), Done).

% Two terms differ for good once they cannot be unified. Until then the two
% sides of one pair that would have to be unified are watched: while that pair
% stays apart, so do the terms.
dif(Left, Right) :-
    Left \== Right,
    (   '$unifiable'(Left, Right, Pairs)
    ->  '$pair_sides'(Pairs, Lefts, Rights),
        '$dif_sides'(Lefts, Rights, LeftSide, RightSide),
        Pairs = [First=Second|_],
        Goal = '$dif'(LeftSide, RightSide, _),
        '$suspend'(First, Goal),
        (   var(Second)
        ->  '$suspend'(Second, Goal)
        ;   true
        )
    ;   true
    ).

'$dif'(Left, Right, Done) :-
    (   nonvar(Done)
    ->  true
    ;   '$unifiable'(Left, Right, Pairs)
    ->  Pairs = [First=Second|_],
        '$suspend_each'([First,Second], '$dif'(Left, Right, Done), Done)
    ;   Done = true
    ).

% The unifier lists the last pair first.
'$pair_sides'(Pairs, Lefts, Rights) :-
    '$pair_sides'(Pairs, [], [], Lefts, Rights).

'$pair_sides'([], Lefts, Rights, Lefts, Rights).
'$pair_sides'([Left=Right|Pairs], Lefts0, Rights0, Lefts, Rights) :-
    '$pair_sides'(Pairs, [Left|Lefts0], [Right|Rights0], Lefts, Rights).

'$dif_sides'([Left], [Right], Left, Right) :-
    !.
'$dif_sides'(Lefts, Rights, Left, Right) :-
    Left =.. [f|Lefts],
    Right =.. [f|Rights].

when(Condition, Goal) :-
    '$condition'(Condition, Condition, Rest),
    (   Rest == true
    ->  call(Goal)
    ;   '$condition_variables'(Rest, Variables, []),
        '$suspend_each'(Variables, '$when'(Rest, Goal, Done), Done)
    ).

'$when'(Condition, Goal, Done) :-
    (   nonvar(Done)
    ->  true
    ;   '$condition'(Condition, Condition, Rest),
        (   Rest == true
        ->  Done = true,
            call(Goal)
        ;   '$condition_variables'(Rest, Variables, []),
            '$suspend_each'(Variables, '$when'(Rest, Goal, Done), Done)
        )
    ).

% Rest is what remains to be met of Condition, true if nothing. Whole is the
% condition to blame.
'$condition'(Condition, Whole, Rest) :-
    (   var(Condition)
    ->  instantiation_error(Condition)
    ;   '$condition_rest'(Condition, Whole, Rest)
    ->  true
    ;   domain_error(when_condition, Whole)
    ).

'$condition_rest'(nonvar(Term), _, Rest) :-
    (   nonvar(Term)
    ->  Rest = true
    ;   Rest = nonvar(Term)
    ).
'$condition_rest'(ground(Term), _, Rest) :-
    (   ground(Term)
    ->  Rest = true
    ;   Rest = ground(Term)
    ).
'$condition_rest'(?=(Left,Right), _, Rest) :-
    (   Left \== Right,
        '$unifiable'(Left, Right, _)
    ->  Rest = ?=(Left,Right)
    ;   Rest = true
    ).
'$condition_rest'((First,Second), Whole, Rest) :-
    '$condition'(First, Whole, FirstRest),
    '$condition'(Second, Whole, SecondRest),
    (   FirstRest == true
    ->  Rest = SecondRest
    ;   SecondRest == true
    ->  Rest = FirstRest
    ;   Rest = (FirstRest,SecondRest)
    ).
'$condition_rest'((First;Second), Whole, Rest) :-
    '$condition'(First, Whole, FirstRest),
    (   FirstRest == true
    ->  Rest = true
    ;   '$condition'(Second, Whole, SecondRest),
        (   SecondRest == true
        ->  Rest = true
        ;   Rest = (FirstRest;SecondRest)
        )
    ).

% The variables to watch: of a conjunction those of its first part, for the
% condition is looked at again when that part is met.
'$condition_variables'(nonvar(Variable), [Variable|Tail], Tail).
'$condition_variables'(ground(Term), [Variable|Tail], Tail) :-
    term_variables(Term, [Variable|_]).
'$condition_variables'(?=(Left,Right), Variables, Tail) :-
    '$unifiable'(Left, Right, Pairs),
    '$pairs_variables'(Pairs, Variables, Tail).
'$condition_variables'((First,_), Variables, Tail) :-
    '$condition_variables'(First, Variables, Tail).
'$condition_variables'((First;Second), Variables, Tail) :-
    '$condition_variables'(First, Variables, Middle),
    '$condition_variables'(Second, Middle, Tail).

'$pairs_variables'([], Tail, Tail).
'$pairs_variables'([Left=Right|Pairs], [Left,Right|Variables], Tail) :-
    '$pairs_variables'(Pairs, Variables, Tail).

% What waits for the variables of Term, as a conjunction.
frozen(Term, Goal) :-
    '$residual_goals'(Term, Goals),
    sort(Goals, Sorted),
    '$conjunction'(Sorted, Goal).

'$conjunction'([], true).
'$conjunction'([Goal|Goals], Conjunction) :-
    (   Goals == []
    ->  Conjunction = Goal
    ;   Conjunction = (Goal,Rest),
        '$conjunction'(Goals, Rest)
    ).

% Copy has plain variables; Goals would make them wait as those of Term do.
copy_term(Term, Copy, Goals) :-
    '$residual_goals'(Term, Residual),
    copy_term_nat(Term+Residual, Copy+Goals).

% The waiting goals of all variables of Term, and of the variables that these
% goals mention, each as the call that would make it wait.
'$residual_goals'(Term, Goals) :-
    term_variables(Term, Variables),
    '$waiting_variables'(Variables, [], Waiting),
    sort(Waiting, Sorted),
    '$residual_each'(Sorted, [], Goals).

'$waiting_variables'([], Waiting, Waiting).
'$waiting_variables'([Variable|Variables], Before, After) :-
    (   '$suspended'(Variable, Goals),
        Goals \== [],
        \+ '$identical_member'(Before, Variable)
    ->  term_variables(Goals, Inner),
        '$waiting_variables'(Inner, [Variable|Before], Between),
        '$waiting_variables'(Variables, Between, After)
    ;   '$waiting_variables'(Variables, Before, After)
    ).

'$residual_each'([], _, []).
'$residual_each'([Variable|Variables], Seen, Goals) :-
    '$suspended'(Variable, Waiting),
    '$unseen'(Waiting, Seen, NowSeen, Unseen),
    '$residual_kinds'(Unseen, Goals, Rest),
    '$residual_each'(Variables, NowSeen, Rest).

% Leaves out what has had its effect or was met at another variable.
'$unseen'([], Seen, Seen, []).
'$unseen'([Goal|Goals], Seen, NowSeen, Unseen) :-
    (   '$done_mark'(Goal, Done)
    ->  (   ( nonvar(Done) ; '$identical_member'(Seen, Done) )
        ->  '$unseen'(Goals, Seen, NowSeen, Unseen)
        ;   Unseen = [Goal|Rest],
            '$unseen'(Goals, [Done|Seen], NowSeen, Rest)
        )
    ;   Unseen = [Goal|Rest],
        '$unseen'(Goals, Seen, NowSeen, Rest)
    ).

% The goals of one kind stay together, in the order of their first.
'$residual_kinds'([], Goals, Goals).
'$residual_kinds'([Goal|Waiting], Goals, Tail) :-
    functor(Goal, Kind, _),
    '$same_kind'(Waiting, Kind, Same, Others),
    '$residual_order'(Kind, Same, Ordered),
    '$residuals'([Goal|Ordered], Goals, Middle),
    '$residual_kinds'(Others, Middle, Tail).

'$same_kind'([], _, [], []).
'$same_kind'([Goal|Goals], Kind, Same, Others) :-
    (   functor(Goal, Kind, _)
    ->  Same = [Goal|Rest],
        '$same_kind'(Goals, Kind, Rest, Others)
    ;   Others = [Goal|Rest],
        '$same_kind'(Goals, Kind, Same, Rest)
    ).

% SWI-Prolog shows the first dif/2 of a variable, then the newest ones.
'$residual_order'(Kind, Goals, Ordered) :-
    (   Kind == '$dif'
    ->  reverse(Goals, Ordered)
    ;   Ordered = Goals
    ).

'$residuals'([], Goals, Goals).
'$residuals'([Waiting|Others], Goals, Tail) :-
    '$residual'(Waiting, Goals, Middle),
    '$residuals'(Others, Middle, Tail).

'$residual'('$frozen'(Variable, Goal), [freeze(Variable,Qualified)|Tail], Tail) :-
    '$qualified'(Goal, Qualified).
'$residual'('$when'(Condition, Goal, _), [when(Condition,Qualified)|Tail], Tail) :-
    '$qualified'(Goal, Qualified).
'$residual'('$dif'(Left, Right, _), Goals, Tail) :-
    (   '$unifiable'(Left, Right, Pairs)
    ->  Goals = [dif(LeftSide,RightSide)|Tail],
        '$residual_sides'(Pairs, Left, Right, LeftSide, RightSide)
    ;   Goals = Tail
    ).

% The sides as they were given while one of them is a variable, else the pairs
% that still keep them apart.
'$residual_sides'(Pairs, Left, Right, LeftSide, RightSide) :-
    (   ( var(Left) ; var(Right) )
    ->  LeftSide = Left,
        RightSide = Right
    ;   '$pair_sides'(Pairs, Lefts, Rights),
        '$dif_sides'(Lefts, Rights, LeftSide, RightSide)
    ).

% Goals are shown with the module that they are called in.
'$qualified'(Goal, Qualified) :-
    (   nonvar(Goal),
        Goal = _:_
    ->  Qualified = Goal
    ;   Qualified = user:Goal
    ).
