% Browsing a small knowledge base: a hundred units in shuffled order, each with four lists as properties, searched
% for all ways in which three patterns match them. Lists in lists, unification, deep backtracking.
%
% In a pattern, some(Items) stands for any number of items, the same ones wherever Items occurs again; a variable
% stands for one item, a list for a list that it matches.

iterations(50).

run(Iterations) :-
    units(Units),
    between(1, Iterations, _),
    found(Units, _),
    fail.
run(_).

check :-
    findall(Items, matches([some(Items), c, some(Items)], [a, b, c, a, b]), [[a, b]]),
    findall(A-B, matches([some(A), some(B)], [a, b]), [[]-[a, b], [a]-[b], [a, b]-[]]),
    findall(A, matches([X, [some(A)], X], [a, [b, c], a]), [[b, c]]),
    \+ matches([X, X], [a, b]),
    units(Units),
    length(Units, 100),
    found_in(Units, 1, 133),
    found_in(Units, 2, 134),
    found_in(Units, 3, 133).

% Pattern N has one match, in sample N - 1, and 400 properties take the three samples in turn.
found_in(Units, Number, Times) :-
    findall(match, found(Units, Number), Matches),
    length(Matches, Times).

% found(Units, Number): one solution for each way in which the pattern of that number matches a property.
found(Units, Number) :-
    one_of(unit(_, Properties), Units),
    one_of(Property, Properties),
    pattern(Number, Pattern),
    matches(Pattern, Property).

one_of(Item, [Item|_]).
one_of(Item, [_|Items]) :-
    one_of(Item, Items).

pattern(1, [some(A), B, some(C), B, a, some(A), a, some(C), some(A)]).
pattern(2, [some(A), some(B), some(B), some(A), [some(A)], [some(B)]]).
pattern(3, [_, _, some(_), [b, a], some(_), _, _]).

matches([], []).
matches([First|Pattern], Items) :-
    (   var(First)
    ->  Items = [First|Rest],
        matches(Pattern, Rest)
    ;   matches_first(First, Pattern, Items)
    ).

matches_first(some(Part), Pattern, Items) :-
    !,
    starts_with(Items, Part, Rest),
    matches(Pattern, Rest).
matches_first([Inner|More], Pattern, [Item|Items]) :-
    !,
    is_list(Item),
    matches([Inner|More], Item),
    matches(Pattern, Items).
matches_first(Item, Pattern, [Item|Items]) :-
    matches(Pattern, Items).

% starts_with(Items, Part, Rest): Part and then Rest make up Items.
starts_with(Items, [], Items).
starts_with([Item|Items], [Item|Part], Rest) :-
    starts_with(Items, Part, Rest).

% units(Units): the properties of unit K are samples K, K + 1, ... in turn; the order is that of a seeded shuffle.
units(Units) :-
    numbered_units(100, 21, Keyed),
    keysort(Keyed, Shuffled),
    without_keys(Shuffled, Units).

numbered_units(0, _, []) :-
    !.
numbered_units(K, Seed, [Key-unit(K, Properties)|Units]) :-
    Key is Seed * 17 mod 251,
    properties(4, K, Properties),
    Less is K - 1,
    numbered_units(Less, Key, Units).

properties(0, _, []) :-
    !.
properties(Count, K, [Property|Properties]) :-
    Index is K mod 3,
    sample(Index, Property),
    Less is Count - 1,
    Next is K + 1,
    properties(Less, Next, Properties).

without_keys([], []).
without_keys([_-Unit|Keyed], [Unit|Units]) :-
    without_keys(Keyed, Units).

sample(0, [a, a, a, b, b, b, b, a, a, a, a, a, b, b, a, a, a]).
sample(1, [a, a, b, b, b, b, a, a, [a, a], [b, b]]).
sample(2, [a, a, a, b, [b, a], b, a, b, a]).
