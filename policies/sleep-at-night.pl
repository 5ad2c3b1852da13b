% Sleep at night: an instance without clients sleeps where it is, ready for their return.
%
% For clients that are silent for long periods, such as at night or between two shifts, and return to the same place. An
% instance without requests at this evaluation and the two before it sleeps, and releases its hardware; the first client
% request wakes it. Awake, it migrates and replicates like workload-and-latency-aware. A sleeping instance that could not wake,
% because its node had no room any more, migrates towards its clients.
%
% It never undeploys: a sleeping instance occupies only the hardware that its application keeps. An application that does not
% declare how it sleeps is managed as if its clients were never silent.

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
