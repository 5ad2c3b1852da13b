% Association lists as AVL trees.
%
% A tree is t (empty) or t(Key,Value,Balance,Left,Right). Balance is the order
% of the depths of Right and Left: < when Left is deeper, - when they are
% equal, > when Right is deeper.

empty_assoc(t).

get_assoc(Key, Tree, Value) :-
    (   var(Tree)
    ->  instantiation_error(Tree)
    ;   '$get_assoc'(Tree, Key, Value)
    ).

'$get_assoc'(Tree, Key, Value) :-
    (   var(Tree)
    ->  fail
    ;   Tree = t(Here,Found,_,Left,Right)
    ->  compare(Order, Key, Here),
        (   Order = (=)
        ->  Value = Found
        ;   Order = (<)
        ->  '$get_assoc'(Left, Key, Value)
        ;   '$get_assoc'(Right, Key, Value)
        )
    ;   Tree == t
    ->  fail
    ;   type_error(btree, Tree)
    ).

% NewTree is Tree with NewValue in the place of Value.
get_assoc(Key, Tree, Value, NewTree, NewValue) :-
    (   nonvar(Tree),
        Tree = t(Here,Found,Balance,Left,Right)
    ->  compare(Order, Key, Here),
        '$replace_assoc'(Order, Key, t(Here,Found,Balance,Left,Right), Value,
                         NewTree, NewValue)
    ;   Tree == t
    ->  fail
    ;   '$no_matching_rule'(assoc,
                            get_assoc(Key, Tree, Value, NewTree, NewValue))
    ).

'$replace_assoc'(=, _, t(Here,Value,Balance,Left,Right), Value,
                 t(Here,NewValue,Balance,Left,Right), NewValue).
'$replace_assoc'(<, Key, t(Here,Found,Balance,Left,Right), Value,
                 t(Here,Found,Balance,NewLeft,Right), NewValue) :-
    get_assoc(Key, Left, Value, NewLeft, NewValue).
'$replace_assoc'(>, Key, t(Here,Found,Balance,Left,Right), Value,
                 t(Here,Found,Balance,Left,NewRight), NewValue) :-
    get_assoc(Key, Right, Value, NewRight, NewValue).

gen_assoc(Key, Tree, Value) :-
    (   ground(Key)
    ->  get_assoc(Key, Tree, Value)
    ;   '$gen_assoc'(Tree, Key, Value)
    ).

'$gen_assoc'(Tree, Key, Value) :-
    (   nonvar(Tree),
        Tree = t(Here,Found,_,Left,Right)
    ->  (   '$gen_assoc'(Left, Key, Value)
        ;   Key = Here,
            Value = Found
        ;   '$gen_assoc'(Right, Key, Value)
        )
    ;   Tree == t
    ->  fail
    ;   '$no_matching_rule'(assoc, gen_assoc_(Key, Tree, Value))
    ).

min_assoc(Tree, Key, Value) :-
    (   nonvar(Tree),
        Tree = t(Here,Found,_,Left,_)
    ->  '$min_assoc'(Left, Here, Found, Key, Value)
    ;   Tree == t
    ->  fail
    ;   '$no_matching_rule'(assoc, min_assoc(Tree, Key, Value))
    ).

'$min_assoc'(t, Key, Value, Key, Value).
'$min_assoc'(t(Here,Found,_,Left,_), _, _, Key, Value) :-
    '$min_assoc'(Left, Here, Found, Key, Value).

max_assoc(Tree, Key, Value) :-
    (   nonvar(Tree),
        Tree = t(Here,Found,_,_,Right)
    ->  '$max_assoc'(Right, Here, Found, Key, Value)
    ;   Tree == t
    ->  fail
    ;   '$no_matching_rule'(assoc, max_assoc(Tree, Key, Value))
    ).

'$max_assoc'(t, Key, Value, Key, Value).
'$max_assoc'(t(Here,Found,_,_,Right), _, _, Key, Value) :-
    '$max_assoc'(Right, Here, Found, Key, Value).

assoc_to_list(Tree, Pairs) :-
    '$assoc_to_list'(Tree, Pairs, []).

'$assoc_to_list'(t, Pairs, Pairs).
'$assoc_to_list'(t(Key,Value,_,Left,Right), Pairs, Tail) :-
    '$assoc_to_list'(Left, Pairs, [Key-Value|Greater]),
    '$assoc_to_list'(Right, Greater, Tail).

assoc_to_keys(Tree, Keys) :-
    '$assoc_to_keys'(Tree, Keys, []).

