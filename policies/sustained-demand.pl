% Sustained demand: follow the clients, but not every whim of theirs.
%
% For clients who come and go. An agent looks at what held: at this evaluation and at the two before it. An instance goes away
% if nobody asked for it at any of the three. It moves or multiplies if at each of the three it had clearly more to do than
% it handles, a quarter on top, or was late for more than half of its client requests. What is over by the next evaluation
% changes nothing.
%
% It pays with time: real demand, too, waits for two evaluations more than with workload-and-latency-aware.

:- ensure_loaded('library.pl').
:- dynamic earlier/5, age/2.
:- remembers(requests, 2).

operation(undeploy, Instance, self) :-
    idle(Instance),
    \+ earlier(_, Instance, _, _, _),
    looked_back(Instance).

operation(migrate, Instance, Neighbour) :-
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    \+ ( earlier(_, Instance, Other, _, _), Other \== Neighbour ),
    ( throughout(overloaded, Instance) -> true ; throughout(late, Instance) ).

operation(replicate, Instance, Target) :-
    throughout(late, Instance),
    most_late_come_through(Instance, Target).

operation(replicate, Instance, Target) :-
    throughout(overloaded, Instance),
    \+ throughout(late, Instance),
    most_come_through(Instance, Target),
    may_fit(Instance, Target).

% throughout(What, Instance): it was so at this evaluation and at the two before.
throughout(What, Instance) :-
    \+ ( member(Ago, [0, 1, 2]), \+ was(What, Ago, Instance) ).

% was(overloaded, Ago, Instance): there was more to do than one instance handles, and a quarter on top.
% was(late, Ago, Instance): more than half of the client requests were late.
was(overloaded, Ago, Instance) :-
    handles(Instance, MaxRate),
    aggregate_all(sum(Rate), seen(Ago, Instance, Rate, _), Total),
    4 * Total > 5 * MaxRate.
was(late, Ago, Instance) :-
    tolerates(Instance, MaxLatency),
    aggregate_all(sum(Rate), seen(Ago, Instance, Rate, _), Total),
    aggregate_all(sum(Rate), ( seen(Ago, Instance, Rate, Latency), Latency > MaxLatency ), Late),
    2 * Late > Total.

% seen(Ago, Instance, Rate, Latency): client requests of this evaluation, with Ago = 0, and of earlier ones. One solution for
% each fact.
seen(0, Instance, Rate, Latency) :-
    requests(Instance, _, Rate, Latency).
seen(Ago, Instance, Rate, Latency) :-
    earlier(Ago, Instance, _, Rate, Latency).

% looked_back(Instance): there were two evaluations on this node before. Otherwise no earlier requests could also mean
% no earlier evaluation.
looked_back(Instance) :-
    age(Instance, Evaluations),
    Evaluations >= 2.
