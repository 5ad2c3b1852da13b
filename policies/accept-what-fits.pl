% Accept what fits: the acceptance policy of a node whose owner asks for nothing more.
%
% The manager of a node judges each request that concerns it, because the instance is there or wants to be. It sees
% these facts and no others:
%
%   node(Node, FreeHardware, Neighbours)                  its own node (node/2: without the neighbours); what it has
%                                                         promised in this cycle is not free any more
%   capacity(Node, Hardware)                              all the hardware of the node
%   serviceInstance(Instance, Application, Node)          what runs on the node, what leaves it in this cycle included, and
%                                                         what the manager has promised in this cycle
%   service(Application, Hardware, MaxRate, MaxLatency)   what one instance needs, handles and tolerates
%   owner(Application, Owner)                             whose application it is, where that is known
%   fact(Subject, Key, Value)                             what else is known, such as region or price
%
% A request is a term request(Operation, Instance, Application, From, To). From is the node that the instance is on, To
% the node that it or its copy will be on; both may be this one. What there is not is `none`: the instance and From of a
% deploy, To of an undeploy.
%
% What is promised comes after what runs, in the order of the promises. An instance that migrates here has its id. A replica
% and a deploy have none yet: they are called promised_1, promised_2 and so on.
%
% The manager inhibits a request when reject(Request, Reason) has an answer, and otherwise accepts it when
% accept(Request) has one, or when the text has no accept/1 at all. Whatever it says, nothing is accepted that the node
% has too little hardware for, and nothing to which the text gives no answer: because it raises an error, runs out of its
% budget, calls halt, or rejects with an unbound Reason.

:- dynamic service/4, serviceInstance/3, node/2, node/3, capacity/2, owner/2, fact/3.

% Whoever leaves, or wants to be elsewhere, needs nothing here.
accept(request(_, _, _, _, To)) :-
    node(Node, _),
    To \== Node.

accept(request(_, _, Application, _, Node)) :-
    node(Node, FreeHardware),
    service(Application, Hardware, _, _),
    FreeHardware >= Hardware.
