% A meta-interpreter for policies, which returns each answer with its proof and each failure with its reason.
%
% It has the same answers as the compiled policy in the same order: goals that it does not interpret are called. Every name
% starts with `$why`, and nothing here calls a library predicate, because a policy may define its own `member/2`.
%
% The result is a list of step(Kind, Text, Items, Steps). Kind is one of
%
%   clause(Name, Arity, Index)   a clause of the policy, with the steps of its body
%   fact                         a fact of the host
%   compare(Operator, L, R)      an arithmetic comparison, with the values of its sides
%   absent                       \+, with how close its goal came to succeeding
%   present                      \+ that failed, with the proof that made it fail
%   collected                    findall and similar goals, with the items, and the facts they came from
%   every                        forall, with a counterexample if it failed
%   test                         any other goal
%   goal(Index)                  in a reason for failure: the goal of a body that was reached and failed
%   skipped                      in a reason for failure: the clause would apply, but a cut in an earlier clause skipped it

% '$why'(Instance, Operation, Target, Clause, Steps): the answers of operation/3, each with its proof.
'$why'(Instance, Operation, Target, Clause, Steps) :-
    '$why_goal'(operation(Operation, Instance, Target), 8, clause(_, Clause, Proof)),
    '$why_steps'(Proof, Steps, []).

% '$why_head'(Instance, Clause, Operation): the clauses of operation/3 that may apply to Instance; Operation is `any`
% if the head leaves it open.
'$why_head'(Instance, Clause, Operation) :-
    '$why_clause'(operation(Found, Instance, _), Clause, _),
    ( var(Found) -> Operation = any ; Operation = Found ).

% '$why_not'(Clause, Operation, Instance, Steps): why this clause has no answer.
'$why_not'(Clause, Operation, Instance, Steps) :-
    '$why_clause'(operation(Operation, Instance, _), Clause, Body),
    !,
    (   \+ \+ call(Body)
    ->  Steps = [step(skipped, '', [], [])]
    ;   '$why_miss'(Body, 6, Steps)
    ).

% Proofs. A cut inside Goal is local to it: when a body is re-entered after its cut, it returns the signal `cut`, and
% the caller to which the cut is local stops there.
'$why_prove'(Goal, Depth, Proof) :-
    '$why_body'(Goal, Depth, Signal, Proof),
    ( Signal == cut -> !, fail ; true ).

'$why_body'(Goal, Depth, Signal, Proof) :-
    (   '$why_is_control'(Goal)
    ->  '$why_control'(Goal, Depth, Signal, Proof)
    ;   Signal = go,
        '$why_goal'(Goal, Depth, Proof)
    ).

'$why_is_control'(Goal) :-
    nonvar(Goal),
    '$why_is_control_'(Goal).

'$why_is_control_'((_, _)).
'$why_is_control_'((_ ; _)).
'$why_is_control_'((_ -> _)).
'$why_is_control_'((_ *-> _)).
'$why_is_control_'(!).
'$why_is_control_'(true).

'$why_control'(true, _, go, true).
'$why_control'(!, _, go, true).
'$why_control'(!, _, cut, true).
'$why_control'((A, B), Depth, Signal, and(P, Q)) :-
    '$why_body'(A, Depth, First, P),
    ( First == cut -> Signal = cut, Q = true ; '$why_body'(B, Depth, Signal, Q) ).
'$why_control'((If -> Then), Depth, Signal, and(P, Q)) :-
    ( '$why_prove'(If, Depth, P) -> '$why_body'(Then, Depth, Signal, Q) ).
'$why_control'((If *-> Then), Depth, Signal, and(P, Q)) :-
    '$why_prove'(If, Depth, P),
    '$why_body'(Then, Depth, Signal, Q).
'$why_control'((A ; B), Depth, Signal, Proof) :-
    '$why_either'(A, B, Depth, Signal, Proof).

