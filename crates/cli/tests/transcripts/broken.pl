good(1).
migrate(I, N :- latency(I, N, L).
good(2).
half(.
name('open).
good(X) :- other(X, Y).
