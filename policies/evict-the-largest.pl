% Evict the largest: the acceptance policy of a node whose owner keeps a part of it free.
%
% After each cycle, the owner of a node is asked which instances it wants to evict or shrink. Two predicates answer:
%
%   evict(Instance, Reason)             the instance must leave. It is notified, and has some evaluations left to migrate or
%                                       replicate elsewhere (`managers.notice` in a scenario); then it is removed
%   shrink(Instance, Flavour, Reason)   the instance runs in that smaller flavour from now on
%
% The facts are those of a manager (see accept-what-fits.pl), and
%
%   leave(Instance, Evaluations)        the instance was told to leave, and has this number of evaluations left
%
% This owner considers a node nearly full if less than a fifth of its hardware is free; hardware of instances that are about
% to leave counts as free. It then evicts the instance that needs most hardware; of several, the one that came first. The
% only instance of a node blocks no other and is kept. The owner accepts every request that fits: there is no clause of
% accept/1 or reject/2.

:- dynamic service/4, serviceInstance/3, node/2, node/3, capacity/2, leave/2.

evict(Instance, nearly_full) :-
    nearly_full,
    findall(Negative-Candidate, candidate(Negative, Candidate), Candidates),
    keysort(Candidates, [_-Instance, _|_]).

% candidate(Negative, Instance): an instance that stays; sorting by the negative hardware puts the largest first.
candidate(Negative, Instance) :-
    serviceInstance(Instance, Application, _),
    \+ leave(Instance, _),
    service(Application, Hardware, _, _),
    Negative is -Hardware.

nearly_full :-
    node(Node, Free),
    capacity(Node, Capacity),
    Capacity \== inf,
    findall(Hardware, about_to_leave(Hardware), Leaving),
    sum_list(Leaving, Promised),
    5 * (Free + Promised) < Capacity.

about_to_leave(Hardware) :-
    leave(Instance, _),
    serviceInstance(Instance, Application, _),
    service(Application, Hardware, _, _).
