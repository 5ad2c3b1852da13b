% Workload- and latency-aware: enough instances, close enough to their clients.
%
% For applications that are sensitive to load and to latency. An instance without client requests undeploys. An instance that is
% overloaded, or that some requests reach too late, migrates towards the demand, or replicates. If some requests are late,
% they determine the target.
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
