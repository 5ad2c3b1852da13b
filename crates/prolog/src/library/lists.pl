% Lists: taking apart, joining, ordering and plain lists used as sets.
%
% The worker of each predicate takes the list first, so that clause indexing
% leaves no choice point behind on a proper list.

append([], Tail, Tail).
append([Element|Front], Tail, [Element|Whole]) :-
    append(Front, Tail, Whole).

append(Lists, Whole) :-
    must_be(list, Lists),
    '$append_all'(Lists, Whole).

'$append_all'([], []).
'$append_all'([List|Lists], Whole) :-
    append(List, Rest, Whole),
    '$append_all'(Lists, Rest).

% The name under which translated grammar rules join an open list of terminals:
% a program may define its own append/3.
'$append'([], Tail, Tail).
'$append'([Element|Front], Tail, [Element|Whole]) :-
    '$append'(Front, Tail, Whole).

prefix([], _).
prefix([Element|Part], [Element|Whole]) :-
    prefix(Part, Whole).

% The head of the list travels apart from its tail: on the last element the
% tail is [], and only the first clause can match.
member(Element, [Head|Tail]) :-
    '$member'(Tail, Element, Head).

'$member'(_, Element, Element).
'$member'([Head|Tail], Element, _) :-
    '$member'(Tail, Element, Head).

select(Element, [Head|Tail], Rest) :-
    '$select'(Tail, Head, Element, Rest).

'$select'(Tail, Element, Element, Tail).
'$select'([Next|Tail], Head, Element, [Head|Rest]) :-
    '$select'(Tail, Next, Element, Rest).

selectchk(Element, List, Rest) :-
    select(Element, List, Found),
    !,
    Rest = Found.

select(Old, OldList, New, NewList) :-
    '$replace'(OldList, Old, New, NewList).

'$replace'([Old|Tail], Old, New, [New|Tail]).
'$replace'([Head|OldTail], Old, New, [Head|NewTail]) :-
    '$replace'(OldTail, Old, New, NewTail).

selectchk(Old, OldList, New, NewList) :-
    '$replace'(OldList, Old, New, NewList),
    !.

subseq([], [], []).
subseq([Head|Tail], Chosen, [Head|Left]) :-
    subseq(Tail, Chosen, Left).
subseq([Head|Tail], [Head|Chosen], Left) :-
    subseq(Tail, Chosen, Left).

nextto(Left, Right, [Left,Right|_]).
nextto(Left, Right, [_|Tail]) :-
    nextto(Left, Right, Tail).

delete([], _, []).
delete([Head|Tail], Pattern, Rest) :-
    (   Head \= Pattern
    ->  Rest = [Head|Kept],
        delete(Tail, Pattern, Kept)
    ;   delete(Tail, Pattern, Rest)
    ).

nth0(Index, List, Element) :-
    '$nth'(Index, List, Element, 0).

nth1(Index, List, Element) :-
    '$nth'(Index, List, Element, 1).

'$nth'(Index, List, Element, Base) :-
    (   integer(Index)
    ->  Steps is Index - Base,
        Steps >= 0,
        '$nth_at'(Steps, List, Element)
    ;   var(Index)
    ->  List = [Head|Tail],
        '$nth_any'(Tail, Head, Element, Base, Index)
    ;   type_error(integer, Index)
    ).

'$nth_at'(Steps, [Head|Tail], Element) :-
    (   Steps =:= 0
    ->  Element = Head
    ;   Fewer is Steps - 1,
        '$nth_at'(Fewer, Tail, Element)
    ).

'$nth_any'(_, Element, Element, Index, Index).
'$nth_any'([Head|Tail], _, Element, Here, Index) :-
    Next is Here + 1,
    '$nth_any'(Tail, Head, Element, Next, Index).

nth0(Index, List, Element, Rest) :-
    (   var(Index)
    ->  '$nth_any_rest'(List, Element, Rest, 0, Index)
    ;   must_be(nonneg, Index),
        '$nth_rest'(Index, List, Element, Rest)
    ).

nth1(Index, List, Element, Rest) :-
    (   var(Index)
    ->  '$nth_any_rest'(List, Element, Rest, 1, Index)
    ;   must_be(positive_integer, Index),
        Steps is Index - 1,
        '$nth_rest'(Steps, List, Element, Rest)
    ).

% List and Rest lead in turn: with either one proper the search ends.
'$nth_any_rest'([Element|Rest], Element, Rest, Index, Index).
'$nth_any_rest'([Head|List], Element, [Head|Rest], Here, Index) :-
    Next is Here + 1,
    '$nth_any_rest'(List, Element, Rest, Next, Index).

'$nth_rest'(Steps, [Head|Tail], Element, Rest) :-
    (   Steps =:= 0
    ->  Element = Head,
        Rest = Tail
    ;   Fewer is Steps - 1,
        Rest = [Head|Others],
        '$nth_rest'(Fewer, Tail, Element, Others)
    ).

last([Head|Tail], Last) :-
    '$last'(Tail, Head, Last).

