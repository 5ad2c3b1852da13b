% A first policy, and the facts that one of its agents sees: everything that a decision needs, in one file.
%
%   cargo run --release -- prolog examples/first-policy.pl --goal 'operation(Operation, s1, Target)'
%
% answers Operation = migrate, Target = n43: most requests for s1 come through n43, and they wait too long.
% SWI-Prolog reads the same text and returns the same answer.

% The application: 4 units of hardware, 10 requests per second at most, 25 ms to a client at most.
service(videoBroadcast, 4, 10, 25).

% The instance s1 of it runs on node n42, which has 10 units free.
serviceInstance(s1, videoBroadcast, n42).
node(n42, 10).

% Its client requests: through which neighbour, how many per second, how late in ms.
requests(s1, self, 2, 0).
requests(s1, n41, 1, 15).
requests(s1, n43, 6, 40).

% Without client requests, the instance is undeployed.
operation(undeploy, Instance, self) :-
    \+ requests(Instance, _, _, _).

% If more requests come through one neighbour than through any other, and they are late, it migrates there.
operation(migrate, Instance, Neighbour) :-
    serviceInstance(Instance, Service, _),
    service(Service, _, _, LatencyMax),
    requests(Instance, Neighbour, Rate, Latency),
    Neighbour \== self,
    Latency > LatencyMax,
    \+ busier(Instance, Neighbour, Rate).

busier(Instance, Neighbour, Rate) :-
    requests(Instance, Other, OtherRate, _),
    Other \== Neighbour,
    OtherRate >= Rate.
