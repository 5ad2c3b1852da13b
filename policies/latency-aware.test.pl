% Tests of latency-aware.pl. Run them with `mario policy test policies/latency-aware.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).

test('goes away without client requests', [],
     [operation(undeploy, s1, self)]).

test('stays while everybody is served in time', [requests(s1, n41, 100, 25), requests(s1, self, 100, 0)],
     []).

test('moves to the only neighbour, and would else multiply there', [requests(s1, n41, 1, 26)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('gives every late fact as a reason of its own', [requests(s1, n41, 1, 26), requests(s1, n41, 1, 27)],
     [operation(migrate, s1, n41), operation(migrate, s1, n41),
      operation(replicate, s1, n41), operation(replicate, s1, n41)]).

test('multiplies towards most of the late ones, not most of all',
     [requests(s1, n41, 50, 20), requests(s1, n41, 1, 26), requests(s1, n43, 2, 30)],
     [operation(replicate, s1, n43), operation(replicate, s1, n43)]).

test('does not mind the load', [requests(s1, n41, 1000, 5)],
     []).

test('asks first to move when all come through one neighbour', [requests(s1, n41, 9, 5), requests(s1, n41, 1, 99)],
     [operation(migrate, s1, n41)|_]).
