% Tests of sleep-at-night.pl. Run them with `mario policy test policies/sleep-at-night.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
age(s1, 7).

test('sleeps when nobody asked for long', [],
     [operation(sleep, s1, self)]).

test('stays awake if somebody asked two evaluations ago', [earlier(2, s1, n41, 1, 5)],
     []).

test('stays awake while it is too young to know', [age(s1, 1)],
     []).

test('sleeps on', [asleep(s1)],
     []).

test('moves to the demand', [requests(s1, n41, 20, 5)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('multiplies towards the late', [requests(s1, n41, 2, 30), requests(s1, self, 2, 0)],
     [operation(replicate, s1, n41)]).

test('does not multiply in its sleep', [asleep(s1), requests(s1, n41, 2, 30), requests(s1, self, 2, 0)],
     []).

test('goes towards its clients if it was not let wake', [asleep(s1), requests(s1, n41, 2, 5)],
     [operation(migrate, s1, n41)]).

test('sleeps on where its clients are', [asleep(s1), requests(s1, self, 20, 0)],
     []).
