% All solutions with free variables: bagof/3 and setof/3.
%
% The variables of the goal that neither the template nor ^ binds form the
% witness. Solutions are collected with their witness, and each distinct
% witness, in the standard order, gives one answer.

bagof(Template, Goal, Instances) :-
    '$free_variables'(Template, Goal, Plain, Free),
    '$instances_list'(Instances, Plain),
    (   Free == []
    ->  findall(Template, Plain, Found),
        Found \== [],
        Instances = Found
    ;   Witness =.. [v|Free],
        findall(Witness-Template, Plain, Found),
        '$share_witness_variables'(Found, _),
        keysort(Found, Sorted),
        '$answer'(Sorted, Witness, Instances)
    ).

setof(Template, Goal, Instances) :-
    '$free_variables'(Template, Goal, Plain, Free),
    '$instances_list'(Instances, Plain),
    (   Free == []
    ->  findall(Template, Plain, Found),
        Found \== [],
        sort(Found, Instances)
    ;   Witness =.. [v|Free],
        findall(Witness-Template, Plain, Found),
        (   ground(Found)
        ->  sort(Found, Sorted),
            '$answer'(Sorted, Witness, Instances)
        ;   '$share_witness_variables'(Found, _),
            sort(Found, Sorted),
            '$answer'(Sorted, Witness, Answer),
            % Unifying the witness may have changed the order.
            sort(Answer, Instances)
        )
    ).

% ISO 8.10.2.3 and 8.10.3.3; a goal that cannot be called is the first error.
'$instances_list'(Instances, Goal) :-
    '$skip_list'(_, Instances, Tail),
    (   var(Tail)
    ->  true
    ;   Tail == []
    ->  true
    ;   callable(Goal)
    ->  type_error(list, Instances)
    ;   true
    ).

% Plain is Goal without its ^, Free the variables left over, in their order in
% Plain.
'$free_variables'(Template, Goal, Plain, Free) :-
    '$strip_existential'(Goal, Template, Plain, Bound),
    term_variables(Bound, BoundVariables),
    term_variables(Bound+Plain, Variables),
    '$append'(BoundVariables, Free, Variables).

'$strip_existential'(Goal, Bound, Plain, AllBound) :-
    (   nonvar(Goal),
        Goal = Variables^Inner
    ->  '$strip_existential'(Inner, Bound+Variables, Plain, AllBound)
    ;   nonvar(Goal),
        Goal = _:Inner,
        nonvar(Inner),
        Inner = _^_
    ->  '$strip_existential'(Inner, Bound, Plain, AllBound)
    ;   Plain = Goal,
        AllBound = Bound
    ).

% Witnesses that are variants of each other become identical: they all use the
% same variables in the same order.
'$share_witness_variables'([], _).
'$share_witness_variables'([Witness-_|Found], Variables) :-
    term_variables(Witness, WitnessVariables),
    '$append'(WitnessVariables, _, Variables),
    '$share_witness_variables'(Found, Variables).

% Deterministic on the last group.
'$answer'([First-Instance|Sorted], Witness, Instances) :-
    '$same_witness'(Sorted, First, Group, Rest),
    '$answer'(Rest, First, [Instance|Group], Witness, Instances).

'$answer'([], Witness, Instances, Witness, Instances).
'$answer'([Next|Rest], First, Group, Witness, Instances) :-
    (   Witness = First,
        Instances = Group
    ;   '$answer'([Next|Rest], Witness, Instances)
    ).

'$same_witness'([], _, [], []).
'$same_witness'([Next-Instance|Sorted], Witness, Group, Rest) :-
    (   Next == Witness
    ->  Group = [Instance|Others],
        '$same_witness'(Sorted, Witness, Others, Rest)
    ;   Group = [],
        Rest = [Next-Instance|Sorted]
    ).
