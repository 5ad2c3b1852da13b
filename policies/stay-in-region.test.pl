% Tests of stay-in-region.pl. Run them with `mario policy test policies/stay-in-region.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43, n44]).
serviceInstance(s1, video, n42).
fact(video, region, north).
fact(n41, region, north).
fact(n42, region, north).
fact(n43, region, south).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('migrates inside of its region', [requests(s1, n41, 11, 5)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('does not migrate out of it', [requests(s1, n43, 11, 5)],
     []).

test('does not migrate to a node of no region', [requests(s1, n44, 11, 26)],
     []).

test('replicates inside even if more come from outside', [requests(s1, n41, 4, 5), requests(s1, n43, 9, 5)],
     [operation(replicate, s1, n41)]).

test('replicates on its own node', [requests(s1, self, 4, 0), requests(s1, n43, 9, 5)],
     [operation(replicate, s1, self)]).

test('late requests inside determine the target',
     [requests(s1, n41, 1, 26), requests(s1, n43, 9, 30), requests(s1, self, 4, 0)],
     [operation(replicate, s1, n41)]).

test('does not replicate for late ones outside', [requests(s1, n43, 9, 30), requests(s1, self, 1, 0)],
     []).

test('obeys the region of the instance before that of the application',
     [requests(s1, n43, 11, 5), fact(s1, region, south), fact(video, region, north), fact(n43, region, south)],
     [operation(migrate, s1, n43), operation(replicate, s1, n43)]).

test('may migrate anywhere without a region', [requests(s1, n43, 11, 5), fact(n43, region, south)],
     [operation(migrate, s1, n43), operation(replicate, s1, n43)]).
