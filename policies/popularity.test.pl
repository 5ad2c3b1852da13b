% Tests of popularity.pl. Run them with `mario policy test policies/popularity.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
fact(n42, tier, 2).
fact(n41, tier, 1).
fact(n43, tier, 3).

test('goes away without client requests', [],
     [operation(undeploy, s1, self)]).

test('moves to the neighbour that all popular requests come through', [requests(s1, n43, 3, 5), requests(s1, n43, 2, 8)],
     [operation(migrate, s1, n43)]).

test('stays for few requests while there is room', [requests(s1, n43, 2, 5)],
     []).

test('goes up for few requests without room', [requests(s1, n43, 2, 5), node(n42, 3, [n41, n43])],
     [operation(migrate, s1, n41)]).

test('stays for a middling number of requests without room', [requests(s1, n43, 3, 5), node(n42, 3, [n41, n43])],
     []).

test('multiplies towards whoever sends most', [requests(s1, n41, 4, 5), requests(s1, n43, 9, 5), requests(s1, self, 20, 0)],
     [operation(replicate, s1, n43)]).

test('multiplies towards nobody who sends little', [requests(s1, n43, 3, 5), requests(s1, self, 20, 0)],
     []).

test('asks another way after a refusal',
     [requests(s1, n41, 4, 5), requests(s1, n43, 9, 5), inhibited(replicate, s1, n43)],
     [operation(replicate, s1, n41)]).

test('waits after a refused migration', [requests(s1, n43, 9, 5), inhibited(migrate, s1, n43)],
     []).

test('stays with its clients on the own node', [requests(s1, self, 9, 0)],
     []).