'$why_either'(A, B, Depth, Signal, Proof) :-
    (   nonvar(A), A = (If -> Then)
    ->  (   '$why_prove'(If, Depth, P)
        ->  Proof = and(P, Q),
            '$why_body'(Then, Depth, Signal, Q)
        ;   '$why_body'(B, Depth, Signal, Proof)
        )
    ;   nonvar(A), A = (If *-> Then)
    ->  (   '$why_prove'(If, Depth, P)
        *-> Proof = and(P, Q),
            '$why_body'(Then, Depth, Signal, Q)
        ;   '$why_body'(B, Depth, Signal, Proof)
        )
    ;   (   '$why_body'(A, Depth, Signal, Proof)
        ;   '$why_body'(B, Depth, Signal, Proof)
        )
    ).

'$why_goal'(Goal, Depth, Proof) :-
    '$why_kind'(Goal, Kind),
    '$why_goal'(Kind, Goal, Depth, Proof).

'$why_goal'(clauses, Goal, Depth, Proof) :-
    (   Depth =< 0
    ->  call(Goal),
        Proof = test(Goal)
    ;   Deeper is Depth - 1,
        '$why_clause'(Goal, Index, Body),
        '$why_body'(Body, Deeper, Signal, Inner),
        ( Signal == cut -> !, fail ; true ),
        Proof = clause(Goal, Index, Inner)
    ).
'$why_goal'(fact, Goal, _, fact(Goal)) :-
    call(Goal).
'$why_goal'(compare, Goal, _, compare(Goal)) :-
    call(Goal).
'$why_goal'(test, Goal, _, test(Goal)) :-
    call(Goal).
'$why_goal'(inner(Goal), _, Depth, Proof) :-
    '$why_prove'(Goal, Depth, Proof).
'$why_goal'(once(Goal), _, Depth, Proof) :-
    ( '$why_prove'(Goal, Depth, Proof) -> true ).
'$why_goal'(ignore(Goal), _, Depth, Proof) :-
    ( '$why_prove'(Goal, Depth, Proof) -> true ; Proof = true ).
'$why_goal'(not(Goal), Whole, Depth, absent(Text, Steps)) :-
    \+ Goal,
    '$why_text'(Whole, Text),
    '$why_absent'(Goal, Depth, Steps).
'$why_goal'(forall(If, Then), Whole, _, every(Text, Items)) :-
    forall(If, Then),
    '$why_text'(Whole, Text),
    '$why_items'(If, If, Items).
'$why_goal'(collect(Template, Goal), Whole, Depth, collected(Whole, Items, Facts)) :-
    call(Whole),
    '$why_items'(Template, Goal, Items),
    Deeper is Depth - 1,
    findall(Proof, '$why_prove'(Goal, Deeper, Proof), Proofs),
    '$why_all_facts'(Proofs, All, []),
    '$why_distinct'(All, [], 30, Facts).
'$why_goal'(catch(Goal, Ball, Recovery), _, Depth, Proof) :-
    catch('$why_prove'(Goal, Depth, Proof), Ball, '$why_prove'(Recovery, Depth, Proof)).

% How close the goal of \+ came to succeeding; only computed if that is cheap.
'$why_absent'(Goal, Depth, Steps) :-
    (   Depth > 2
    ->  Less is min(Depth - 2, 3),
        '$why_miss'(Goal, Less, Steps)
    ;   Steps = []
    ).

'$why_kind'(Goal, Kind) :-
    (   var(Goal)
    ->  Kind = test
    ;   Goal = _:Inner
    ->  Kind = inner(Inner)
    ;   predicate_property(Goal, number_of_clauses(_))
    ->  Kind = clauses
    ;   '$why_is_fact'(Goal)
    ->  Kind = fact
    ;   '$why_known'(Goal, Known)
    ->  Kind = Known
    ;   '$why_called'(Goal, Called)
    ->  Kind = inner(Called)
    ;   Kind = test
    ).

'$why_is_fact'(Goal) :-
    predicate_property(Goal, foreign).

'$why_known'(_ > _, compare).
'$why_known'(_ < _, compare).
'$why_known'(_ >= _, compare).
'$why_known'(_ =< _, compare).
'$why_known'(_ =:= _, compare).
'$why_known'(_ =\= _, compare).
'$why_known'(\+ Goal, not(Goal)).
'$why_known'(not(Goal), not(Goal)).
'$why_known'(once(Goal), once(Goal)).
'$why_known'(ignore(Goal), ignore(Goal)).
'$why_known'(forall(If, Then), forall(If, Then)).
'$why_known'(findall(Template, Goal, _), collect(Template, Goal)).
'$why_known'(findall(Template, Goal, _, _), collect(Template, Goal)).
'$why_known'(aggregate_all(Template, Goal, _), collect(Shown, Goal)) :-
    nonvar(Template),
    '$why_template'(Template, Shown).
