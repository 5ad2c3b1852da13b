% Tests of workload-and-latency-aware-with-memory.pl. Run them with
% `mario policy test policies/workload-and-latency-aware-with-memory.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).

test('undeploys without client requests, whatever it remembers', [inhibited(migrate, s1, n41)],
     [operation(undeploy, s1, self)]).

test('acts as without memory while it remembers nothing', [requests(s1, n41, 11, 26)],
     [operation(migrate, s1, n41), operation(migrate, s1, n41),
      operation(replicate, s1, n41), operation(replicate, s1, n41)]).

test('does not migrate after a migration was inhibited, whatever its target',
     [requests(s1, n41, 11, 25), inhibited(migrate, s1, n43)],
     [operation(replicate, s1, n41)]).

test('does not count a neighbour towards which a replication was inhibited',
     [requests(s1, n41, 50, 5), requests(s1, n43, 11, 5), inhibited(replicate, s1, n41)],
     [operation(replicate, s1, n43)]).

test('needs a reason among those it counts',
     [requests(s1, n41, 50, 5), requests(s1, n43, 10, 5), inhibited(replicate, s1, n41)],
     []).

test('may migrate where it may not replicate', [requests(s1, n41, 11, 5), inhibited(replicate, s1, n41)],
     [operation(migrate, s1, n41)]).

test('remembers under the older name too', [requests(s1, n41, 11, 5), refused(replicate, s1, n41)],
     [operation(migrate, s1, n41)]).

test('ignores inhibitions of other instances', [requests(s1, n41, 11, 25), inhibited(migrate, s2, n41)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('does not replicate on its own node when that was inhibited', [requests(s1, self, 11, 0), inhibited(replicate, s1, self)],
     []).
