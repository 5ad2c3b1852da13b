% Workload- and latency-aware, with memory: as workload-and-latency-aware, but without asking in vain twice.
%
% For applications on crowded nodes. While the agent remembers that a migration was inhibited, it proposes none,
% whatever the target. For a replication it leaves aside the client requests of every neighbour towards which it
% remembers one inhibited: what remains must itself be a reason to act, and decides where to, so that another
% neighbour gets its turn. How long an agent remembers is a setting of the agent, not of this text.
%
% As without memory, overload is a reason to act and every late fact is another, each with a proposal of its own.

:- ensure_loaded('library.pl').

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    \+ inhibited(migrate, Instance, _),
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    ( overloaded(Instance) ; late(Instance, _, _) ).

operation(replicate, Instance, Target) :-
    findall(Neighbour-Rate, counted_late(Instance, Neighbour, Rate), Rates),
    sends_most(Rates, Target),
    ( counted_overload(Instance) ; counted_late(Instance, _, _) ).

operation(replicate, Instance, Target) :-
    counted_overload(Instance),
    \+ counted_late(Instance, _, _),
    findall(Neighbour-Rate, counted(Instance, Neighbour, Rate), Rates),
    sends_most(Rates, Target),
    may_fit(Instance, Target).

% counted(Instance, Neighbour, Rate): client requests through a neighbour towards which no inhibited replication is
% remembered. One solution for each such fact, in the order of the facts.
counted(Instance, Neighbour, Rate) :-
    requests(Instance, Neighbour, Rate, _),
    \+ inhibited(replicate, Instance, Neighbour).

% counted_late(Instance, Neighbour, Rate): those of them that are late, one solution each.
counted_late(Instance, Neighbour, Rate) :-
    late(Instance, Neighbour, Rate),
    \+ inhibited(replicate, Instance, Neighbour).

% counted_overload(Instance): they alone are more than one instance handles.
counted_overload(Instance) :-
    handles(Instance, MaxRate),
    aggregate_all(sum(Rate), counted(Instance, _, Rate), Total),
    Total > MaxRate.
