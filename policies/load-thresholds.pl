% Load thresholds: as many instances as the load requires, wherever they are.
%
% For applications that are paid by the instance. The load of an instance is the rate of its client requests relative to
% the rate that it handles. Above the upper threshold it replicates to the neighbour that sends most, or on its own node.
% Below the lower threshold it undeploys and leaves its clients to other instances.
%
% An agent does not see whether there are other instances. To ensure that one remains, the operator names a home:
% fact(Application, home, Node) is the node whose instance never undeploys because of low load. An application without
% a home keeps every instance that has clients. The home must have an instance; otherwise even the last instance may
% undeploy.
%
% The gap between the thresholds is wide on purpose: half of the load at which an instance replicates must be well above
% the load at which one undeploys; otherwise instances would be created and removed forever.

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

% load_percent(Instance, Percent): the rate of its client requests, in percent of the rate that it handles.
load_percent(Instance, Percent) :-
    handles(Instance, MaxRate),
    aggregate_all(sum(Rate), requests(Instance, _, Rate, _), Total),
    Percent is 100 * Total / MaxRate.
