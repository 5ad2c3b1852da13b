service(video, 4, 10, 25).
node(n42, 10).
serviceInstance(s1, video, n42).
request(s1, n41, 11, 30).
