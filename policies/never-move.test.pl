% Tests of never-move.pl. Run them with `mario policy test policies/never-move.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, video, n42).

test('stays without client requests', [],
     []).

test('stays however many client requests there are', [requests(s1, n41, 1000, 5)],
     []).

test('stays however late they are', [requests(s1, n41, 1, 5000)],
     []).
