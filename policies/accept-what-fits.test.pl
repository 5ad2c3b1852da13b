% Tests of accept-what-fits.pl. Run them with `mario policy test policies/accept-what-fits.test.pl`.

service(video, 4, 10, 25).
node(n42, 4, [n41, n43]).
capacity(n42, 8).
serviceInstance(s1, video, n42).
owner(video, acme).

test('lets an instance undeploy', [], request(undeploy, s1, video, n42, none), accepted).
test('lets an instance migrate away', [], request(migrate, s1, video, n42, n41), accepted).
test('lets an instance replicate elsewhere, even when full', [node(n42, 0)],
     request(replicate, s1, video, n42, n41), accepted).
test('takes an instance that fits', [], request(migrate, s7, video, n41, n42), accepted).
test('takes a first instance that fits', [], request(deploy, none, video, none, n42), accepted).
test('takes a copy that fits', [], request(replicate, s1, video, n42, n42), accepted).
test('takes no instance that does not fit', [node(n42, 3)],
     request(migrate, s7, video, n41, n42), inhibited(capacity)).
test('takes no copy of its own that does not fit', [node(n42, 3)],
     request(replicate, s1, video, n42, n42), inhibited(capacity)).
test('always has room in the cloud', [node(n42, inf), capacity(n42, inf)],
     request(deploy, none, video, none, n42), accepted).