'$last'([], Last, Last).
'$last'([Head|Tail], _, Last) :-
    '$last'(Tail, Head, Last).

proper_length(List, Length) :-
    '$skip_list'(Count, List, Tail),
    Tail == [],
    Length = Count.

same_length([], []).
same_length([_|Left], [_|Right]) :-
    same_length(Left, Right).

% The second list is counted down beside the first, so that a partial first
% list ends where a proper second one does.
reverse(List, Reversed) :-
    '$reverse'(List, Reversed, [], Reversed).

'$reverse'([], [], Reversed, Reversed).
'$reverse'([Head|Tail], [_|Bound], Done, Reversed) :-
    '$reverse'(Tail, Bound, [Head|Done], Reversed).

permutation(List, Permutation) :-
    '$skip_list'(ListLength, List, ListTail),
    '$skip_list'(PermutationLength, Permutation, PermutationTail),
    '$permutation_lengths'(ListTail, PermutationTail, List, Permutation,
                           ListLength, PermutationLength),
    '$permutation'(List, Permutation).

'$permutation_lengths'(ListTail, PermutationTail, List, Permutation,
                       ListLength, PermutationLength) :-
    (   ListTail == []
    ->  (   PermutationTail == []
        ->  ListLength == PermutationLength
        ;   var(PermutationTail)
        ->  length(Permutation, ListLength)
        ;   must_be(list, Permutation)
        )
    ;   var(ListTail)
    ->  (   PermutationTail == []
        ->  length(List, PermutationLength)
        ;   var(PermutationTail)
        ->  length(List, Length),
            length(Permutation, Length)
        ;   must_be(list, List)
        )
    ;   must_be(list, List)
    ).

'$permutation'([], []).
'$permutation'([Head|Tail], [First|Permutation]) :-
    '$select'(Tail, Head, First, Rest),
    '$permutation'(Rest, Permutation).

flatten(Nested, Flat) :-
    '$flatten'(Nested, Found, []),
    Flat = Found.

'$flatten'(Term, Flat, Tail) :-
    (   var(Term)
    ->  Flat = [Term|Tail]
    ;   Term = [First|Rest]
    ->  '$flatten'(First, Flat, Middle),
        '$flatten'(Rest, Middle, Tail)
    ;   Term == []
    ->  Flat = Tail
    ;   Flat = [Term|Tail]
    ).

clumped([], []).
clumped([Item|Items], [Item-Count|Clumps]) :-
    '$clump'(Items, Item, 1, Count, Rest),
    clumped(Rest, Clumps).

'$clump'(Items, Item, Count, Total, Rest) :-
    (   nonvar(Items),
        Items = [Next|More],
        Next == Item
    ->  Longer is Count + 1,
        '$clump'(More, Item, Longer, Total, Rest)
    ;   Total = Count,
        Rest = Items
    ).

predsort(Order, List, Sorted) :-
    '$skip_list'(Length, List, Tail),
    (   Tail == []
    ->  '$predsort'(Length, List, _, Order, Found),
        Sorted = Found
    ;   must_be(List, list)     % SWI-Prolog's argument order, hence its error
    ).

% Sorts the first Length elements of List; Rest is what follows them.
'$predsort'(Length, List, Rest, Order, Sorted) :-
    (   Length > 2
    ->  Half is Length // 2,
        Other is Length - Half,
        '$predsort'(Half, List, Middle, Order, Left),
        '$predsort'(Other, Middle, Rest, Order, Right),
        '$predmerge'(Left, Right, Order, Sorted)
    ;   Length =:= 2
    ->  List = [First,Second|Rest],
        call(Order, Relation, First, Second),
        '$predsort_pair'(Relation, First, Second, Sorted)
    ;   Length =:= 1
    ->  List = [First|Rest],
        Sorted = [First]
    ;   Rest = List,
        Sorted = []
    ).

'$predsort_pair'(<, First, Second, [First,Second]).
'$predsort_pair'(=, First, _, [First]).
'$predsort_pair'(>, First, Second, [Second,First]).

'$predmerge'([], Right, _, Right).
'$predmerge'([First|Left], Right, Order, Sorted) :-
    '$predmerge'(Right, First, Left, Order, Sorted).

'$predmerge'([], First, Left, _, [First|Left]).
'$predmerge'([Second|Right], First, Left, Order, Sorted) :-
    call(Order, Relation, First, Second),
    !,
    '$predmerge'(Relation, First, Left, Second, Right, Order, Sorted).

'$predmerge'(>, First, Left, Second, Right, Order, [Second|Sorted]) :-
    '$predmerge'(Right, First, Left, Order, Sorted).
'$predmerge'(=, First, Left, _, Right, Order, [First|Sorted]) :-
    '$predmerge'(Left, Right, Order, Sorted).
'$predmerge'(<, First, Left, Second, Right, Order, [First|Sorted]) :-
    '$predmerge'(Left, [Second|Right], Order, Sorted).

