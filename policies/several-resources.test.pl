% Tests of several-resources.pl. Run them with `mario policy test policies/several-resources.test.pl`.

service(video, 4, 10, 25).
needs(video, units, 4).
needs(video, gpu, 1).
needs(video, memory_mb, 2048).
node(n42, 10, [n41, n43]).
free(n42, units, 10).
free(n42, gpu, 2).
free(n42, memory_mb, 4096).
serviceInstance(s1, video, n42).

test('undeploys without client requests', [],
     [operation(undeploy, s1, self)]).

test('replicates on its own node when there is enough of everything', [requests(s1, self, 11, 0), requests(s1, n41, 3, 5)],
     [operation(replicate, s1, self)]).

test('replicates elsewhere without memory on its own node',
     [requests(s1, self, 11, 0), requests(s1, n41, 3, 5), free(n42, units, 10), free(n42, gpu, 2), free(n42, memory_mb, 2047)],
     [operation(replicate, s1, n41)]).

test('replicates elsewhere without a GPU on its own node',
     [requests(s1, self, 11, 0), requests(s1, n41, 3, 5), free(n42, units, 10), free(n42, memory_mb, 4096)],
     [operation(replicate, s1, n41)]).

test('replicates elsewhere without units on its own node',
     [requests(s1, self, 11, 0), requests(s1, n41, 3, 5), free(n42, units, 3), free(n42, gpu, 2), free(n42, memory_mb, 4096)],
     [operation(replicate, s1, n41)]).

test('asks for nothing when there is no other way',
     [requests(s1, self, 11, 0), free(n42, units, 10), free(n42, gpu, 0), free(n42, memory_mb, 4096)],
     []).

test('always has room in the cloud',
     [requests(s1, self, 11, 0), free(n42, units, inf), free(n42, gpu, inf), free(n42, memory_mb, inf)],
     [operation(replicate, s1, self)]).

test('leaves the hardware of a neighbour to the neighbour',
     [requests(s1, n41, 11, 5), requests(s1, n43, 3, 5), free(n42, units, 0)],
     [operation(replicate, s1, n41)]).

test('migrates to the only neighbour with demand', [requests(s1, n41, 11, 5)],
     [operation(migrate, s1, n41), operation(replicate, s1, n41)]).

test('late requests determine the target', [requests(s1, n41, 1, 26), requests(s1, n43, 20, 5)],
     [operation(replicate, s1, n41)]).
