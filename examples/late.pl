% The knowledge base of examples/video.pl after its clients have moved: all requests now come through n41, and some are late.
%
%   mario policy explain --policy policies/latency-aware.pl --facts examples/late.pl

service(videoBroadcast, 4, 10, 25).
node(n42, 10, [n41, n43]).
serviceInstance(s1, videoBroadcast, n42).
requests(s1, n41, 5, 15).
requests(s1, n41, 2, 30).
