% Tests of latency-aware.pl. Run them with `mario policy test policies/latency-aware.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('stays while all requests are in time', [requests(s1, n41, 100, 25), requests(s1, self, 100, 0)],
     []).

test('migrates to the only neighbour, or replicates there', [requests(s1, n41, 1, 26)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('has every late fact as a separate reason', [requests(s1, n41, 1, 26), requests(s1, n41, 1, 27)],
     [operation(migrate, s1, n41), operation(migrate, s1, n41),
      operation(replicate, s1, n41), operation(replicate, s1, n41)]).

test('replicates towards most late requests, not towards most requests',
     [requests(s1, n41, 50, 20), requests(s1, n41, 1, 26), requests(s1, n43, 2, 30)],
     [operation(replicate, s1, n43), operation(replicate, s1, n43)]).

test('ignores the load', [requests(s1, n41, 1000, 5)],
     []).

test('asks first to migrate when all come through one neighbour', [requests(s1, n41, 9, 5), requests(s1, n41, 1, 99)],
     [operation(migrate, s1, n41)|_]).
