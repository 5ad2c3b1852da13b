% Workload- and latency-aware, with memory: like workload-and-latency-aware, but does not repeat inhibited proposals.
%
% For applications on crowded nodes. While the agent remembers an inhibited migration, it proposes no migration,
% whatever the target. For a replication it ignores the client requests of every neighbour towards which it remembers
% an inhibited replication: the remaining requests alone must be a reason to act, and determine the target, so that
% other neighbours are tried. How long an agent remembers is a setting of the agent, not of this policy.
%
% As without memory, overload is a reason to act and every late fact is another, each with a separate proposal.

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

% counted_late(Instance, Neighbour, Rate): the counted requests that are late. One solution for each such fact.
counted_late(Instance, Neighbour, Rate) :-
    late(Instance, Neighbour, Rate),
    \+ inhibited(replicate, Instance, Neighbour).

% counted_overload(Instance): the counted requests alone exceed what one instance handles.
counted_overload(Instance) :-
    handles(Instance, MaxRate),
    aggregate_all(sum(Rate), counted(Instance, _, Rate), Total),
    Total > MaxRate.
