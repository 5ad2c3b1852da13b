% Generates the knowledge bases of the decision benchmark. Every engine that runs this text generates the same ones.
%
%   applications(Facts)                    the service/4 facts, which all knowledge bases share
%   knowledge_base(Size, Index, Facts)     node/2, node/3, serviceInstance/3, then Size requests/4 facts
%   memory(Size, Index, Facts)             inhibited/3 facts for a policy with memory: none for every second
%                                          index, one to three for the others
%
% Size is any number of requests facts, Index any natural number; the same two yield the same facts. The world is the
% paper's, seen from an edge node: a parent, four access points, applications sensitive to workload or latency.

applications([
    service(app1, 1, 5, 10), service(app2, 1, 5, 10), service(app3, 1, 5, 10),
    service(app4, 1, 40, 1), service(app5, 1, 40, 1), service(app6, 1, 40, 1)
]).

knowledge_base(Size, Index, Facts) :-
    neighbours(Neighbours),
    instance(Size, Index, Instance),
    seed(Instance, 1, Seed),
    draw([app1, app2, app3, app4, app5, app6], App, Seed, Seed1),
    draw([0, 0, 1, 2, 4, 6], Free, Seed1, Seed2),
    % From clients behind one neighbour, which makes migration possible, to clients everywhere.
    draw([[point28], [point30], [self], [point28, point29], [self, point31], [centre1, point29, point30],
          [self, centre1, point28, point29, point30, point31]], Hops, Seed2, Seed3),
    requests_facts(Size, Instance, Hops, Seed3, Unordered),
    msort(Unordered, Requests),
    Facts = [node(edge7, Free), node(edge7, Free, Neighbours), serviceInstance(Instance, App, edge7)|Requests].

requests_facts(0, _, _, _, []) :-
    !.
requests_facts(Count, Instance, Hops, Seed, [requests(Instance, Hop, Rate, Latency)|Requests]) :-
    draw(Hops, Hop, Seed, Seed1),
    % Multiples of what one user sends in an evaluation period, so that ties are common.
    draw([5, 5, 5, 10, 15], Rate, Seed1, Seed2),
    draw([1, 3, 5, 6, 8, 11, 13], Drawn, Seed2, Seed3),
    (   Hop == self
    ->  Latency = 0
    ;   Latency = Drawn
    ),
    Less is Count - 1,
    requests_facts(Less, Instance, Hops, Seed3, Requests).

memory(Size, Index, Inhibited) :-
    (   Index mod 2 =:= 0
    ->  Inhibited = []
    ;   instance(Size, Index, Instance),
        seed(Instance, 2, Seed),
        draw([1, 2, 3], Count, Seed, Seed1),
        inhibited_facts(Count, Instance, Seed1, Inhibited)
    ).

inhibited_facts(0, _, _, []) :-
    !.
inhibited_facts(Count, Instance, Seed, [inhibited(Operation, Instance, Target)|Inhibited]) :-
    draw([migrate, replicate, replicate], Operation, Seed, Seed1),
    neighbours(Neighbours),
    draw(Neighbours, Target, Seed1, Seed2),
    Less is Count - 1,
    inhibited_facts(Less, Instance, Seed2, Inhibited).

neighbours([centre1, point28, point29, point30, point31]).

instance(Size, Index, Instance) :-
    Instance is 1000 * Size + Index.

% seed(Instance, Stream, Seed): the start of a stream of random draws. Without the multiplication, the streams of
% successive instances would start alike.
seed(Instance, Stream, Seed) :-
    Seed is ((Instance * 2 + Stream) * 1103515245 + 12345) mod 2147483646 + 1.

% draw(Items, Item, Seed, NextSeed): one of Items, all equally likely; a multiplicative congruential generator whose
% low bits, the least random ones, are dropped.
draw(Items, Item, Seed, NextSeed) :-
    NextSeed is Seed * 48271 mod 2147483647,
    length(Items, Count),
    Index is (NextSeed >> 8) mod Count,
    nth0(Index, Items, Item).
