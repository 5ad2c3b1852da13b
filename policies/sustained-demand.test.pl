% Tests of sustained-demand.pl. Run them with `mario policy test policies/sustained-demand.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).

test('goes away without client requests, whatever it remembers', [inhibited(migrate, s1, n41)],
     [operation(undeploy, s1, self)]).

test('does not mind a small overload', [requests(s1, n41, 12, 5)],
     []).

test('follows a clear overload', [requests(s1, n41, 13, 5)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('does not leave anybody behind', [requests(s1, n41, 50, 5), requests(s1, n43, 1, 5)],
     [operation(replicate, s1, n41)]).

test('stays at home when most clients are there', [requests(s1, n41, 4, 5), requests(s1, self, 10, 0)],
     [operation(replicate, s1, self)]).

test('does not multiply at home without room', [requests(s1, self, 14, 0), node(n42, 3)],
     []).

test('tolerates that half is late', [requests(s1, n41, 3, 26), requests(s1, self, 3, 0)],
     []).

test('multiplies when most is late', [requests(s1, n41, 4, 26), requests(s1, self, 1, 0)],
     [operation(replicate, s1, n41)]).

test('moves when all is late', [requests(s1, n41, 4, 26)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('waits while it remembers anything inhibited', [requests(s1, n41, 50, 26), inhibited(replicate, s1, n43)],
     []).
