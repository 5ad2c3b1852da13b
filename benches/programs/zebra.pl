% Who keeps the zebra? Five houses, fourteen clues: unification of half-known terms, deep backtracking.

iterations(500).

run(Iterations) :-
    between(1, Iterations, _),
    zebra(_, _),
    fail.
run(_).

check :-
    findall(Keeper-Drinker, zebra(Keeper, Drinker), Answers),
    Answers == [japanese-norwegian].

% zebra(Keeper, Drinker): who keeps the zebra, and who drinks water.
% A house is house(Colour, Nation, Pet, Drink, Smoke); houses are listed from left to right.
zebra(Keeper, Drinker) :-
    Street = [house(_, norwegian, _, _, _), _, house(_, _, _, milk, _), _, _],
    one_of(house(red, english, _, _, _), Street),
    one_of(house(green, _, _, coffee, _), Street),
    one_of(house(_, spanish, dog, _, _), Street),
    one_of(house(_, ukrainian, _, tea, _), Street),
    right_of(house(green, _, _, _, _), house(ivory, _, _, _, _), Street),
    one_of(house(_, _, snails, _, winstons), Street),
    one_of(house(yellow, _, _, _, kools), Street),
    beside(house(_, _, _, _, chesterfields), house(_, _, fox, _, _), Street),
    beside(house(_, _, _, _, kools), house(_, _, horse, _, _), Street),
    one_of(house(_, _, _, orange_juice, lucky_strikes), Street),
    one_of(house(_, japanese, _, _, parliaments), Street),
    beside(house(_, norwegian, _, _, _), house(blue, _, _, _, _), Street),
    one_of(house(_, Keeper, zebra, _, _), Street),
    one_of(house(_, Drinker, _, water, _), Street).

one_of(House, [House|_]).
one_of(House, [_|Street]) :-
    one_of(House, Street).

right_of(Right, Left, [Left, Right|_]).
right_of(Right, Left, [_|Street]) :-
    right_of(Right, Left, Street).

beside(House, Other, Street) :-
    right_of(House, Other, Street).
beside(House, Other, Street) :-
    right_of(Other, House, Street).
