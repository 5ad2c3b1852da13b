% The knowledge base of one agent: it manages s1, which broadcasts video from node n42.
%
% One client is on n42 itself, and two come through its neighbour n41. Together they send 7 of the 10 requests that
% one instance handles, and none of them exceeds the tolerated latency of 25 ms. So the agent has no reason to act:
%
%   mario policy decide --policy policies/workload-aware.pl --facts examples/video.pl
%
% Raise the rates or the latencies, and run the command again.

service(videoBroadcast, 4, 10, 25).
node(n42, 10).
serviceInstance(s1, videoBroadcast, n42).
requests(s1, self, 5, 0).
requests(s1, n41, 1, 15).
requests(s1, n41, 1, 16).
