% Cells: instances divide under high load and die under low load, each with some probability.
%
% Every instance behaves like a cell. Above the upper load threshold it divides with some probability, towards the neighbour
% that sends most or on its own node; below the lower threshold it dies with some probability. There is no coordination:
% chance keeps the instances that see the same load from all acting at once. Cells never migrate, and latency is ignored.
%
% fact(Instance, random, Drawn) is an integer from 0 to 999999, drawn for each evaluation. The simulator provides it, and
% fact(Node, tier, Tier), to agents whose policy reads them; the cloud has tier 0. A cell in the cloud does not die, so that
% one remains to divide again. An application that starts elsewhere can die out; then its operator has to deploy it
% again.

% mario: allow lost-service, an application that starts in the cloud keeps an instance there
% mario: allow unbounded-replication, in a world where every node is a cloud no cell dies

:- ensure_loaded('library.pl').
:- dynamic fact/3.

operation(undeploy, Instance, self) :-
    load_percent(Instance, Percent),
    lower(Lower),
    Percent < Lower,
    mortal(Instance),
    dies(Probability),
    happens(Instance, Probability).

operation(replicate, Instance, Target) :-
    load_percent(Instance, Percent),
    upper(Upper),
    Percent > Upper,
    divides(Probability),
    happens(Instance, Probability),
    most_come_through(Instance, Target),
    may_fit(Instance, Target).

% upper(Percent), lower(Percent): the thresholds. Change them here.
upper(80).
lower(20).

% divides(Millionths), dies(Millionths): the probabilities, at each evaluation.
divides(500000).
dies(200000).

% load_percent(Instance, Percent): the rate of its client requests, in percent of the rate that it handles.
load_percent(Instance, Percent) :-
    handles(Instance, MaxRate),
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Percent is 100 * Total / MaxRate.

% happens(Instance, Millionths): true with this probability; decided by the number drawn for this evaluation.
happens(Instance, Millionths) :-
    fact(Instance, random, Drawn),
    Drawn < Millionths.

% mortal(Instance): the instance is not in the cloud.
mortal(Instance) :-
    serviceInstance(Instance, _, Node),
    \+ fact(Node, tier, 0).
