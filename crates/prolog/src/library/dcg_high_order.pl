% Grammar rules that take grammar rules: library(dcg/high_order). They are written
% as clauses, with what is before and behind each as the last arguments.

sequence(Element, List, Before, After) :-
    '$sequence'(List, Element, Before, After).

'$sequence'([First|Rest], Element, Before, After) :-
    call(Element, First, Before, Next),
    '$sequence'(Rest, Element, Next, After).
'$sequence'([], _, After, After).

% Once there is a separator, the element before it is settled, and there must be
% one behind it.
sequence(Element, Separator, List, Before, After) :-
    (   List = [First|Rest],
        call(Element, First, Before, Next)
    *-> (   Rest \== [],
            phrase(Separator, Next, Behind)
        ->  !,
            '$sequence'(Rest, Element, Separator, Behind, After)
        ;   Rest = [],
            After = Next
        )
    ;   List = [],
        After = Before
    ).

'$sequence'([First|Rest], Element, Separator, Before, After) :-
    call(Element, First, Before, Next),
    (   Rest \== [],
        phrase(Separator, Next, Behind)
    ->  !,
        '$sequence'(Rest, Element, Separator, Behind, After)
    ;   Rest = [],
        After = Next
    ).

sequence(Start, Element, Separator, End, List, Before, After) :-
    phrase(Start, Before, Inside),
    sequence(Element, Separator, List, Inside, Behind),
    phrase(End, Behind, After),
    !.

optional(Match, Default, Before, After) :-
    (   phrase(Match, Before, Next)
    ->  After = Next
    ;   phrase(Default, Before, After)
    ).

foreach(Generator, Element, Before, After) :-
    foreach(Generator, Element, [], Before, After).

foreach(Generator, Element, Separator, Before, After) :-
    findall(Element, Generator, Elements),
    '$phrase_each'(Elements, Separator, Before, After).

'$phrase_each'([], _, After, After).
'$phrase_each'([Element|Elements], Separator, Before, After) :-
    phrase(Element, Before, Next),
    (   Elements == []
    ->  After = Next
    ;   phrase(Separator, Next, Behind),
        '$phrase_each'(Elements, Separator, Behind, After)
    ).
