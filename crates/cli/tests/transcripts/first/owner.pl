% Wants audio to leave once less than half of the node is free, and everything once it is full.
evict(Instance, loud) :-
    node(Node, Free),
    capacity(Node, All),
    2 * Free < All,
    serviceInstance(Instance, audio, Node).
evict(Instance, full) :- node(Node, 0), serviceInstance(Instance, _, Node).
