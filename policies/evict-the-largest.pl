% Evict the largest: the acceptance policy of a node whose owner keeps a part of it free.
%
% The owner of a node is asked after each cycle what it wants of what runs there, and says so by two predicates:
%
%   evict(Instance, Reason)             the instance is to leave. It is told so, and has some evaluations left to migrate or to
%                                       replicate elsewhere (`managers.notice` in a scenario); after the last it is gone
%   shrink(Instance, Flavour, Reason)   the instance runs in that smaller flavour from now on
%
% The facts are those of a manager (see accept-what-fits.pl), and
%
%   leave(Instance, Evaluations)        the instance was told to leave, and has so many evaluations left
%
% This owner calls a node nearly full when less than a fifth of its hardware is free, with what is about to leave counted as
% free. It then evicts the instance that needs most, of several the one that came first; an instance that is alone on its node
% takes room from nobody, and stays. It has no say in what comes: the text has no clause of accept/1 or reject/2, so whatever
% fits is accepted.

:- dynamic service/4, serviceInstance/3, node/2, node/3, capacity/2, leave/2.

evict(Instance, nearly_full) :-
    nearly_full,
    findall(Negative-Candidate, candidate(Negative, Candidate), Candidates),
    keysort(Candidates, [_-Instance, _|_]).

% Those that stay, by what they need: the largest first.
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
