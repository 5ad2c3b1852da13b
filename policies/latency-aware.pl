% Latency-aware: keeps instances close enough to their clients.
%
% For applications that are sensitive to the distance to their clients rather than to the load. An instance without
% client requests undeploys. An instance that some client requests reach too late migrates towards its clients, or
% replicates towards those whose requests are late.
%
% Every late fact is a separate reason: with three of them, an operation is proposed three times.

:- ensure_loaded('library.pl').

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    late(Instance, _, _).

operation(replicate, Instance, Target) :-
    most_late_come_through(Instance, Target),
    late(Instance, _, _).
