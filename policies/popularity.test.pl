% Tests of popularity.pl. Run them with `mario policy test policies/popularity.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
fact(n42, tier, 2).
fact(n41, tier, 1).
fact(n43, tier, 3).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('migrates to the neighbour that all popular requests come through', [requests(s1, n43, 3, 5), requests(s1, n43, 2, 8)],
     [operation(migrate, s1, n43)]).

test('stays for few requests while there is room', [requests(s1, n43, 2, 5)],
     []).

test('goes up for few requests without room', [requests(s1, n43, 2, 5), node(n42, 3, [n41, n43])],
     [operation(migrate, s1, n41)]).

test('stays for an intermediate number of requests without room', [requests(s1, n43, 3, 5), node(n42, 3, [n41, n43])],
     []).

test('replicates to the neighbour that sends most', [requests(s1, n41, 4, 5), requests(s1, n43, 9, 5), requests(s1, self, 20, 0)],
     [operation(replicate, s1, n43)]).

test('replicates to no neighbour that sends few requests', [requests(s1, n43, 3, 5), requests(s1, self, 20, 0)],
     []).

test('tries another neighbour after an inhibition',
     [requests(s1, n41, 4, 5), requests(s1, n43, 9, 5), inhibited(replicate, s1, n43)],
     [operation(replicate, s1, n41)]).

test('waits after an inhibited migration', [requests(s1, n43, 9, 5), inhibited(migrate, s1, n43)],
     []).

test('stays with its clients on its own node', [requests(s1, self, 9, 0)],
     []).