'$why_known'(catch(Goal, Ball, Recovery), catch(Goal, Ball, Recovery)).

'$why_template'(count, x).
'$why_template'(sum(Item), Item).
'$why_template'(max(Item), Item).
'$why_template'(min(Item), Item).
'$why_template'(max(Item, Witness), Item-Witness).
'$why_template'(min(Item, Witness), Item-Witness).
'$why_template'(bag(Item), Item).
'$why_template'(set(Item), Item).

'$why_called'(Goal, Called) :-
    Goal =.. [call, First|More],
    callable(First),
    (   More == []
    ->  Called = First
    ;   First \= _:_,
        First =.. Parts,
        '$why_append'(Parts, More, All),
        Called =.. All
    ).

'$why_append'([], List, List).
'$why_append'([Item|Items], List, [Item|All]) :-
    '$why_append'(Items, List, All).

% '$why_clause'(Goal, Index, Body): the clauses that match, with zero-based indexes. All clauses are visited, to count them.
'$why_clause'(Goal, Index, Body) :-
    functor(Goal, Name, Arity),
    functor(General, Name, Arity),
    findall(General-Inner, clause(General, Inner), Clauses),
    '$why_nth'(Clauses, 0, Index, Goal-Body).

'$why_nth'([Clause|Clauses], Index, Found, Wanted) :-
    (   Clauses == []
    ->  Found = Index,
        Wanted = Clause
    ;   (   Found = Index,
            Wanted = Clause
        ;   Next is Index + 1,
            '$why_nth'(Clauses, Next, Found, Wanted)
        )
    ).

'$why_items'(Template, Goal, Texts) :-
    '$why_plain'(Goal, Plain),
    findall(Template, Plain, Items),
    '$why_texts'(Items, Texts).

'$why_plain'(Goal, Plain) :-
    (   nonvar(Goal), Goal = _ ^ Inner
    ->  '$why_plain'(Inner, Plain)
    ;   Plain = Goal
    ).

'$why_all_facts'([], Facts, Facts).
'$why_all_facts'([Proof|Proofs], Facts, Rest) :-
    '$why_facts'(Proof, Facts, More),
    '$why_all_facts'(Proofs, More, Rest).

'$why_facts'(Proof, Facts, Rest) :-
    (   Proof = and(P, Q)
    ->  '$why_facts'(P, Facts, More),
        '$why_facts'(Q, More, Rest)
    ;   Proof = clause(_, _, Inner)
    ->  '$why_facts'(Inner, Facts, Rest)
    ;   Proof = fact(Goal)
    ->  Facts = [Goal|Rest]
    ;   Proof = collected(_, _, Inner)
    ->  '$why_append'(Inner, Rest, Facts)
    ;   Facts = Rest
    ).

% Converts proofs to steps, after the answer is complete and its variables are bound.
'$why_steps'(true, Steps, Steps).
'$why_steps'(and(P, Q), Steps, Rest) :-
    '$why_steps'(P, Steps, More),
    '$why_steps'(Q, More, Rest).
'$why_steps'(clause(Goal, Index, Proof), [step(clause(Name, Arity, Index), Text, [], Inner)|Rest], Rest) :-
    functor(Goal, Name, Arity),
    '$why_text'(Goal, Text),
    '$why_steps'(Proof, Inner, []).
'$why_steps'(fact(Goal), [step(fact, Text, [], [])|Rest], Rest) :-
    '$why_text'(Goal, Text).
'$why_steps'(compare(Goal), [Step|Rest], Rest) :-
    '$why_comparison'(Goal, Step).
'$why_steps'(test(Goal), [step(test, Text, [], [])|Rest], Rest) :-
    '$why_text'(Goal, Text).
