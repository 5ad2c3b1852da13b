% Sustained demand: follow the clients, but not every whim of theirs.
%
% For applications whose moves are expensive. An agent sees one period at a time and remembers only what was inhibited, so
% this text keeps its calm in two ways:
%
% - Thresholds with a gap. An instance acts on an overload that a small fluctuation does not explain, a quarter above what
%   it handles; once it has multiplied, its share is far below that. It bears with late client requests until they are more
%   than half of all, and moves only if every client is behind one neighbour.
% - Patience. While it remembers anything inhibited, it asks for nothing more: the demand must outlast its memory. How long
%   that is, is a setting of the agent, not of this text.

:- ensure_loaded('library.pl').

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    calm(Instance),
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    ( clearly_overloaded(Instance) -> true ; mostly_late(Instance) ).

operation(replicate, Instance, Target) :-
    calm(Instance),
    mostly_late(Instance),
    most_late_come_through(Instance, Target).

operation(replicate, Instance, Target) :-
    calm(Instance),
    clearly_overloaded(Instance),
    \+ mostly_late(Instance),
    most_come_through(Instance, Target),
    may_fit(Instance, Target).

% calm(Instance): nothing that the agent asked for in vain is still remembered.
calm(Instance) :-
    \+ inhibited(_, Instance, _).

% clearly_overloaded(Instance): there is more to do than one instance handles, and a quarter on top.
clearly_overloaded(Instance) :-
    handles(Instance, MaxRate),
    total_rate(Instance, Total),
    4 * Total > 5 * MaxRate.

% mostly_late(Instance): more than half of the client requests are late.
mostly_late(Instance) :-
    total_rate(Instance, Total),
    aggregate_all(sum(Rate), late(Instance, _, Rate), Late),
    2 * Late > Total.

% total_rate(Instance, Total): all client requests of the period.
total_rate(Instance, Total) :-
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total).