max_member(Max, List) :-
    (   List == []
    ->  fail
    ;   nonvar(List),
        List = [Head|Tail]
    ->  '$max_member'(Tail, Head, Max)
    ;   '$no_matching_rule'(lists, max_member(Max, List))
    ).

'$max_member'(List, Best, Max) :-
    (   List == []
    ->  Max = Best
    ;   nonvar(List),
        List = [Head|Tail]
    ->  (   Head @> Best
        ->  '$max_member'(Tail, Head, Max)
        ;   '$max_member'(Tail, Best, Max)
        )
    ;   '$no_matching_rule'(lists, max_member_(List, Best, Max))
    ).

min_member(Min, List) :-
    (   List == []
    ->  fail
    ;   nonvar(List),
        List = [Head|Tail]
    ->  '$min_member'(Tail, Head, Min)
    ;   '$no_matching_rule'(lists, min_member(Min, List))
    ).

'$min_member'(List, Best, Min) :-
    (   List == []
    ->  Min = Best
    ;   nonvar(List),
        List = [Head|Tail]
    ->  (   Head @< Best
        ->  '$min_member'(Tail, Head, Min)
        ;   '$min_member'(Tail, Best, Min)
        )
    ;   '$no_matching_rule'(lists, min_member_(List, Best, Min))
    ).

max_member(AtMost, Max, List) :-
    (   List == []
    ->  fail
    ;   nonvar(List),
        List = [Head|Tail]
    ->  '$max_member'(Tail, AtMost, Head, Max)
    ;   '$no_matching_rule'(lists, max_member(user:AtMost, Max, List))
    ).

'$max_member'(List, AtMost, Best, Max) :-
    (   List == []
    ->  Max = Best
    ;   nonvar(List),
        List = [Head|Tail]
    ->  (   call(AtMost, Head, Best)
        ->  '$max_member'(Tail, AtMost, Best, Max)
        ;   '$max_member'(Tail, AtMost, Head, Max)
        )
    ;   '$no_matching_rule'(lists, max_member_(List, user:AtMost, Best, Max))
    ).

min_member(AtMost, Min, List) :-
    (   List == []
    ->  fail
    ;   nonvar(List),
        List = [Head|Tail]
    ->  '$min_member'(Tail, AtMost, Head, Min)
    ;   '$no_matching_rule'(lists, min_member(user:AtMost, Min, List))
    ).

'$min_member'(List, AtMost, Best, Min) :-
    (   List == []
    ->  Min = Best
    ;   nonvar(List),
        List = [Head|Tail]
    ->  (   call(AtMost, Best, Head)
        ->  '$min_member'(Tail, AtMost, Best, Min)
        ;   '$min_member'(Tail, AtMost, Head, Min)
        )
    ;   '$no_matching_rule'(lists, min_member_(List, user:AtMost, Best, Min))
    ).

is_set(Set) :-
    '$skip_list'(Length, Set, Tail),
    Tail == [],
    sort(Set, Sorted),
    length(Sorted, Length).

% The set predicates check once that their first argument is a proper list:
% the loops then need no clause for anything but [] and [_|_].

intersection(Set, Other, Both) :-
    '$skip_list'(_, Set, Tail),
    (   Tail == []
    ->  '$intersection'(Set, Other, Both)
    ;   '$no_matching_rule'(lists, intersection(Tail, Other, _))
    ).

'$intersection'([], _, []).
'$intersection'([Element|Set], Other, Both) :-
    (   memberchk(Element, Other)
    ->  Both = [Element|Rest],
        '$intersection'(Set, Other, Rest)
    ;   '$intersection'(Set, Other, Both)
    ).

union(Set, Other, Either) :-
    '$skip_list'(_, Set, Tail),
    (   Tail == []
    ->  '$union'(Set, Other, Either)
    ;   '$no_matching_rule'(lists, union(Tail, Other, _))
    ).

'$union'([], Other, Other).
'$union'([Element|Set], Other, Either) :-
    (   memberchk(Element, Other)
    ->  '$union'(Set, Other, Either)
    ;   Either = [Element|Rest],
        '$union'(Set, Other, Rest)
    ).

subset(Part, Set) :-
    '$skip_list'(_, Part, Tail),
    (   Tail == []
    ->  '$subset'(Part, Set)
    ;   '$no_matching_rule'(lists, subset(Tail, Set))
    ).

'$subset'([], _).
'$subset'([Element|Part], Set) :-
    memberchk(Element, Set),
    '$subset'(Part, Set).

subtract(Set, Removed, Rest) :-
    '$skip_list'(_, Set, Tail),
    (   Tail == []
    ->  '$subtract'(Set, Removed, Rest)
    ;   '$no_matching_rule'(lists, subtract(Tail, Removed, _))
    ).

'$subtract'([], _, []).
'$subtract'([Element|Set], Removed, Rest) :-
    (   memberchk(Element, Removed)
    ->  '$subtract'(Set, Removed, Rest)
    ;   Rest = [Element|Kept],
        '$subtract'(Set, Removed, Kept)
    ).