'$why_steps'(absent(Text, Inner), [step(absent, Text, [], Inner)|Rest], Rest).
'$why_steps'(every(Text, Items), [step(every, Text, Items, [])|Rest], Rest).
'$why_steps'(collected(Goal, Items, Facts), [step(collected, Text, Items, Inner)|Rest], Rest) :-
    '$why_text'(Goal, Text),
    '$why_fact_steps'(Facts, Inner).

'$why_fact_steps'([], []).
'$why_fact_steps'([Fact|Facts], [step(fact, Text, [], [])|Steps]) :-
    '$why_text'(Fact, Text),
    '$why_fact_steps'(Facts, Steps).

'$why_comparison'(Goal, step(compare(Operator, Left, Right), Text, [], [])) :-
    Goal =.. [Operator, L, R],
    Left is L,
    Right is R,
    Values =.. [Operator, Left, Right],
    (   L-R == Left-Right
    ->  '$why_text'(Goal, Text)
    ;   '$why_text'(Goal, Formula),
        '$why_text'(Values, Shown),
        atom_concat(Formula, ', that is ', Before),
        atom_concat(Before, Shown, Text)
    ).

% Reasons for failure. '$why_miss'(Goal, Depth, Steps): Goal has no answer, and Steps explains why.
'$why_miss'(Goal, Depth, Steps) :-
    (   nonvar(Goal), Goal = (_, _)
    ->  '$why_goals'(Goal, Goals, []),
        '$why_furthest'(Goals, true, 1, Furthest, _),
        '$why_furthest_steps'(Furthest, Depth, Steps)
    ;   nonvar(Goal), Goal = (A ; B)
    ->  '$why_miss_either'(A, B, Depth, Steps)
    ;   nonvar(Goal), ( Goal = (If -> Then) ; Goal = (If *-> Then) )
    ->  '$why_miss_if'(If, Then, If, Depth, Steps)
    ;   '$why_kind'(Goal, Kind),
        '$why_miss'(Kind, Goal, Depth, Steps)
    ).

'$why_miss_either'(A, B, Depth, Steps) :-
    (   nonvar(A), ( A = (If -> Then) ; A = (If *-> Then) )
    ->  ( ( B == fail ; B == false ) -> Else = If ; Else = B ),
        '$why_miss_if'(If, Then, Else, Depth, Steps)
    ;   '$why_miss'(A, Depth, First),
        '$why_miss'(B, Depth, Second),
        '$why_append'(First, Second, Steps)
    ).

'$why_miss_if'(If, Then, Else, Depth, Steps) :-
    findall(Then, once(If), Found),
    (   Found = [Reached]
    ->  '$why_miss'(Reached, Depth, Steps)
    ;   '$why_miss'(Else, Depth, Steps)
    ).

'$why_goals'(Goal, Goals, Rest) :-
    (   nonvar(Goal), Goal = (A, B)
    ->  '$why_goals'(A, Goals, More),
        '$why_goals'(B, More, Rest)
    ;   Goals = [Goal|Rest]
    ).

% The goals of a body before the furthest one that fails have answers. Furthest is furthest(Index, Goals, Before): the
% instances of that goal that were called, and the goals before the first of them. Committed says whether a cut was
% passed.
'$why_furthest'([Goal|Goals], Before, Index, Furthest, Committed) :-
    (   Goals \== [],
        \+ \+ call((Before, Goal))
    ->  Next is Index + 1,
        ( Goal == ! -> Committed = true ; true ),
        '$why_furthest'(Goals, (Before, Goal), Next, Furthest, Committed)
    ;   Furthest = furthest(Index, Distinct, Done),
        findall(Goal, Before, All),
        '$why_distinct'(All, [], 30, Distinct),
        findall(Before, once(Before), [Conjunction]),
        '$why_goals'(Conjunction, Done, [])
    ).

'$why_distinct'(Items, Seen, Count, Distinct) :-
    (   ( Items == [] ; Count =:= 0 )
    ->  Distinct = []
    ;   Items = [Item|More],
        (   '$why_seen'(Seen, Item)
        ->  '$why_distinct'(More, Seen, Count, Distinct)
        ;   Distinct = [Item|Rest],
            Less is Count - 1,
            '$why_distinct'(More, [Item|Seen], Less, Rest)
        )
    ).

