% Workload-aware: enough instances for the demand, wherever it comes from.
%
% For applications that are sensitive to the load on each instance rather than to the distance to their clients. An
% instance without client requests undeploys. An overloaded instance migrates towards the demand, or replicates.

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
