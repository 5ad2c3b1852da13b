% Workload- and latency-aware: enough instances, and close enough to their clients.
%
% For applications that mind both. An instance without client requests goes away; one that has more of them than it
% handles, or gets some too late, moves to the demand, or else multiplies. Late client requests decide where to, if
% there are any.
%
% Overload is a reason to act, and every late fact is another: with overload and three late facts, an operation is
% proposed four times.

:- ensure_loaded('library.pl').

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    ( overloaded(Instance) ; late(Instance, _, _) ).

operation(replicate, Instance, Target) :-
    most_late_come_through(Instance, Target),
    ( overloaded(Instance) ; late(Instance, _, _) ).

operation(replicate, Instance, Target) :-
    overloaded(Instance),
    \+ late(Instance, _, _),
    most_come_through(Instance, Target),
    may_fit(Instance, Target).
