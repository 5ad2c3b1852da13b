% Tests of workload-and-latency-aware.pl. Run them with `mario policy test policies/workload-and-latency-aware.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('stays while load and latency are right', [requests(s1, n41, 10, 25)],
     []).

test('acts on load alone', [requests(s1, n41, 11, 25)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('acts on latency alone', [requests(s1, n41, 10, 26)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('has two reasons when both are wrong', [requests(s1, n41, 11, 26)],
     [operation(migrate, s1, n41), operation(migrate, s1, n41),
      operation(replicate, s1, n41), operation(replicate, s1, n41)]).

test('late requests determine the target', [requests(s1, n41, 50, 5), requests(s1, n43, 1, 26)],
     [operation(replicate, s1, n43), operation(replicate, s1, n43)]).

test('all requests determine the target if none is late', [requests(s1, n41, 50, 5), requests(s1, n43, 1, 25)],
     [operation(replicate, s1, n41)]).

test('replicates on its own node when there is room', [requests(s1, self, 11, 0), node(n42, 4)],
     [operation(replicate, s1, self)]).

test('does not replicate on its own node without room', [requests(s1, self, 11, 0), node(n42, 3)],
     []).

test('proposes its own node regardless of room when its own clients are late', [requests(s1, self, 1, 26), node(n42, 0)],
     [operation(replicate, s1, self)]).
