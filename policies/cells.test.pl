% Tests of cells.pl. Run them with `mario policy test policies/cells.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
fact(n42, tier, 2).

test('divides above the upper threshold, if the drawn number is low', [requests(s1, n41, 9, 5), fact(s1, random, 499999)],
     [operation(replicate, s1, n41)]).

test('does not divide if the drawn number is high', [requests(s1, n41, 9, 5), fact(s1, random, 500000)],
     []).

test('does not divide at the upper threshold', [requests(s1, n41, 8, 5), fact(s1, random, 0)],
     []).

test('divides on its own node when there is room', [requests(s1, self, 9, 0), fact(s1, random, 0)],
     [operation(replicate, s1, self)]).

test('does not divide on its own node without room', [requests(s1, self, 9, 0), fact(s1, random, 0), node(n42, 3)],
     []).

test('dies below the lower threshold, if the drawn number is low', [requests(s1, n41, 1, 5), fact(s1, random, 199999)],
     [operation(undeploy, s1, self)]).

test('does not die if the drawn number is high', [requests(s1, n41, 1, 5), fact(s1, random, 200000)],
     []).

test('dies without client requests, if the drawn number is low', [fact(s1, random, 0)],
     [operation(undeploy, s1, self)]).

test('does not die at the lower threshold', [requests(s1, n41, 2, 5), fact(s1, random, 0)],
     []).

test('does nothing when nothing was drawn', [requests(s1, n41, 9, 5)],
     []).

test('does not die in the cloud', [serviceInstance(s1, video, n0), node(n0, inf, [n41]), fact(n0, tier, 0), fact(s1, random, 0)],
     []).
