% Tests of load-thresholds.pl. Run them with `mario policy test policies/load-thresholds.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
fact(video, home, n0).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('stays at the upper threshold', [requests(s1, n41, 8, 5)],
     []).

test('replicates above it, to the neighbour that sends most', [requests(s1, n41, 5, 5), requests(s1, n43, 4, 5)],
     [operation(replicate, s1, n41)]).

test('replicates on its own node when there is room', [requests(s1, self, 9, 0)],
     [operation(replicate, s1, self)]).

test('does not replicate on its own node without room', [requests(s1, self, 9, 0), node(n42, 3)],
     []).

test('stays at the lower threshold', [requests(s1, n41, 2, 5)],
     []).

test('undeploys below it', [requests(s1, n41, 1, 5)],
     [operation(undeploy, s1, self)]).

test('stays below it on its home', [requests(s1, n41, 1, 5), fact(video, home, n42)],
     []).

test('stays below it without a home', [requests(s1, n41, 1, 5), fact(video, region, north)],
     []).

test('ignores the latency', [requests(s1, n41, 5, 1000)],
     []).
