% Tests of popularity-with-cool-down.pl. Run them with `mario policy test policies/popularity-with-cool-down.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
fact(n42, tier, 2).
fact(n41, tier, 1).
fact(n43, tier, 3).

test('undeploys without client requests, whatever it did', [done(1, s1, migrate, n42)],
     [operation(undeploy, s1, self)]).

test('migrates to the neighbour that all popular requests come through', [requests(s1, n43, 3, 5), requests(s1, n43, 2, 8)],
     [operation(migrate, s1, n43)]).

test('does not migrate again immediately', [requests(s1, n43, 9, 5), done(1, s1, migrate, n42)],
     []).

test('does not migrate again while it remembers', [requests(s1, n43, 9, 5), done(10, s1, migrate, n42)],
     []).

test('does not make room again immediately', [requests(s1, n43, 2, 5), node(n42, 3, [n41, n43]), done(3, s1, migrate, n42)],
     []).

test('goes up for few requests without room', [requests(s1, n43, 2, 5), node(n42, 3, [n41, n43])],
     [operation(migrate, s1, n41)]).

test('migrates although it has replicated', [requests(s1, n43, 9, 5), done(1, s1, replicate, n41)],
     [operation(migrate, s1, n43)]).

test('replicates although it has moved', [requests(s1, n41, 4, 5), requests(s1, n43, 9, 5), done(1, s1, migrate, n42)],
     [operation(replicate, s1, n43)]).

test('replicates to no neighbour that sends few requests', [requests(s1, n43, 3, 5), requests(s1, self, 20, 0)],
     []).

test('tries another neighbour after an inhibition',
     [requests(s1, n41, 4, 5), requests(s1, n43, 9, 5), inhibited(replicate, s1, n43)],
     [operation(replicate, s1, n41)]).

test('stays with its clients on its own node', [requests(s1, self, 9, 0)],
     []).
