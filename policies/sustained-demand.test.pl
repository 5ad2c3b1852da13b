% Tests of sustained-demand.pl. Run them with `mario policy test policies/sustained-demand.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
age(s1, 7).

test('undeploys without requests for long', [],
     [operation(undeploy, s1, self)]).

test('stays if there were requests two evaluations ago', [earlier(2, s1, n41, 1, 5)],
     []).

test('stays while it is too young to know', [age(s1, 1)],
     []).

test('undeploys as soon as it can know', [age(s1, 2)],
     [operation(undeploy, s1, self)]).

test('follows a clear overload that held',
     [requests(s1, n41, 13, 5), earlier(1, s1, n41, 13, 5), earlier(2, s1, n41, 14, 5)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('does not follow a clear overload that is new', [requests(s1, n41, 50, 5)],
     []).

test('does not follow one that paused', [requests(s1, n41, 50, 5), earlier(2, s1, n41, 50, 5)],
     []).

test('does not follow one that is over',
     [requests(s1, n41, 1, 5), earlier(1, s1, n41, 50, 5), earlier(2, s1, n41, 50, 5)],
     []).

test('ignores a small overload',
     [requests(s1, n41, 12, 5), earlier(1, s1, n41, 50, 5), earlier(2, s1, n41, 50, 5)],
     []).

test('does not migrate away from recent requests',
     [requests(s1, n41, 50, 5), earlier(1, s1, n41, 50, 5), earlier(2, s1, n41, 50, 5), earlier(2, s1, n43, 1, 5)],
     [operation(replicate, s1, n41)]).

test('replicates on its own node when most clients are there',
     [requests(s1, n41, 4, 5), requests(s1, self, 10, 0), earlier(1, s1, self, 13, 0), earlier(2, s1, self, 13, 0)],
     [operation(replicate, s1, self)]).

test('does not replicate on its own node without room',
     [requests(s1, self, 14, 0), earlier(1, s1, self, 14, 0), earlier(2, s1, self, 14, 0), node(n42, 3)],
     []).

test('tolerates half of the requests being late',
     [requests(s1, n41, 3, 26), requests(s1, self, 3, 0), earlier(1, s1, n41, 3, 26), earlier(2, s1, n41, 3, 26)],
     []).

test('replicates if most requests were late throughout, towards them',
     [requests(s1, n41, 4, 26), requests(s1, self, 1, 0), earlier(1, s1, n43, 4, 26), earlier(2, s1, n41, 4, 26)],
     [operation(replicate, s1, n41)]).

test('migrates if all requests were late throughout',
     [requests(s1, n41, 4, 26), earlier(1, s1, n41, 4, 26), earlier(2, s1, n41, 4, 26)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).
