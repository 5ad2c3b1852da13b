service(video, 4, 10, 25).
service(audio, 1, 10, 25).
service(chat, 1, 10, 25).
node(n42, 3, [n41]).
capacity(n42, 8).
serviceInstance(s1, video, n42).
serviceInstance(s2, audio, n42).
fact(n42, closed, yes).