'$assoc_to_keys'(t, Keys, Keys).
'$assoc_to_keys'(t(Key,_,_,Left,Right), Keys, Tail) :-
    '$assoc_to_keys'(Left, Keys, [Key|Greater]),
    '$assoc_to_keys'(Right, Greater, Tail).

assoc_to_values(Tree, Values) :-
    '$assoc_to_values'(Tree, Values, []).

'$assoc_to_values'(t, Values, Values).
'$assoc_to_values'(t(_,Value,_,Left,Right), Values, Tail) :-
    '$assoc_to_values'(Left, Values, [Value|Greater]),
    '$assoc_to_values'(Right, Greater, Tail).

is_assoc(Tree) :-
    nonvar(Tree),
    '$is_assoc'(Tree, _, []-_).

% Bounds is Below-Tree's greatest key, each as [] or [Key]: what lies to the
% left of a tree bounds its keys from below.
'$is_assoc'(Tree, Depth, Below-Greatest) :-
    nonvar(Tree),
    (   Tree == t
    ->  Depth = 0,
        Greatest = Below
    ;   Tree = t(Key,_,Balance,Left,Right),
        '$is_assoc'(Left, LeftDepth, Below-Before),
        '$key_after'(Before, Key),
        '$is_assoc'(Right, RightDepth, [Key]-Greatest),
        compare(Order, RightDepth, LeftDepth),
        '$depth_balance'(Order, Expected),
        Balance == Expected,
        Depth is max(LeftDepth, RightDepth) + 1
    ).

'$key_after'([], _).
'$key_after'([Before], Key) :-
    Before @< Key.

'$depth_balance'(<, <).
'$depth_balance'(=, -).
'$depth_balance'(>, >).

map_assoc(Goal, Tree) :-
    '$map_assoc'(Tree, Goal).

'$map_assoc'(Tree, Goal) :-
    (   Tree == t
    ->  true
    ;   nonvar(Tree),
        Tree = t(_,Value,_,Left,Right)
    ->  '$map_assoc'(Left, Goal),
        call(Goal, Value),
        '$map_assoc'(Right, Goal)
    ;   '$no_matching_rule'(assoc, map_assoc_(Tree, user:Goal))
    ).

map_assoc(Goal, Tree, NewTree) :-
    '$map_assoc'(Tree, Goal, NewTree).

'$map_assoc'(Tree, Goal, NewTree) :-
    (   Tree == t
    ->  NewTree = t
    ;   nonvar(Tree),
        Tree = t(Key,Value,Balance,Left,Right)
    ->  NewTree = t(Key,NewValue,Balance,NewLeft,NewRight),
        '$map_assoc'(Left, Goal, NewLeft),
        call(Goal, Value, NewValue),
        '$map_assoc'(Right, Goal, NewRight)
    ;   '$no_matching_rule'(assoc, map_assoc_(Tree, user:Goal, NewTree))
    ).

list_to_assoc(Pairs, Tree) :-
    (   Pairs == []
    ->  Tree = t
    ;   keysort(Pairs, Sorted),
        (   '$ordered_keys'(Sorted)
        ->  '$balanced_assoc'(Sorted, Tree)
        ;   domain_error(unique_key_pairs, Pairs)
        )
    ).

ord_list_to_assoc(Pairs, Tree) :-
    (   Pairs == []
    ->  Tree = t
    ;   '$ordered_keys'(Pairs)
    ->  '$balanced_assoc'(Pairs, Tree)
    ;   domain_error(key_ordered_pairs, Pairs)
    ).

'$ordered_keys'([Key-_|Pairs]) :-
    '$ordered_keys'(Pairs, Key).

'$ordered_keys'([], _).
'$ordered_keys'([Key-_|Pairs], Before) :-
    Before @< Key,
    '$ordered_keys'(Pairs, Key).

'$balanced_assoc'(Pairs, Tree) :-
    length(Pairs, Count),
    '$balanced_assoc'(Count, Pairs, [], Tree, _).

% A tree of the first Count pairs; an odd one out goes to the left.
'$balanced_assoc'(Count, Pairs, Rest, Tree, Depth) :-
    (   Count =:= 0
    ->  Rest = Pairs,
        Tree = t,
        Depth = 0
    ;   LeftCount is Count // 2,
        RightCount is Count - 1 - LeftCount,
        Tree = t(Key,Value,Balance,Left,Right),
        '$balanced_assoc'(LeftCount, Pairs, [Key-Value|Upper], Left, LeftDepth),
        '$balanced_assoc'(RightCount, Upper, Rest, Right, RightDepth),
        compare(Order, RightDepth, LeftDepth),
        '$depth_balance'(Order, Balance),
        Depth is LeftDepth + 1
    ).

