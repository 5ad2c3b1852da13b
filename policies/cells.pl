% Cells: instances divide under load and die without, each now and then.
%
% Every instance is like a cell: above one load it divides, with some probability, towards the neighbour that sends most or at
% home; below another it dies, with some probability. Nobody counts cells, and nobody keeps an order: chance keeps the many
% instances that see the same load from all doing the same at once. Cells never migrate, and latency does not matter.
%
% fact(Instance, random, Drawn) holds a whole number from 0 to 999999, drawn anew for each evaluation. The simulator tells it
% to agents whose policy asks; so does fact(Node, tier, Tier), where the cloud has tier 0. A cell of the cloud does not die:
% something must be left to divide again. An application that starts elsewhere can die out, unless its operator deploys it
% again.

% mario: allow lost-service, an application that starts in the cloud keeps an instance there
% mario: allow unbounded-replication, where every node is a cloud no cell dies

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

% load_percent(Instance, Percent): what the instance gets, of what it handles.
load_percent(Instance, Percent) :-
    handles(Instance, MaxRate),
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Percent is 100 * Total / MaxRate.

% happens(Instance, Millionths): what was drawn for this evaluation says so.
happens(Instance, Millionths) :-
    fact(Instance, random, Drawn),
    Drawn < Millionths.

% mortal(Instance): it is not in the cloud.
mortal(Instance) :-
    serviceInstance(Instance, _, Node),
    \+ fact(Node, tier, 0).
