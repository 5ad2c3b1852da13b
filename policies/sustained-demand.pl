% Sustained demand: follows clients only if their demand persists.
%
% For clients that come and go. An agent considers this evaluation and the two before it. An instance undeploys if it had no
% requests at any of the three. It migrates or replicates if, at each of the three, its load exceeded what it handles by more
% than a quarter, or more than half of its client requests were late. Demand that is over by the next evaluation has no
% effect.
%
% The price is delay: it reacts to real demand two evaluations later than workload-and-latency-aware.

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

% throughout(What, Instance): was/3 succeeds for this evaluation and for the two before.
throughout(What, Instance) :-
    \+ ( member(Ago, [0, 1, 2]), \+ was(What, Ago, Instance) ).

% was(overloaded, Ago, Instance): the load exceeded what one instance handles by more than a quarter.
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

% seen(Ago, Instance, Rate, Latency): client requests of this evaluation (Ago = 0) and of earlier ones. One solution for
% each fact.
seen(0, Instance, Rate, Latency) :-
    requests(Instance, _, Rate, Latency).
seen(Ago, Instance, Rate, Latency) :-
    earlier(Ago, Instance, _, Rate, Latency).

% looked_back(Instance): the agent has evaluated twice before on this node. Otherwise a lack of earlier requests could
% mean a lack of earlier evaluations.
looked_back(Instance) :-
    age(Instance, Evaluations),
    Evaluations >= 2.
