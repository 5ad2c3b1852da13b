% Cost-aware: workload- and latency-aware, with a preference for cheap nodes.
%
% For applications that pay for their nodes. Node owners state the price of an instance with fact(Node, price, Price); a
% node without a price counts as the most expensive. An instance migrates if all its client requests come through one
% neighbour, and it is overloaded, or some requests are late, or that neighbour is cheaper. It replicates to the cheapest
% of the neighbours with demand; of equals, to the one that sends most.
%
% It never moves away from its clients to save money: an agent does not see how late their requests would become.

:- ensure_loaded('library.pl').
:- dynamic fact/3.

operation(undeploy, Instance, self) :-
    idle(Instance).

operation(migrate, Instance, Neighbour) :-
    all_come_through(Instance, Neighbour),
    Neighbour \== self,
    ( overloaded(Instance) -> true ; late(Instance, _, _) -> true ; cheaper(Instance, Neighbour) ).

operation(replicate, Instance, Target) :-
    findall(Neighbour-Rate, late(Instance, Neighbour, Rate), Rates),
    cheapest(Instance, Rates, Target).

operation(replicate, Instance, Target) :-
    overloaded(Instance),
    \+ late(Instance, _, _),
    findall(Neighbour-Rate, ( requests(Instance, Neighbour, Rate, _), may_fit(Instance, Neighbour) ), Rates),
    cheapest(Instance, Rates, Target).

% cheaper(Instance, Neighbour): the neighbour has a lower price than the node of the instance.
cheaper(Instance, Neighbour) :-
    price(Instance, Neighbour, There),
    price(Instance, self, Here),
    There < Here.

% cheapest(Instance, Rates, Target): of a list of Neighbour-Rate, the neighbour with the lowest price; of equals, the one
% that sends most. Fails for an empty list.
cheapest(Instance, Rates, Target) :-
    findall(Price, ( member(Neighbour-_, Rates), price(Instance, Neighbour, Price) ), [First|Prices]),
    foldl(lesser, Prices, First, Least),
    findall(Neighbour-Rate, ( member(Neighbour-Rate, Rates), price(Instance, Neighbour, Price), Price =:= Least ), Cheap),
    sends_most(Cheap, Target).

lesser(Price, Other, Least) :-
    Least is min(Price, Other).

% price(Instance, Target, Price): the price of an instance on the target; `inf` if it is unknown.
price(Instance, Target, Price) :-
    (   Target == self
    ->  serviceInstance(Instance, _, Node)
    ;   Node = Target
    ),
    (   fact(Node, price, Known)
    ->  Price = Known
    ;   Price = inf
    ).
