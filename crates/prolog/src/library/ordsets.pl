% Ordered sets: lists without duplicates in the standard order of terms.
%
% Two sets are walked in step. The order of their heads picks the clause, and
% the list that moved on comes first.

is_ordset(Term) :-
    is_list(Term),
    '$is_ordset'(Term).

'$is_ordset'([]).
'$is_ordset'([First|Rest]) :-
    '$is_ordset'(Rest, First).

'$is_ordset'([], _).
'$is_ordset'([Second|Rest], First) :-
    First @< Second,
    '$is_ordset'(Rest, Second).

ord_empty([]).

list_to_ord_set(List, Set) :-
    sort(List, Set).

ord_seteq(Set1, Set2) :-
    Set1 == Set2.

ord_memberchk(Element, Set) :-
    '$ord_memberchk'(Set, Element).

'$ord_memberchk'([Head|Tail], Element) :-
    compare(Order, Element, Head),
    (   Order = (>)
    ->  '$ord_memberchk'(Tail, Element)
    ;   Order = (=)
    ).

ord_add_element([], Element, [Element]).
ord_add_element([Head|Tail], Element, Set) :-
    compare(Order, Head, Element),
    '$ord_add_element'(Order, Head, Tail, Element, Set).

'$ord_add_element'(<, Head, Tail, Element, [Head|Set]) :-
    ord_add_element(Tail, Element, Set).
'$ord_add_element'(=, Head, Tail, _, [Head|Tail]).
'$ord_add_element'(>, Head, Tail, Element, [Element,Head|Tail]).

ord_del_element([], _, []).
ord_del_element([Head|Tail], Element, Set) :-
    compare(Order, Head, Element),
    '$ord_del_element'(Order, Head, Tail, Element, Set).

'$ord_del_element'(<, Head, Tail, Element, [Head|Set]) :-
    ord_del_element(Tail, Element, Set).
'$ord_del_element'(=, _, Tail, _, Tail).
'$ord_del_element'(>, Head, Tail, _, [Head|Tail]).

% Fails on a set in which Element is not followed by something greater: it
% would not be ordered.
ord_selectchk(Element, [Head|Tail], Rest) :-
    (   Head @< Element,
        Rest = [Head|Others]
    ->  ord_selectchk(Element, Tail, Others)
    ;   Element = Head,
        Rest = Tail,
        (   Tail == []
        ->  true
        ;   Tail = [Next|_]
        ->  Element @< Next
        )
    ).

ord_subset([], _).
ord_subset([Head|Tail], Set) :-
    '$ord_subset'(Set, Head, Tail).

'$ord_subset'([Head2|Tail2], Head1, Tail1) :-
    compare(Order, Head1, Head2),
    (   Order = (=)
    ->  ord_subset(Tail1, Tail2)
    ;   Order = (>),
        '$ord_subset'(Tail2, Head1, Tail1)
    ).

ord_disjoint(Set1, Set2) :-
    \+ ord_intersect(Set1, Set2).

ord_intersect([Head|Tail], Set) :-
    '$ord_intersect'(Set, Head, Tail).

'$ord_intersect'([Head2|Tail2], Head1, Tail1) :-
    compare(Order, Head1, Head2),
    '$ord_intersect'(Order, Head1, Tail1, Head2, Tail2).

'$ord_intersect'(<, _, Tail1, Head2, Tail2) :-
    '$ord_intersect'(Tail1, Head2, Tail2).
'$ord_intersect'(=, _, _, _, _).
'$ord_intersect'(>, Head1, Tail1, _, Tail2) :-
    '$ord_intersect'(Tail2, Head1, Tail1).

ord_intersect(Set1, Set2, Both) :-
    ord_intersection(Set1, Set2, Both).

ord_intersection(Set1, Set2, Both) :-
    (   Both == []
    ->  ord_disjoint(Set1, Set2)
    ;   '$ord_intersection'(Set1, Set2, Both)
    ).

'$ord_intersection'([], _, []).
'$ord_intersection'([Head|Tail], Set, Both) :-
    '$ord_intersection'(Set, Head, Tail, Both).

'$ord_intersection'([], _, _, []).
'$ord_intersection'([Head2|Tail2], Head1, Tail1, Both) :-
    compare(Order, Head1, Head2),
    '$ord_intersection'(Order, Head1, Tail1, Head2, Tail2, Both).

