% Tests of sleep-at-night.pl. Run them with `mario policy test policies/sleep-at-night.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).
age(s1, 7).

test('sleeps without requests for long', [],
     [operation(sleep, s1, self)]).

test('stays awake if there were requests two evaluations ago', [earlier(2, s1, n41, 1, 5)],
     []).

test('stays awake while it is too young to know', [age(s1, 1)],
     []).

test('keeps sleeping', [asleep(s1)],
     []).

test('migrates to the demand', [requests(s1, n41, 20, 5)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('replicates towards late requests', [requests(s1, n41, 2, 30), requests(s1, self, 2, 0)],
     [operation(replicate, s1, n41)]).

test('does not replicate while asleep', [asleep(s1), requests(s1, n41, 2, 30), requests(s1, self, 2, 0)],
     []).

test('goes towards its clients if it could not wake', [asleep(s1), requests(s1, n41, 2, 5)],
     [operation(migrate, s1, n41)]).

test('keeps sleeping where its clients are', [asleep(s1), requests(s1, self, 20, 0)],
     []).