% Insertion. Grown tells whether the tree became deeper.

put_assoc(Key, Tree, Value, NewTree) :-
    '$put_assoc'(Tree, Key, Value, NewTree, _).

'$put_assoc'(Tree, Key, Value, NewTree, Grown) :-
    (   Tree == t
    ->  NewTree = t(Key,Value,-,t,t),
        Grown = yes
    ;   nonvar(Tree),
        Tree = t(Here,Found,Balance,Left,Right)
    ->  compare(Order, Key, Here),
        '$put_assoc'(Order, Here, Found, Balance, Left, Right, Key, Value,
                     NewTree, Grown)
    ;   '$no_matching_rule'(assoc, insert(Tree, Key, Value, NewTree, Grown))
    ).

'$put_assoc'(=, Here, _, Balance, Left, Right, _, Value,
             t(Here,Value,Balance,Left,Right), no).
'$put_assoc'(<, Here, Found, Balance, Left, Right, Key, Value, NewTree, Grown) :-
    '$put_assoc'(Left, Key, Value, NewLeft, LeftGrown),
    (   LeftGrown == yes
    ->  '$lean_left'(Balance, Here, Found, NewLeft, Right, NewTree, Grown)
    ;   NewTree = t(Here,Found,Balance,NewLeft,Right),
        Grown = no
    ).
'$put_assoc'(>, Here, Found, Balance, Left, Right, Key, Value, NewTree, Grown) :-
    '$put_assoc'(Right, Key, Value, NewRight, RightGrown),
    (   RightGrown == yes
    ->  '$lean_right'(Balance, Here, Found, Left, NewRight, NewTree, Grown)
    ;   NewTree = t(Here,Found,Balance,Left,NewRight),
        Grown = no
    ).

% Left became one deeper than Right, compared to what Balance says. Deeper
% tells whether the whole is now one deeper than the deeper side was.
'$lean_left'(>, Key, Value, Left, Right, t(Key,Value,-,Left,Right), no).
'$lean_left'(-, Key, Value, Left, Right, t(Key,Value,<,Left,Right), yes).
'$lean_left'(<, Key, Value, t(K1,V1,Balance,A,B), Right, Tree, Deeper) :-
    '$rotate_right'(Balance, K1, V1, A, B, Key, Value, Right, Tree, Deeper).

'$lean_right'(<, Key, Value, Left, Right, t(Key,Value,-,Left,Right), no).
'$lean_right'(-, Key, Value, Left, Right, t(Key,Value,>,Left,Right), yes).
'$lean_right'(>, Key, Value, Left, t(K1,V1,Balance,A,B), Tree, Deeper) :-
    '$rotate_left'(Balance, K1, V1, A, B, Key, Value, Left, Tree, Deeper).

% The deeper side comes in parts, its balance first.
'$rotate_right'(<, K1, V1, A, B, K2, V2, C,
                t(K1,V1,-,A,t(K2,V2,-,B,C)), no).
'$rotate_right'(-, K1, V1, A, B, K2, V2, C,
                t(K1,V1,>,A,t(K2,V2,<,B,C)), yes).
'$rotate_right'(>, K1, V1, A, t(K2,V2,Middle,B,C), K3, V3, D,
                t(K2,V2,-,t(K1,V1,LeftBalance,A,B),t(K3,V3,RightBalance,C,D)),
                no) :-
    '$split_balance'(Middle, LeftBalance, RightBalance).

'$rotate_left'(>, K2, V2, B, C, K1, V1, A,
               t(K2,V2,-,t(K1,V1,-,A,B),C), no).
'$rotate_left'(-, K2, V2, B, C, K1, V1, A,
               t(K2,V2,<,t(K1,V1,>,A,B),C), yes).
'$rotate_left'(<, K3, V3, t(K2,V2,Middle,B,C), D, K1, V1, A,
               t(K2,V2,-,t(K1,V1,LeftBalance,A,B),t(K3,V3,RightBalance,C,D)),
               no) :-
    '$split_balance'(Middle, LeftBalance, RightBalance).

% The balances of the two halves between which a middle tree was shared out.
'$split_balance'(<, -, >).
'$split_balance'(-, -, -).
'$split_balance'(>, <, -).

