% Pairs Key-Value and lists of them.

% The list that is known drives the recursion.
pairs_keys_values(Pairs, Keys, Values) :-
    (   nonvar(Pairs)
    ->  '$unzip_pairs'(Pairs, Keys, Values)
    ;   nonvar(Keys)
    ->  '$zip_keys'(Keys, Values, Pairs)
    ;   '$zip_values'(Values, Keys, Pairs)
    ).

'$unzip_pairs'([], [], []).
'$unzip_pairs'([Key-Value|Pairs], [Key|Keys], [Value|Values]) :-
    '$unzip_pairs'(Pairs, Keys, Values).

'$zip_keys'([], [], []).
'$zip_keys'([Key|Keys], [Value|Values], [Key-Value|Pairs]) :-
    '$zip_keys'(Keys, Values, Pairs).

'$zip_values'([], [], []).
'$zip_values'([Value|Values], [Key|Keys], [Key-Value|Pairs]) :-
    '$zip_values'(Values, Keys, Pairs).

pairs_keys([], []).
pairs_keys([Key-_|Pairs], [Key|Keys]) :-
    pairs_keys(Pairs, Keys).

pairs_values([], []).
pairs_values([_-Value|Pairs], [Value|Values]) :-
    pairs_values(Pairs, Values).

group_pairs_by_key([], []).
group_pairs_by_key([Key-Value|Pairs], [Key-[Value|Values]|Groups]) :-
    '$same_key'(Pairs, Key, Values, Rest),
    group_pairs_by_key(Rest, Groups).

'$same_key'([Next-Value|Pairs], Key, [Value|Values], Rest) :-
    Next == Key,
    !,
    '$same_key'(Pairs, Key, Values, Rest).
'$same_key'(Rest, _, [], Rest).

transpose_pairs(Pairs, Transposed) :-
    '$flip_pairs'(Pairs, Flipped),
    keysort(Flipped, Transposed).

'$flip_pairs'([], []).
'$flip_pairs'([Key-Value|Pairs], [Value-Key|Flipped]) :-
    '$flip_pairs'(Pairs, Flipped).

map_list_to_pairs(KeyOf, List, Pairs) :-
    '$map_list_to_pairs'(List, KeyOf, Pairs).

'$map_list_to_pairs'([], _, []).
'$map_list_to_pairs'([Element|List], KeyOf, [Key-Element|Pairs]) :-
    call(KeyOf, Element, Key),
    '$map_list_to_pairs'(List, KeyOf, Pairs).
