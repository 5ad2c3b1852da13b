% Some of the solutions of a goal, or all of them in another order.

limit(Count, Goal) :-
    (   Count == infinite
    ->  call(Goal)
    ;   Count > 0,
        State = seen(0),
        call(Goal),
        arg(1, State, Before),
        Seen is Before + 1,
        (   Seen >= Count
        ->  !
        ;   nb_setarg(1, State, Seen)
        )
    ).

offset(Count, Goal) :-
    (   Count > 0
    ->  State = seen(0),
        call(Goal),
        arg(1, State, Seen),
        (   Seen >= Count
        ->  true
        ;   Next is Seen + 1,
            nb_setarg(1, State, Next),
            fail
        )
    ;   Count =:= 0
    ->  call(Goal)
    ;   domain_error(not_less_than_zero, Count)
    ).

call_nth(Goal, Nth) :-
    (   var(Nth)
    ->  '$numbered'(Goal, Nth)
    ;   must_be(integer, Nth),
        (   Nth < 1
        ->  domain_error(not_less_than_one, Nth)
        ;   '$numbered'(Goal, Number),
            Number =:= Nth
        ->  true
        )
    ).

'$numbered'(Goal, Number) :-
    State = seen(0),
    call(Goal),
    arg(1, State, Before),
    Number is Before + 1,
    nb_setarg(1, State, Number).

distinct(Goal) :-
    distinct(Goal, Goal).

% Solutions are the same when their witnesses are variants of each other.
distinct(Witness, Goal) :-
    term_variables(Witness, Variables),
    State = seen(t),
    call(Goal),
    copy_term(Variables, Key, _),
    numbervars(Key, 0, _),
    arg(1, State, Seen),
    \+ get_assoc(Key, Seen, _),
    put_assoc(Key, Seen, true, Now),
    nb_setarg(1, State, Now).

reduced(Goal) :-
    distinct(Goal, Goal).

reduced(Witness, Goal, _) :-
    distinct(Witness, Goal).

order_by(Specifications, Goal) :-
    must_be(list, Specifications),
    (   Specifications == []
    ->  domain_error(non_empty_list, Specifications)
    ;   '$order_keys'(Specifications, 1, Orders, Keys)
    ),
    term_variables(Goal, Variables),
    Row =.. [row, Variables|Keys],
    findall(Row, Goal, Found),
    reverse(Orders, Reversed),
    '$order_rows'(Reversed, Found, Rows),
    member(Row, Rows).

'$order_keys'([], _, [], []).
'$order_keys'([Specification|Specifications], Before, [Place-Order|Orders], [Key|Keys]) :-
    Place is Before + 1,
    (   var(Specification)
    ->  instantiation_error(Specification)
    ;   Specification = asc(Key)
    ->  Order = (@=<)
    ;   Specification = desc(Key)
    ->  Order = (@>=)
    ;   domain_error(order_specifier, Specification)
    ),
    '$order_keys'(Specifications, Place, Orders, Keys).

% By the last key first: sorting keeps the order of what is equal.
'$order_rows'([], Rows, Rows).
'$order_rows'([Place-Order|Orders], Rows0, Rows) :-
    sort(Place, Order, Rows0, Rows1),
    '$order_rows'(Orders, Rows1, Rows).

group_by(By, Template, Goal, Bag) :-
    findall(By-Template, Goal, Found),
    keysort(Found, Sorted),
    group_pairs_by_key(Sorted, Groups),
    member(By-Bag, Groups).