'$ord_intersection'(<, _, Tail1, Head2, Tail2, Both) :-
    '$ord_intersection'(Tail1, Head2, Tail2, Both).
'$ord_intersection'(=, Head, Tail1, _, Tail2, [Head|Both]) :-
    '$ord_intersection'(Tail1, Tail2, Both).
'$ord_intersection'(>, Head1, Tail1, _, Tail2, Both) :-
    '$ord_intersection'(Tail2, Head1, Tail1, Both).

% The smallest set first: no result is ever larger.
ord_intersection(Sets, Common) :-
    must_be(list, Sets),
    '$key_by_length'(Sets, Keyed),
    keysort(Keyed, [_-Smallest|Others]),
    '$ord_common'(Others, Smallest, Common).

'$key_by_length'([], []).
'$key_by_length'([Set|Sets], [Length-Set|Keyed]) :-
    '$skip_list'(Length, Set, Tail),
    (   Tail == []
    ->  '$key_by_length'(Sets, Keyed)
    ;   type_error(list, Set)
    ).

'$ord_common'([], Common, Common).
'$ord_common'([_-Set|Sets], Before, Common) :-
    (   Before == []
    ->  Common = []
    ;   '$ord_intersection'(Before, Set, After),
        '$ord_common'(Sets, After, Common)
    ).

% Both holds what the sets share, Only2 what only the second one has. A partial
% list is taken to end where it is open, hence the cuts.
ord_intersection(Set1, Set2, Both, Only2) :-
    '$ord_split'(Set1, Set2, Both, Only2).

'$ord_split'([], Set2, [], Set2) :- !.
'$ord_split'([Head|Tail], Set2, Both, Only2) :-
    '$ord_split_2'(Set2, Head, Tail, Both, Only2).

'$ord_split_1'([], Head2, Tail2, [], [Head2|Tail2]) :- !.
'$ord_split_1'([Head1|Tail1], Head2, Tail2, Both, Only2) :-
    compare(Order, Head1, Head2),
    '$ord_split'(Order, Head1, Tail1, Head2, Tail2, Both, Only2).

'$ord_split_2'([], _, _, [], []) :- !.
'$ord_split_2'([Head2|Tail2], Head1, Tail1, Both, Only2) :-
    compare(Order, Head1, Head2),
    '$ord_split'(Order, Head1, Tail1, Head2, Tail2, Both, Only2).

'$ord_split'(<, _, Tail1, Head2, Tail2, Both, Only2) :-
    '$ord_split_1'(Tail1, Head2, Tail2, Both, Only2).
'$ord_split'(=, Head, Tail1, _, Tail2, [Head|Both], Only2) :-
    '$ord_split'(Tail1, Tail2, Both, Only2).
'$ord_split'(>, Head1, Tail1, Head2, Tail2, Both, [Head2|Only2]) :-
    '$ord_split_2'(Tail2, Head1, Tail1, Both, Only2).

ord_subtract(Set, Removed, Rest) :-
    (   Set == []
    ->  Rest = []
    ;   Removed == []
    ->  Rest = Set
    ;   nonvar(Set),
        Set = [Head|Tail]
    ->  '$ord_subtract_2'(Removed, Head, Tail, Rest)
    ;   '$no_matching_rule'(ordsets, ord_subtract(Set, Removed, Rest))
    ).

'$ord_subtract_1'([], _, _, []).
'$ord_subtract_1'([Head1|Tail1], Head2, Tail2, Rest) :-
    compare(Order, Head1, Head2),
    '$ord_subtract'(Order, Head1, Tail1, Head2, Tail2, Rest).

'$ord_subtract_2'([], Head, Tail, [Head|Tail]).
'$ord_subtract_2'([Head2|Tail2], Head1, Tail1, Rest) :-
    compare(Order, Head1, Head2),
    '$ord_subtract'(Order, Head1, Tail1, Head2, Tail2, Rest).

'$ord_subtract'(<, Head, Tail1, Head2, Tail2, [Head|Rest]) :-
    '$ord_subtract_1'(Tail1, Head2, Tail2, Rest).
'$ord_subtract'(=, _, Tail1, _, Tail2, Rest) :-
    ord_subtract(Tail1, Tail2, Rest).
'$ord_subtract'(>, Head1, Tail1, _, Tail2, Rest) :-
    '$ord_subtract_2'(Tail2, Head1, Tail1, Rest).

