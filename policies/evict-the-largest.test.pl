% Tests of evict-the-largest.pl. Run them with `mario policy test policies/evict-the-largest.test.pl`.

service(video, 4, 10, 25).
service(chat, 1, 10, 25).
node(n42, 1, [n41, n43]).
capacity(n42, 10).
serviceInstance(s1, chat, n42).
serviceInstance(s2, video, n42).
serviceInstance(s3, video, n42).

test('evicts the largest of a node that is nearly full, the first of several', [],
     initiative, [evict(s2, nearly_full)]).
test('keeps the only instance', [node(n42, 0), capacity(n42, 1), serviceInstance(s1, chat, n42)],
     initiative, []).
test('wants nothing while a fifth of the node is free', [node(n42, 2)], initiative, []).
test('counts what is about to leave as free', [leave(s2, 2)], initiative, []).
test('evicts the next when what leaves is not enough', [node(n42, 0), leave(s1, 1)],
     initiative, [evict(s2, nearly_full)]).
test('wants nothing in the cloud, which is never full', [node(n42, inf), capacity(n42, inf)], initiative, []).
test('wants nothing of a node without hardware', [node(n42, 0), capacity(n42, 0)], initiative, []).
test('accepts whatever fits', [node(n42, 4)], request(migrate, s7, video, n41, n42), accepted).
test('has no room for what does not fit', [], request(migrate, s7, video, n41, n42), inhibited(capacity)).
