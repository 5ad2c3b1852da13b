% Tests of cost-aware.pl. Run them with `mario policy test policies/cost-aware.test.pl`.

service(video, 4, 10, 25).
node(n42, 10, [n41, n43, n44]).
serviceInstance(s1, video, n42).
fact(n41, price, 5).
fact(n42, price, 3).
fact(n43, price, 2.5).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('migrates to clients where it is cheaper, without any other reason', [requests(s1, n43, 1, 5)],
     [operation(migrate, s1, n43)]).

test('does not migrate to clients where it is more expensive without a reason', [requests(s1, n41, 1, 5)],
     []).

test('migrates to clients where it is more expensive when it must', [requests(s1, n41, 1, 26)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('takes a node without a price for the most expensive', [requests(s1, n44, 1, 5)],
     []).

test('replicates where it is cheapest, not where most come from', [requests(s1, n41, 9, 5), requests(s1, n43, 2, 5)],
     [operation(replicate, s1, n43)]).

test('replicates on its own node when that is cheapest', [requests(s1, n41, 9, 5), requests(s1, self, 2, 0)],
     [operation(replicate, s1, self)]).

test('ignores its own node without room', [requests(s1, n41, 9, 5), requests(s1, self, 2, 0), node(n42, 3)],
     [operation(replicate, s1, n41)]).

test('of equals, takes the one that sends most',
     [requests(s1, n41, 4, 5), requests(s1, n43, 7, 5), fact(n41, price, 2), fact(n43, price, 2)],
     [operation(replicate, s1, n43)]).

test('late requests determine the target', [requests(s1, n41, 1, 26), requests(s1, n43, 9, 5)],
     [operation(replicate, s1, n41)]).

test('can do without any price', [requests(s1, n41, 4, 5), requests(s1, n43, 7, 5), fact(video, region, north)],
     [operation(replicate, s1, n43)]).
