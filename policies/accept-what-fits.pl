% Accept what fits: the default acceptance policy of a node, which accepts every request that fits its hardware.
%
% The manager of a node judges each request that concerns the node: requests of its own instances, and requests whose
% target is this node. It sees these facts and no others:
%
%   node(Node, FreeHardware, Neighbours)                  its own node (node/2: without the neighbours); hardware promised
%                                                         in this cycle is not free
%   capacity(Node, Hardware)                              the total hardware of the node
%   serviceInstance(Instance, Application, Node)          the instances on the node, including those that leave it in this
%                                                         cycle and those that the manager has promised in this cycle
%   service(Application, Hardware, MaxRate, MaxLatency)   what one instance needs, handles and tolerates
%   owner(Application, Owner)                             the owner of the application, if known
%   fact(Subject, Key, Value)                             extra facts, such as region or price
%
% A request is a term request(Operation, Instance, Application, From, To). From is the node of the instance, To the node
% where it or its replica will be; both may be this node. A missing part is `none`: the instance and From of a deploy, To
% of an undeploy.
%
% Promised instances come after running ones, in the order of the promises. An instance that migrates here has its id.
% Replicas and deployed instances have no id yet: they are called promised_1, promised_2 and so on.
%
% The manager inhibits a request if reject(Request, Reason) has an answer. Otherwise it accepts the request if
% accept(Request) has an answer, or if the policy does not define accept/1. Two kinds of requests are always inhibited: those
% for which the node has too little hardware, and those on which the policy fails: it raises an error, exhausts its
% budget, calls halt, or rejects with an unbound Reason.

:- dynamic service/4, serviceInstance/3, node/2, node/3, capacity/2, owner/2, fact/3.

% An instance that leaves, or goes to another node, needs no hardware here.
accept(request(_, _, _, _, To)) :-
    node(Node, _),
    To \== Node.

accept(request(_, _, Application, _, Node)) :-
    node(Node, FreeHardware),
    service(Application, Hardware, _, _),
    FreeHardware >= Hardware.
