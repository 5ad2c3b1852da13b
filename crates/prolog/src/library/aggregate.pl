% Aggregation over the solutions of a goal.
%
% A template is count, sum(E), min(E), max(E), min(E,Witness), max(E,Witness),
% bag(E), set(E), or a compound of these.

aggregate_all(Template, Goal, Result) :-
    (   var(Template)
    ->  instantiation_error(Template)
    ;   '$aggregate_all'(Template, Goal, Result)
    ).

'$aggregate_all'(count, Goal, Count) :-
    !,
    findall(x, Goal, Marks),
    length(Marks, Found),
    Count = Found.
'$aggregate_all'(sum(Expression), Goal, Sum) :-
    !,
    findall(Expression, Goal, Values),
    '$sum'(Values, 0, Sum).
'$aggregate_all'(max(Expression), Goal, Max) :-
    !,
    findall(Expression, Goal, Values),
    '$maximum'(Values, Expression, Max).
'$aggregate_all'(min(Expression), Goal, Min) :-
    !,
    findall(Expression, Goal, Values),
    '$minimum'(Values, Expression, Min).
'$aggregate_all'(max(Expression,Witness), Goal, Result) :-
    !,
    findall(Expression-Witness, Goal, [First-FirstWitness|Pairs]),
    '$must_be_number'(First),
    '$max_pair'(Pairs, First, FirstWitness, Max, MaxWitness),
    Result = max(Max,MaxWitness).
'$aggregate_all'(min(Expression,Witness), Goal, Result) :-
    !,
    findall(Expression-Witness, Goal, [First-FirstWitness|Pairs]),
    '$must_be_number'(First),
    '$min_pair'(Pairs, First, FirstWitness, Min, MinWitness),
    Result = min(Min,MinWitness).
'$aggregate_all'(bag(Term), Goal, Bag) :-
    !,
    '$strip_existential'(Goal, true, Plain, _),
    findall(Term, Plain, Bag).
'$aggregate_all'(set(Term), Goal, Set) :-
    !,
    '$strip_existential'(Goal, true, Plain, _),
    findall(Term, Plain, Bag),
    sort(Bag, Set).
'$aggregate_all'(Template, Goal, Result) :-
    '$aggregate_plan'(Template, Pattern, Evaluation, _, Plan),
    '$strip_existential'(Goal, true, Plain, _),
    '$with_evaluation'(Evaluation, Plain, Whole),
    findall(Pattern, Whole, Rows),
    '$aggregate'(Plan, Rows, Result).

% Not must_be/2: a value that is still unbound is of the wrong type too.
'$must_be_number'(Value) :-
    (   number(Value)
    ->  true
    ;   type_error(number, Value)
    ).

aggregate_all(Template, Discriminator, Goal, Result) :-
    '$aggregate_plan'(Template, Pattern, Evaluation, _, Plan),
    '$strip_existential'(Goal, true, Plain, _),
    '$with_evaluation'(Evaluation, Plain, Whole),
    findall(Discriminator-Pattern, Whole, Pairs),
    sort(Pairs, Distinct),
    pairs_values(Distinct, Rows),
    '$aggregate'(Plan, Rows, Result).

% On bagof/3: backtracks over the variables that are free in Goal.
aggregate(Template, Goal, Result) :-
    '$aggregate_goal'(Template, Goal, Pattern, Whole, Plan),
    bagof(Pattern, Whole, Rows),
    '$aggregate'(Plan, Rows, Result).

aggregate(Template, Discriminator, Goal, Result) :-
    '$aggregate_goal'(Template, Goal, Pattern, Whole, Plan),
    setof(Discriminator-Pattern, Whole, Pairs),
    pairs_values(Pairs, Rows),
    '$aggregate'(Plan, Rows, Result).

