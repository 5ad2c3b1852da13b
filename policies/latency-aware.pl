% Latency-aware: instances close enough to their clients.
%
% For applications that mind the distance to their clients more than the load on each instance. An instance
% without client requests goes away; one that some client requests reach too late moves towards its clients, or
% else multiplies towards those that it serves late.
%
% Every late fact is a reason of its own: with three of them, an operation is proposed three times.

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
