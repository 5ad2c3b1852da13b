% Directed graphs: lists of Vertex-Neighbours, sorted, with sorted neighbours.

vertices_edges_to_ugraph(Vertices, Edges, Graph) :-
    sort(Edges, Sorted),
    '$edge_ends'(Sorted, Ends),
    append(Vertices, Ends, Mentioned),
    sort(Mentioned, All),
    '$with_neighbours'(All, Sorted, Graph).

'$edge_ends'([], []).
'$edge_ends'([From-To|Edges], [From, To|Ends]) :-
    '$edge_ends'(Edges, Ends).

% Both lists are sorted, so the edges of a vertex come first.
'$with_neighbours'([], _, []).
'$with_neighbours'([Vertex|Vertices], Edges, [Vertex-Neighbours|Graph]) :-
    '$edges_from'(Edges, Vertex, Neighbours, Rest),
    '$with_neighbours'(Vertices, Rest, Graph).

'$edges_from'(Edges, Vertex, Neighbours, Rest) :-
    (   Edges = [From-To|Others],
        From == Vertex
    ->  Neighbours = [To|Tail],
        '$edges_from'(Others, Vertex, Tail, Rest)
    ;   Neighbours = [],
        Rest = Edges
    ).

vertices([], []).
vertices([Vertex-_|Graph], [Vertex|Vertices]) :-
    vertices(Graph, Vertices).

edges(Graph, Edges) :-
    '$edges'(Graph, Edges).

'$edges'([], []).
'$edges'([Vertex-Neighbours|Graph], Edges) :-
    '$edges_to'(Neighbours, Vertex, Edges, Rest),
    '$edges'(Graph, Rest).

'$edges_to'([], _, Rest, Rest).
'$edges_to'([Neighbour|Neighbours], Vertex, [Vertex-Neighbour|Edges], Rest) :-
    '$edges_to'(Neighbours, Vertex, Edges, Rest).

add_vertices(Graph, Vertices, NewGraph) :-
    sort(Vertices, Sorted),
    '$lonely'(Sorted, Lonely),
    '$merge_graphs'(Graph, Lonely, NewGraph).

'$lonely'([], []).
'$lonely'([Vertex|Vertices], [Vertex-[]|Graph]) :-
    '$lonely'(Vertices, Graph).

del_vertices(Graph, Vertices, NewGraph) :-
    sort(Vertices, Sorted),
    '$without_vertices'(Graph, Sorted, NewGraph).

'$without_vertices'([], _, []).
'$without_vertices'([Vertex-Neighbours|Graph], Gone, NewGraph) :-
    (   ord_memberchk(Vertex, Gone)
    ->  NewGraph = Rest
    ;   ord_subtract(Neighbours, Gone, Left),
        NewGraph = [Vertex-Left|Rest]
    ),
    '$without_vertices'(Graph, Gone, Rest).

add_edges(Graph, Edges, NewGraph) :-
    vertices_edges_to_ugraph([], Edges, Added),
    '$merge_graphs'(Graph, Added, NewGraph).

ugraph_union(Graph1, Graph2, NewGraph) :-
    '$merge_graphs'(Graph1, Graph2, NewGraph).

'$merge_graphs'([], Graph, Graph).
'$merge_graphs'([Vertex-Neighbours|Graph1], Graph2, Graph) :-
    '$merge_graphs'(Graph2, Vertex, Neighbours, Graph1, Graph).

'$merge_graphs'([], Vertex, Neighbours, Graph1, [Vertex-Neighbours|Graph1]).
'$merge_graphs'([Vertex2-Neighbours2|Graph2], Vertex1, Neighbours1, Graph1, [Vertex-Neighbours|Graph]) :-
    compare(Order, Vertex1, Vertex2),
    (   Order = (=)
    ->  Vertex = Vertex1,
        ord_union(Neighbours1, Neighbours2, Neighbours),
        '$merge_graphs'(Graph1, Graph2, Graph)
    ;   Order = (<)
    ->  Vertex = Vertex1,
        Neighbours = Neighbours1,
        '$merge_graphs'(Graph1, [Vertex2-Neighbours2|Graph2], Graph)
    ;   Vertex = Vertex2,
        Neighbours = Neighbours2,
        '$merge_graphs'(Graph2, Vertex1, Neighbours1, Graph1, Graph)
    ).

del_edges(Graph, Edges, NewGraph) :-
    vertices_edges_to_ugraph([], Edges, Gone),
    '$without_edges'(Graph, Gone, NewGraph).

'$without_edges'([], _, []).
'$without_edges'([Vertex-Neighbours|Graph], Gone, [Vertex-Left|NewGraph]) :-
    (   '$neighbours'(Gone, Vertex, Found)
    ->  ord_subtract(Neighbours, Found, Left)
    ;   Left = Neighbours
    ),
    '$without_edges'(Graph, Gone, NewGraph).

neighbours(Vertex, Graph, Neighbours) :-
    '$neighbours'(Graph, Vertex, Neighbours).

neighbors(Vertex, Graph, Neighbours) :-
    '$neighbours'(Graph, Vertex, Neighbours).

'$neighbours'([Other-Found|Graph], Vertex, Neighbours) :-
    (   Other == Vertex
    ->  Neighbours = Found
    ;   '$neighbours'(Graph, Vertex, Neighbours)
    ).

transpose_ugraph(Graph, NewGraph) :-
    '$edges'(Graph, Edges),
    vertices(Graph, Vertices),
    '$turned'(Edges, Turned),
    vertices_edges_to_ugraph(Vertices, Turned, NewGraph).