'$aggregate_goal'(Template, Goal, Pattern, Bound^Whole, Plan) :-
    '$aggregate_plan'(Template, Pattern, Evaluation, Evaluated, Plan),
    '$strip_existential'(Goal, Evaluated, Plain, Bound),
    '$with_evaluation'(Evaluation, Plain, Whole).

'$with_evaluation'(Evaluation, Goal, Whole) :-
    (   Evaluation == true
    ->  Whole = Goal
    ;   Whole = (Goal,Evaluation)
    ).

% Pattern is what each solution contributes once Evaluation has run after it;
% Evaluated holds the expressions, whose variables are no longer free. Plan
% says what becomes of the patterns.
'$aggregate_plan'(Template, Pattern, Evaluation, Evaluated, Plan) :-
    (   '$aggregate_column'(Template, Pattern, Evaluation, Evaluated, Plan)
    ->  true
    ;   compound(Template)
    ->  Template =.. [Name|Columns],
        '$aggregate_columns'(Columns, Patterns, Evaluation, Evaluated, Plans),
        Pattern =.. [Name|Patterns],
        Plan = columns(Name,Plans)
    ;   '$invalid_template'(Template)
    ).

'$aggregate_columns'([], [], true, [], []).
'$aggregate_columns'([Template|Templates], [Pattern|Patterns], Evaluation,
                     [Evaluated|Others], [Plan|Plans]) :-
    (   '$aggregate_column'(Template, Pattern, First, Evaluated, Plan)
    ->  true
    ;   '$invalid_template'(Template)
    ),
    '$aggregate_columns'(Templates, Patterns, Rest, Others, Plans),
    '$with_evaluation'(Rest, First, Both),
    (   First == true
    ->  Evaluation = Rest
    ;   Evaluation = Both
    ).

'$invalid_template'(Template) :-
    (   var(Template)
    ->  instantiation_error(Template)
    ;   callable(Template)
    ->  domain_error(aggregate_template, Template)
    ;   type_error(aggregate_template, Template)
    ).

'$aggregate_column'(Template, Pattern, Evaluation, Evaluated, Plan) :-
    nonvar(Template),
    '$aggregate_template'(Template, Pattern, Evaluation, Evaluated, Plan).

'$aggregate_template'(count, 1, true, [], count).
'$aggregate_template'(sum(Expression), Value, Evaluation, Evaluated, sum) :-
    '$evaluate_unless_variable'(Expression, Value, Evaluation, Evaluated).
'$aggregate_template'(min(Expression), Value, Evaluation, Evaluated, min) :-
    '$evaluate_unless_variable'(Expression, Value, Evaluation, Evaluated).
'$aggregate_template'(max(Expression), Value, Value is Expression,
                      [Expression], max).
'$aggregate_template'(min(Expression,Witness), Value-Witness,
                      Value is Expression, [Expression], min_witness).
'$aggregate_template'(max(Expression,Witness), Value-Witness,
                      Value is Expression, [Expression], max_witness).
'$aggregate_template'(bag(Term), Term, true, [], bag).
'$aggregate_template'(set(Term), Term, true, [], set).

'$evaluate_unless_variable'(Expression, Value, Evaluation, Evaluated) :-
    (   var(Expression)
    ->  Value = Expression,
        Evaluation = true,
        Evaluated = []
    ;   Evaluation = (Value is Expression),
        Evaluated = [Expression]
    ).

'$aggregate'(count, Rows, Count) :-
    length(Rows, Found),
    Count = Found.
'$aggregate'(sum, Rows, Sum) :-
    '$sum'(Rows, 0, Sum).
'$aggregate'(min, Rows, Min) :-
    min_list(Rows, Min).
'$aggregate'(max, Rows, Max) :-
    max_list(Rows, Max).
'$aggregate'(min_witness, [First-FirstWitness|Rows], min(Min,Witness)) :-
    '$min_pair'(Rows, First, FirstWitness, Min, Witness).