'$why_seen'([Item|Items], Wanted) :-
    (   Item =@= Wanted
    ->  true
    ;   '$why_seen'(Items, Wanted)
    ).

'$why_furthest_steps'(furthest(Index, Goals, Before), Depth, Steps) :-
    '$why_collected'(Before, Depth, Steps, More),
    '$why_goal_steps'(Goals, Index, Depth, More).

% A failed comparison depends on the items collected before it, so the reasons for an empty collection are shown, too.
'$why_collected'([], _, Steps, Steps).
'$why_collected'([Goal|Goals], Depth, Steps, Rest) :-
    (   '$why_kind'(Goal, Kind), Kind = collect(_, _)
    ->  '$why_miss'(Kind, Goal, Depth, [Step]),
        Steps = [Step|More]
    ;   Steps = More
    ),
    '$why_collected'(Goals, Depth, More, Rest).

'$why_goal_steps'([], _, _, []).
'$why_goal_steps'([Goal|Goals], Index, Depth, [step(goal(Index), Text, [], Inner)|Steps]) :-
    '$why_text'(Goal, Text),
    '$why_miss'(Goal, Depth, Inner),
    '$why_goal_steps'(Goals, Index, Depth, Steps).

'$why_miss'(clauses, Goal, Depth, Steps) :-
    (   Depth =< 0
    ->  '$why_leaf'(test, Goal, Steps)
    ;   findall(match(Index, Goal, Body), '$why_clause'(Goal, Index, Body), Matches),
        (   Matches == []
        ->  '$why_leaf'(test, Goal, Steps)
        ;   Deeper is Depth - 1,
            '$why_miss_clauses'(Matches, Deeper, Steps)
        )
    ).
'$why_miss'(fact, Goal, _, Steps) :-
    '$why_leaf'(fact, Goal, Steps).
'$why_miss'(compare, Goal, _, [Step]) :-
    '$why_comparison'(Goal, Step).
'$why_miss'(test, Goal, _, Steps) :-
    '$why_leaf'(test, Goal, Steps).
'$why_miss'(inner(Goal), _, Depth, Steps) :-
    '$why_miss'(Goal, Depth, Steps).
'$why_miss'(once(Goal), _, Depth, Steps) :-
    '$why_miss'(Goal, Depth, Steps).
'$why_miss'(ignore(_), Goal, _, Steps) :-
    '$why_leaf'(test, Goal, Steps).
'$why_miss'(catch(_, _, _), Goal, _, Steps) :-
    '$why_leaf'(test, Goal, Steps).
'$why_miss'(not(Goal), Whole, Depth, [step(present, Text, [], Steps)]) :-
    '$why_text'(Whole, Text),
    once('$why_prove'(Goal, Depth, Proof)),
    '$why_steps'(Proof, Steps, []).
'$why_miss'(forall(If, Then), Whole, Depth, [step(every, Text, [Shown], Steps)]) :-
    '$why_text'(Whole, Text),
    findall(If-Then, ( If, \+ Then ), [Counter-Broken|_]),
    '$why_text'(Counter, Shown),
    '$why_miss'(Broken, Depth, Steps).
'$why_miss'(collect(Template, Goal), Whole, Depth, [step(collected, Text, Items, Steps)]) :-
    '$why_text'(Whole, Text),
    '$why_items'(Template, Goal, Items),
    ( Items == [] -> '$why_miss'(Goal, Depth, Steps) ; Steps = [] ).

'$why_leaf'(Kind, Goal, [step(Kind, Text, [], [])]) :-
    '$why_text'(Goal, Text).

% If a clause passed a cut before it failed, no later clause was tried.
'$why_miss_clauses'([], _, []).
'$why_miss_clauses'([match(Index, Goal, Body)|Matches], Depth, [Step|Steps]) :-
    functor(Goal, Name, Arity),
    '$why_text'(Goal, Text),
    '$why_goals'(Body, Goals, []),
    '$why_furthest'(Goals, true, 1, Furthest, Committed),
    '$why_furthest_steps'(Furthest, Depth, Inner),
    Step = step(clause(Name, Arity, Index), Text, [], Inner),
    (   Committed == true
    ->  Steps = []
    ;   '$why_miss_clauses'(Matches, Depth, Steps)
    ).