'$turned'([], []).
'$turned'([From-To|Edges], [To-From|Turned]) :-
    '$turned'(Edges, Turned).

complement(Graph, NewGraph) :-
    vertices(Graph, Vertices),
    '$complement'(Graph, Vertices, NewGraph).

'$complement'([], _, []).
'$complement'([Vertex-Neighbours|Graph], Vertices, [Vertex-Others|NewGraph]) :-
    ord_add_element(Neighbours, Vertex, Excluded),
    ord_subtract(Vertices, Excluded, Others),
    '$complement'(Graph, Vertices, NewGraph).

compose(Graph1, Graph2, Composition) :-
    vertices(Graph1, Vertices1),
    vertices(Graph2, Vertices2),
    ord_union(Vertices1, Vertices2, Vertices),
    list_to_assoc(Graph2, Map),
    '$compose'(Vertices, Graph1, Map, Composition).

'$compose'([], _, _, []).
'$compose'([Vertex|Vertices], Graph1, Map, [Vertex-Neighbours|Composition]) :-
    (   Graph1 = [First-Between|Rest],
        First == Vertex
    ->  '$all_neighbours'(Between, Map, [], Neighbours)
    ;   Rest = Graph1,
        Neighbours = []
    ),
    '$compose'(Vertices, Rest, Map, Composition).

'$all_neighbours'([], _, All, All).
'$all_neighbours'([Vertex|Vertices], Map, Before, All) :-
    (   get_assoc(Vertex, Map, Neighbours)
    ->  ord_union(Before, Neighbours, Now)
    ;   Now = Before
    ),
    '$all_neighbours'(Vertices, Map, Now, All).

reachable(Vertex, Graph, Reachable) :-
    list_to_assoc(Graph, Map),
    get_assoc(Vertex, Map, Neighbours),
    ord_add_element(Neighbours, Vertex, Known),
    ord_subtract(Neighbours, [Vertex], Open),
    '$reach'(Open, Map, Known, Reachable).

'$reach'([], _, Reachable, Reachable).
'$reach'([Vertex|Open], Map, Known, Reachable) :-
    (   get_assoc(Vertex, Map, Neighbours)
    ->  ord_union(Known, Neighbours, NowKnown, New),
        append(Open, New, NowOpen)
    ;   NowKnown = Known,
        NowOpen = Open
    ),
    '$reach'(NowOpen, Map, NowKnown, Reachable).

% What is reachable by at least one step.
transitive_closure(Graph, Closure) :-
    list_to_assoc(Graph, Map),
    '$closure'(Graph, Map, Closure).

'$closure'([], _, []).
'$closure'([Vertex-Neighbours|Graph], Map, [Vertex-Reachable|Closure]) :-
    '$reach'(Neighbours, Map, Neighbours, Reachable),
    '$closure'(Graph, Map, Closure).

% Vertices without edges to them come first; of several, the one that was found last.
top_sort(Graph, Sorted) :-
    top_sort(Graph, Sorted, []).

top_sort(Graph, Sorted, Tail) :-
    list_to_assoc(Graph, Map),
    '$no_edges_yet'(Graph, NoCounts),
    list_to_assoc(NoCounts, Counts0),
    '$count_edges'(Graph, Counts0, Counts),
    '$roots'(Graph, Counts, Roots),
    length(Graph, Left),
    '$top_sort'(Roots, Left, Map, Counts, Sorted, Tail).

'$no_edges_yet'([], []).
'$no_edges_yet'([Vertex-_|Graph], [Vertex-0|Counts]) :-
    '$no_edges_yet'(Graph, Counts).

'$count_edges'([], Counts, Counts).
'$count_edges'([_-Neighbours|Graph], Counts0, Counts) :-
    '$count_ends'(Neighbours, Counts0, Counts1),
    '$count_edges'(Graph, Counts1, Counts).

'$count_ends'([], Counts, Counts).
'$count_ends'([Vertex|Vertices], Counts0, Counts) :-
    get_assoc(Vertex, Counts0, Before),
    Count is Before + 1,
    put_assoc(Vertex, Counts0, Count, Counts1),
    '$count_ends'(Vertices, Counts1, Counts).

'$roots'([], _, []).
'$roots'([Vertex-_|Graph], Counts, Roots) :-
    (   get_assoc(Vertex, Counts, 0)
    ->  Roots = [Vertex|Rest]
    ;   Roots = Rest
    ),
    '$roots'(Graph, Counts, Rest).

'$top_sort'([], 0, _, _, Tail, Tail).
'$top_sort'([Vertex|Open], Left0, Map, Counts0, [Vertex|Sorted], Tail) :-
    get_assoc(Vertex, Map, Neighbours),
    '$uncount_ends'(Neighbours, Counts0, Counts, Open, NowOpen),
    Left is Left0 - 1,
    '$top_sort'(NowOpen, Left, Map, Counts, Sorted, Tail).

'$uncount_ends'([], Counts, Counts, Open, Open).
'$uncount_ends'([Vertex|Vertices], Counts0, Counts, Open0, Open) :-
    get_assoc(Vertex, Counts0, Before),
    Count is Before - 1,
    put_assoc(Vertex, Counts0, Count, Counts1),
    (   Count =:= 0
    ->  Open1 = [Vertex|Open0]
    ;   Open1 = Open0
    ),
    '$uncount_ends'(Vertices, Counts1, Counts, Open1, Open).
