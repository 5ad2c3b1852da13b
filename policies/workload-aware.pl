% Workload-aware: enough instances for the demand, wherever it comes from.
%
% For applications that mind the load on each instance more than the distance to their clients. An instance
% without client requests goes away; one with more than it handles moves to the demand, or else multiplies.

:- ensure_loaded('library.pl').

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    overloaded(Instance).

operation(replicate, Instance, Target) :-
    overloaded(Instance),
    most_come_through(Instance, Target),
    may_fit(Instance, Target).