% Deletion. Shrunk tells whether the tree became less deep. A side that shrank
% is a lean to the other one: the whole shrank unless that made it deeper.

del_min_assoc(Tree, Key, Value, NewTree) :-
    '$del_min_assoc'(Tree, Key, Value, NewTree, _).

'$del_min_assoc'(t(Here,Found,Balance,Left,Right), Key, Value, NewTree, Shrunk) :-
    (   Left = t
    ->  Key = Here,
        Value = Found,
        NewTree = Right,
        Shrunk = yes
    ;   '$del_min_assoc'(Left, Key, Value, NewLeft, LeftShrunk),
        '$left_shrank'(LeftShrunk, Here, Found, Balance, NewLeft, Right,
                       NewTree, Shrunk)
    ).

del_max_assoc(Tree, Key, Value, NewTree) :-
    '$del_max_assoc'(Tree, Key, Value, NewTree, _).

'$del_max_assoc'(t(Here,Found,Balance,Left,Right), Key, Value, NewTree, Shrunk) :-
    (   Right = t
    ->  Key = Here,
        Value = Found,
        NewTree = Left,
        Shrunk = yes
    ;   '$del_max_assoc'(Right, Key, Value, NewRight, RightShrunk),
        '$right_shrank'(RightShrunk, Here, Found, Balance, Left, NewRight,
                        NewTree, Shrunk)
    ).

del_assoc(Key, Tree, Value, NewTree) :-
    '$del_assoc'(Tree, Key, Value, NewTree, _).

'$del_assoc'(Tree, Key, Value, NewTree, Shrunk) :-
    (   nonvar(Tree),
        Tree = t(Here,Found,Balance,Left,Right)
    ->  compare(Order, Key, Here),
        '$del_assoc'(Order, Here, Found, Balance, Left, Right, Key, Value,
                     NewTree, Shrunk)
    ;   Tree == t
    ->  fail
    ;   '$no_matching_rule'(assoc, delete(Tree, Key, Value, NewTree, Shrunk))
    ).

'$del_assoc'(=, _, Value, Balance, Left, Right, _, Value, NewTree, Shrunk) :-
    '$join_assoc'(Left, Right, Balance, NewTree, Shrunk).
'$del_assoc'(<, Here, Found, Balance, Left, Right, Key, Value, NewTree, Shrunk) :-
    '$del_assoc'(Left, Key, Value, NewLeft, LeftShrunk),
    '$left_shrank'(LeftShrunk, Here, Found, Balance, NewLeft, Right,
                   NewTree, Shrunk).
'$del_assoc'(>, Here, Found, Balance, Left, Right, Key, Value, NewTree, Shrunk) :-
    '$del_assoc'(Right, Key, Value, NewRight, RightShrunk),
    '$right_shrank'(RightShrunk, Here, Found, Balance, Left, NewRight,
                    NewTree, Shrunk).

% The sides of a deleted key as one tree: its neighbour on the deeper side,
% else on the left, takes the place.
'$join_assoc'(Left, Right, Balance, NewTree, Shrunk) :-
    (   Left = t
    ->  NewTree = Right,
        Shrunk = yes
    ;   Right = t
    ->  NewTree = Left,
        Shrunk = yes
    ;   Balance = (>)
    ->  '$del_min_assoc'(Right, Key, Value, NewRight, RightShrunk),
        '$right_shrank'(RightShrunk, Key, Value, Balance, Left, NewRight,
                        NewTree, Shrunk)
    ;   '$del_max_assoc'(Left, Key, Value, NewLeft, LeftShrunk),
        '$left_shrank'(LeftShrunk, Key, Value, Balance, NewLeft, Right,
                       NewTree, Shrunk)
    ).

'$left_shrank'(no, Key, Value, Balance, Left, Right,
               t(Key,Value,Balance,Left,Right), no).
'$left_shrank'(yes, Key, Value, Balance, Left, Right, Tree, Shrunk) :-
    '$lean_right'(Balance, Key, Value, Left, Right, Tree, Deeper),
    '$shrunk'(Deeper, Shrunk).

'$right_shrank'(no, Key, Value, Balance, Left, Right,
                t(Key,Value,Balance,Left,Right), no).
'$right_shrank'(yes, Key, Value, Balance, Left, Right, Tree, Shrunk) :-
    '$lean_left'(Balance, Key, Value, Left, Right, Tree, Deeper),
    '$shrunk'(Deeper, Shrunk).

'$shrunk'(yes, no).
'$shrunk'(no, yes).
