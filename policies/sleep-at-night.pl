% Sleep at night: without clients, sleep where they were, and be there when they come back.
%
% For clients who are silent for long, at night or between two shifts, and come back to where they were. An instance that nobody
% asked for at this evaluation and at the two before it sleeps, and gives back its hardware; the first client request wakes it.
% Awake it moves and multiplies as with workload-and-latency-aware. One that was not let wake, since there was no room for it
% any more, goes towards its clients.
%
% It never goes away by itself: a sleeper holds no more than its application says that it keeps. An application that does not say
% how it sleeps is managed as if nobody were ever silent.

:- ensure_loaded('library.pl').
:- dynamic asleep/1, earlier/5, age/2.
:- remembers(requests, 2).

operation(sleep, Instance, self) :-
    idle(Instance),
    \+ asleep(Instance),
    \+ earlier(_, Instance, _, _, _),
    age(Instance, Evaluations),
    Evaluations >= 2.

operation(migrate, Instance, Neighbour) :-
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    ( asleep(Instance) ; overloaded(Instance) ; late(Instance, _, _) ).

operation(replicate, Instance, Target) :-
    \+ asleep(Instance),
    most_late_come_through(Instance, Target),
    ( overloaded(Instance) ; late(Instance, _, _) ).

operation(replicate, Instance, Target) :-
    \+ asleep(Instance),
    overloaded(Instance),
    \+ late(Instance, _, _),
    most_come_through(Instance, Target),
    may_fit(Instance, Target).