'$aggregate'(max_witness, [First-FirstWitness|Rows], max(Max,Witness)) :-
    '$max_pair'(Rows, First, FirstWitness, Max, Witness).
'$aggregate'(bag, Rows, Rows).
'$aggregate'(set, Rows, Set) :-
    sort(Rows, Set).
'$aggregate'(columns(Name,Plans), Rows, Result) :-
    '$aggregate_each'(Plans, 1, Rows, Results),
    Result =.. [Name|Results].

'$aggregate_each'([], _, _, []).
'$aggregate_each'([Plan|Plans], Position, Rows, [Result|Results]) :-
    '$row_column'(Rows, Position, Column),
    '$aggregate_values'(Plan, Column, Result),
    Next is Position + 1,
    '$aggregate_each'(Plans, Next, Rows, Results).

% Beside other columns, an integer and a float that compare equal meet in the
% opposite order.
'$aggregate_values'(Plan, Column, Result) :-
    (   Plan == min
    ->  Column = [Value|Values],
        '$min_of'(Values, Value, Result)
    ;   Plan == max
    ->  Column = [Value|Values],
        '$max_of'(Values, Value, Result)
    ;   '$aggregate'(Plan, Column, Result)
    ).

'$row_column'([], _, []).
'$row_column'([Row|Rows], Position, [Value|Column]) :-
    arg(Position, Row, Value),
    '$row_column'(Rows, Position, Column).

'$sum'([], Sum, Sum).
'$sum'([Value|Values], Before, Sum) :-
    After is Before + Value,
    '$sum'(Values, After, Sum).

% Without solutions the expression itself stands for the result, if it is bound.
'$maximum'([], Expression, Max) :-
    nonvar(Expression),
    Max = Expression.
'$maximum'([Value|Values], _, Max) :-
    First is max(Value, Value),
    '$max_of'(Values, First, Max).

'$max_of'([], Max, Max).
'$max_of'([Value|Values], Before, Max) :-
    After is max(Before, Value),
    '$max_of'(Values, After, Max).

'$minimum'([], Expression, Min) :-
    nonvar(Expression),
    Min = Expression.
'$minimum'([Value|Values], _, Min) :-
    First is min(Value, Value),
    '$min_of'(Values, First, Min).

'$min_of'([], Min, Min).
'$min_of'([Value|Values], Before, Min) :-
    After is min(Before, Value),
    '$min_of'(Values, After, Min).

% The first of equal values keeps its witness.
'$max_pair'([], Max, Witness, Max, Witness).
'$max_pair'([Value-Candidate|Pairs], Before, BeforeWitness, Max, Witness) :-
    (   Value > Before
    ->  '$max_pair'(Pairs, Value, Candidate, Max, Witness)
    ;   '$max_pair'(Pairs, Before, BeforeWitness, Max, Witness)
    ).

'$min_pair'([], Min, Witness, Min, Witness).
'$min_pair'([Value-Candidate|Pairs], Before, BeforeWitness, Min, Witness) :-
    (   Value < Before
    ->  '$min_pair'(Pairs, Value, Candidate, Min, Witness)
    ;   '$min_pair'(Pairs, Before, BeforeWitness, Min, Witness)
    ).

% Proves a copy of Goal for each solution of Generator. The copies share the
% variables that Generator does not mention.
foreach(Generator, Goal) :-
    term_variables(Generator, Generated),
    term_variables(Goal, Used),
    '$identical_members'(Generated, Used, Shared),
    term_variables(Shared+Goal, Variables),
    '$append'(Shared, Kept, Variables),
    findall(Shared, Generator, Solutions),
    '$foreach'(Solutions, Shared, Kept, Goal).

'$foreach'([], _, _, _).
'$foreach'([Solution|Solutions], Shared, Kept, Goal) :-
    copy_term_nat(Shared+Kept+Goal, Solution+Kept+Instance),
    call(Instance),
    '$foreach'(Solutions, Shared, Kept, Goal).
