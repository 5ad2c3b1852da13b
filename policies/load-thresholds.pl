% Load thresholds: as many instances as the load asks for, wherever they are.
%
% For applications that are paid by the instance. The load of an instance is the share of what it handles that it gets.
% Above the upper threshold it multiplies towards the neighbour that sends most, or at home. Below the lower one it goes
% away and leaves its clients to others.
%
% An agent does not see whether there are others. Somebody must stay, and the operator says where:
% fact(Application, home, Node) names the node whose instance never goes away for having little to do. An application
% without a home keeps every instance that has clients. Name a home that has an instance: with any other, the last one
% goes away too.
%
% The gap between the thresholds is wide on purpose: half of what makes an instance multiply must be well above what makes
% one go away, or instances come and go without end.

% mario: allow lost-service, the operator names a home that has an instance

:- ensure_loaded('library.pl').
:- dynamic fact/3.

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(undeploy, Instance, self) :-
    \+ idle(Instance),
    load_percent(Instance, Percent),
    lower(Lower),
    Percent < Lower,
    serviceInstance(Instance, Application, Node),
    fact(Application, home, Home),
    Home \== Node.

operation(replicate, Instance, Target) :-
    load_percent(Instance, Percent),
    upper(Upper),
    Percent > Upper,
    most_come_through(Instance, Target),
    may_fit(Instance, Target).

% upper(Percent), lower(Percent): the thresholds. Change them here.
upper(80).
lower(20).

% load_percent(Instance, Percent): what the instance gets, of what it handles.
load_percent(Instance, Percent) :-
    handles(Instance, MaxRate),
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Percent is 100 * Total / MaxRate.
