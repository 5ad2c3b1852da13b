% All ways to put eight queens on a board: backtracking over a shrinking list, with arithmetic tests.

iterations(250).

run(Iterations) :-
    between(1, Iterations, _),
    queens(8, _),
    fail.
run(_).

check :-
    findall(Board, queens(8, Board), Boards),
    length(Boards, 92),
    Boards = [[4,2,7,3,6,8,5,1]|_],
    sort(Boards, Distinct),
    length(Distinct, 92),
    \+ queens(3, _).

% queens(Size, Board): Board lists the row of the queen in each column, the last column placed first.
queens(Size, Board) :-
    rows(1, Size, Rows),
    place(Rows, [], Board).

rows(Size, Size, [Size]) :-
    !.
rows(Row, Size, [Row|Rows]) :-
    Next is Row + 1,
    rows(Next, Size, Rows).

place([], Board, Board).
place(Free, Placed, Board) :-
    take(Row, Free, StillFree),
    safe(Placed, Row, 1),
    place(StillFree, [Row|Placed], Board).

take(Item, [Item|Rest], Rest).
take(Item, [Other|Items], [Other|Rest]) :-
    take(Item, Items, Rest).

% safe(Placed, Row, Distance): no queen in Placed, the first of them Distance columns away, is on a diagonal of Row.
safe([], _, _).
safe([Other|Placed], Row, Distance) :-
    Row =\= Other + Distance,
    Row =\= Other - Distance,
    Further is Distance + 1,
    safe(Placed, Row, Further).
