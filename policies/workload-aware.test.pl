% Tests of workload-aware.pl. Run them with `mario policy test policies/workload-aware.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('stays while it handles the load', [requests(s1, n41, 4, 15), requests(s1, self, 6, 0)],
     []).

test('migrates to the only neighbour, or replicates there', [requests(s1, n41, 11, 15)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('sums what comes through one neighbour', [requests(s1, n41, 6, 15), requests(s1, n41, 6, 16)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('replicates to the neighbour that sends most', [requests(s1, n41, 4, 15), requests(s1, n43, 7, 15)],
     [operation(replicate, s1, n43)]).

test('breaks ties by the last in the standard order', [requests(s1, n43, 6, 15), requests(s1, n41, 6, 15)],
     [operation(replicate, s1, n43)]).

test('replicates on its own node when there is room', [requests(s1, self, 11, 0), node(n42, 4)],
     [operation(replicate, s1, self)]).

test('does not replicate on its own node without room', [requests(s1, self, 11, 0), node(n42, 3)],
     []).

test('ignores the latency', [requests(s1, n41, 1, 1000)],
     []).

test('counts client requests at rate zero as requests', [requests(s1, n41, 0, 15)],
     []).

test('does not see what was inhibited', [requests(s1, n41, 11, 15), inhibited(migrate, s1, n41)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).
