operation(migrate, Instance, Neighbour) :-
    findall(Sender, requests(Instance, Sender, _, _), [Only]),
    ( Only == self -> true ; Neighbour = Only ).
