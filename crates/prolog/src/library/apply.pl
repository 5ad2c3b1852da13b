% Goals applied to the elements of lists: filters, maps and folds.
%
% Each worker takes the list first: on a proper list no choice point is left.

include(Goal, List, Included) :-
    '$include'(List, Goal, Included).

'$include'([], _, []).
'$include'([Element|List], Goal, Included) :-
    (   call(Goal, Element)
    ->  Included = [Element|Rest],
        '$include'(List, Goal, Rest)
    ;   '$include'(List, Goal, Included)
    ).

exclude(Goal, List, Kept) :-
    '$exclude'(List, Goal, Kept).

'$exclude'([], _, []).
'$exclude'([Element|List], Goal, Kept) :-
    (   call(Goal, Element)
    ->  '$exclude'(List, Goal, Kept)
    ;   Kept = [Element|Rest],
        '$exclude'(List, Goal, Rest)
    ).

partition(Goal, List, Included, Excluded) :-
    '$partition'(List, Goal, Included, Excluded).

'$partition'([], _, [], []).
'$partition'([Element|List], Goal, Included, Excluded) :-
    (   call(Goal, Element)
    ->  Included = [Element|Rest],
        '$partition'(List, Goal, Rest, Excluded)
    ;   Excluded = [Element|Rest],
        '$partition'(List, Goal, Included, Rest)
    ).

partition(Goal, List, Less, Equal, Greater) :-
    '$partition'(List, Goal, Less, Equal, Greater).

'$partition'([], _, [], [], []).
'$partition'([Element|List], Goal, Less, Equal, Greater) :-
    call(Goal, Element, Place),
    (   Place = (<)
    ->  Less = [Element|Rest],
        '$partition'(List, Goal, Rest, Equal, Greater)
    ;   Place = (=)
    ->  Equal = [Element|Rest],
        '$partition'(List, Goal, Less, Rest, Greater)
    ;   Place = (>)
    ->  Greater = [Element|Rest],
        '$partition'(List, Goal, Less, Equal, Rest)
    ;   must_be(oneof([<,=,>]), Place)
    ).

convlist(Goal, List, Converted) :-
    '$convlist'(List, Goal, Converted).

'$convlist'([], _, []).
'$convlist'([Element|List], Goal, Converted) :-
    (   call(Goal, Element, Result)
    ->  Converted = [Result|Rest],
        '$convlist'(List, Goal, Rest)
    ;   '$convlist'(List, Goal, Converted)
    ).

maplist(Goal, List) :-
    '$maplist'(List, Goal).

'$maplist'([], _).
'$maplist'([A|As], Goal) :-
    call(Goal, A),
    '$maplist'(As, Goal).

maplist(Goal, List1, List2) :-
    '$maplist'(List1, List2, Goal).

'$maplist'([], [], _).
'$maplist'([A|As], [B|Bs], Goal) :-
    call(Goal, A, B),
    '$maplist'(As, Bs, Goal).

maplist(Goal, List1, List2, List3) :-
    '$maplist'(List1, List2, List3, Goal).

'$maplist'([], [], [], _).
'$maplist'([A|As], [B|Bs], [C|Cs], Goal) :-
    call(Goal, A, B, C),
    '$maplist'(As, Bs, Cs, Goal).

maplist(Goal, List1, List2, List3, List4) :-
    '$maplist'(List1, List2, List3, List4, Goal).

'$maplist'([], [], [], [], _).
'$maplist'([A|As], [B|Bs], [C|Cs], [D|Ds], Goal) :-
    call(Goal, A, B, C, D),
    '$maplist'(As, Bs, Cs, Ds, Goal).

maplist(Goal, List1, List2, List3, List4, List5) :-
    '$maplist'(List1, List2, List3, List4, List5, Goal).

'$maplist'([], [], [], [], [], _).
'$maplist'([A|As], [B|Bs], [C|Cs], [D|Ds], [E|Es], Goal) :-
    call(Goal, A, B, C, D, E),
    '$maplist'(As, Bs, Cs, Ds, Es, Goal).

maplist(Goal, List1, List2, List3, List4, List5, List6) :-
    '$maplist'(List1, List2, List3, List4, List5, List6, Goal).

'$maplist'([], [], [], [], [], [], _).
'$maplist'([A|As], [B|Bs], [C|Cs], [D|Ds], [E|Es], [F|Fs], Goal) :-
    call(Goal, A, B, C, D, E, F),
    '$maplist'(As, Bs, Cs, Ds, Es, Fs, Goal).

foldl(Goal, List, Before, After) :-
    '$foldl'(List, Goal, Before, After).

'$foldl'([], _, Value, Value).
'$foldl'([A|As], Goal, Before, After) :-
    call(Goal, A, Before, Between),
    '$foldl'(As, Goal, Between, After).

foldl(Goal, List1, List2, Before, After) :-
    '$foldl'(List1, List2, Goal, Before, After).

'$foldl'([], [], _, Value, Value).
'$foldl'([A|As], [B|Bs], Goal, Before, After) :-
    call(Goal, A, B, Before, Between),
    '$foldl'(As, Bs, Goal, Between, After).

foldl(Goal, List1, List2, List3, Before, After) :-
    '$foldl'(List1, List2, List3, Goal, Before, After).

'$foldl'([], [], [], _, Value, Value).
'$foldl'([A|As], [B|Bs], [C|Cs], Goal, Before, After) :-
    call(Goal, A, B, C, Before, Between),
    '$foldl'(As, Bs, Cs, Goal, Between, After).

foldl(Goal, List1, List2, List3, List4, Before, After) :-
    '$foldl'(List1, List2, List3, List4, Goal, Before, After).

'$foldl'([], [], [], [], _, Value, Value).
'$foldl'([A|As], [B|Bs], [C|Cs], [D|Ds], Goal, Before, After) :-
    call(Goal, A, B, C, D, Before, Between),
    '$foldl'(As, Bs, Cs, Ds, Goal, Between, After).

% As foldl, and every value on the way is kept.

scanl(Goal, List, Value, [Value|Values]) :-
    '$scanl'(List, Goal, Value, Values).

'$scanl'([], _, _, []).
'$scanl'([A|As], Goal, Value, [Next|Values]) :-
    call(Goal, A, Value, Next),
    '$scanl'(As, Goal, Next, Values).

scanl(Goal, List1, List2, Value, [Value|Values]) :-
    '$scanl'(List1, List2, Goal, Value, Values).

'$scanl'([], [], _, _, []).
'$scanl'([A|As], [B|Bs], Goal, Value, [Next|Values]) :-
    call(Goal, A, B, Value, Next),
    '$scanl'(As, Bs, Goal, Next, Values).

scanl(Goal, List1, List2, List3, Value, [Value|Values]) :-
    '$scanl'(List1, List2, List3, Goal, Value, Values).

'$scanl'([], [], [], _, _, []).
'$scanl'([A|As], [B|Bs], [C|Cs], Goal, Value, [Next|Values]) :-
    call(Goal, A, B, C, Value, Next),
    '$scanl'(As, Bs, Cs, Goal, Next, Values).

scanl(Goal, List1, List2, List3, List4, Value, [Value|Values]) :-
    '$scanl'(List1, List2, List3, List4, Goal, Value, Values).

'$scanl'([], [], [], [], _, _, []).
'$scanl'([A|As], [B|Bs], [C|Cs], [D|Ds], Goal, Value, [Next|Values]) :-
    call(Goal, A, B, C, D, Value, Next),
    '$scanl'(As, Bs, Cs, Ds, Goal, Next, Values).
