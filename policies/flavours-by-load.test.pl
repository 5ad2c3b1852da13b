% Tests of flavours-by-load.pl. Run them with `mario policy test policies/flavours-by-load.test.pl`.

service(video, 4, 10, 25).
flavour(video, full, 4, 10, 25, 1.0).
flavour(video, lite, 1, 8, 30, 0.5).
flavour(video, bulk, 6, 40, 50, 0.4).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
running(s1, full).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('stays as it is within its limits', [requests(s1, n41, 10, 25)],
     []).

test('adapts to a flavour that handles more', [requests(s1, n41, 11, 5)],
     [operation(adapt, s1, bulk)]).

test('replicates when no flavour handles it', [requests(s1, n41, 41, 5)],
     [operation(replicate, s1, n41)]).

test('replicates when the flavour that would handle it has no room', [requests(s1, n41, 11, 5), node(n42, 1, [n41, n43])],
     [operation(replicate, s1, n41)]).

test('follows clients that are late', [requests(s1, n41, 5, 26)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('adapts to a small flavour if there was no room nearer to them', [requests(s1, n41, 5, 26), inhibited(migrate, s1, n41)],
     [operation(adapt, s1, lite) | _]).

test('does not adapt to a flavour too small for its load', [requests(s1, n41, 9, 26), inhibited(migrate, s1, n41)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('tolerates what its flavour tolerates', [requests(s1, n41, 5, 26), running(s1, lite), node(n42, 2, [n41, n43])],
     []).

test('adapts to the better flavour again when there is room', [requests(s1, n41, 5, 5), running(s1, lite)],
     [operation(adapt, s1, full)]).

test('does not adapt back while it remembers that there was no room', [requests(s1, n41, 5, 5), running(s1, lite), inhibited(replicate, s1, n43)],
     []).

test('does not adapt back without room', [requests(s1, n41, 5, 5), running(s1, lite), node(n42, 2, [n41, n43])],
     []).

test('an application without flavours is managed by its own numbers',
     [service(mail, 1, 5, 10), serviceInstance(s1, mail, n42), flavour(other, full, 1, 1, 1, 1), running(s2, full),
      requests(s1, n41, 6, 5)],
     [operation(replicate, s1, n41)]).