ord_union(Set1, Set2, Either) :-
    (   Set1 == []
    ->  Either = Set2
    ;   nonvar(Set1),
        Set1 = [Head|Tail]
    ->  '$ord_union'(Set2, Head, Tail, Either)
    ;   '$no_matching_rule'(ordsets, ord_union(Set1, Set2, Either))
    ).

'$ord_union'(Set, Head1, Tail1, Either) :-
    (   Set == []
    ->  Either = [Head1|Tail1]
    ;   nonvar(Set),
        Set = [Head2|Tail2]
    ->  compare(Order, Head1, Head2),
        '$ord_union'(Order, Head1, Tail1, Head2, Tail2, Either)
    ;   '$no_matching_rule'(ordsets, union2(Set, Head1, Tail1, Either))
    ).

'$ord_union'(<, Head1, Tail1, Head2, Tail2, [Head1|Either]) :-
    '$ord_union'(Tail1, Head2, Tail2, Either).
'$ord_union'(=, Head, Tail1, _, Tail2, [Head|Either]) :-
    ord_union(Tail1, Tail2, Either).
'$ord_union'(>, Head1, Tail1, Head2, Tail2, [Head2|Either]) :-
    '$ord_union'(Tail2, Head1, Tail1, Either).

% Halves of the list of sets are united on their own: each element takes part
% in a logarithmic number of steps.
ord_union(Sets, Union) :-
    (   Sets == []
    ->  Union = []
    ;   nonvar(Sets),
        Sets = [_|_]
    ->  length(Sets, Count),
        '$ord_union_first'(Count, Sets, Union, [])
    ;   '$no_matching_rule'(ordsets, ord_union(Sets, Union))
    ).

'$ord_union_first'(Count, Sets, Union, Rest) :-
    (   Count =:= 1
    ->  Sets = [Union|Rest]
    ;   Half is Count // 2,
        Other is Count - Half,
        '$ord_union_first'(Half, Sets, Left, Middle),
        '$ord_union_first'(Other, Middle, Right, Rest),
        ord_union(Left, Right, Union)
    ).

% New holds what the second set added.
ord_union([], Set2, Set2, Set2).
ord_union([Head|Tail], Set2, Either, New) :-
    '$ord_extend_2'(Set2, Head, Tail, Either, New).

'$ord_extend_1'([], Head2, Tail2, [Head2|Tail2], [Head2|Tail2]).
'$ord_extend_1'([Head1|Tail1], Head2, Tail2, Either, New) :-
    compare(Order, Head1, Head2),
    '$ord_extend'(Order, Head1, Tail1, Head2, Tail2, Either, New).

'$ord_extend_2'([], Head, Tail, [Head|Tail], []).
'$ord_extend_2'([Head2|Tail2], Head1, Tail1, Either, New) :-
    compare(Order, Head1, Head2),
    '$ord_extend'(Order, Head1, Tail1, Head2, Tail2, Either, New).

'$ord_extend'(<, Head1, Tail1, Head2, Tail2, [Head1|Either], New) :-
    '$ord_extend_1'(Tail1, Head2, Tail2, Either, New).
'$ord_extend'(=, Head, Tail1, _, Tail2, [Head|Either], New) :-
    ord_union(Tail1, Tail2, Either, New).
'$ord_extend'(>, Head1, Tail1, Head2, Tail2, [Head2|Either], [Head2|New]) :-
    '$ord_extend_2'(Tail2, Head1, Tail1, Either, New).

ord_symdiff([], Set, Set).
ord_symdiff([Head|Tail], Set, Difference) :-
    '$ord_symdiff'(Set, Head, Tail, Difference).

'$ord_symdiff'([], Head, Tail, [Head|Tail]).
'$ord_symdiff'([Head2|Tail2], Head1, Tail1, Difference) :-
    compare(Order, Head1, Head2),
    '$ord_symdiff'(Order, Head1, Tail1, Head2, Tail2, Difference).

'$ord_symdiff'(<, Head1, Tail1, Head2, Tail2, [Head1|Difference]) :-
    '$ord_symdiff'(Tail1, Head2, Tail2, Difference).
'$ord_symdiff'(=, _, Tail1, _, Tail2, Difference) :-
    ord_symdiff(Tail1, Tail2, Difference).
'$ord_symdiff'(>, Head1, Tail1, Head2, Tail2, [Head2|Difference]) :-
    '$ord_symdiff'(Tail2, Head1, Tail1, Difference).
