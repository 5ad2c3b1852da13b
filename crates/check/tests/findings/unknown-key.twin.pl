operation(migrate, I, N) :- requests(I, N, _, _), N \== self, trusted(N), \+ inhibited(migrate, I, N).
trusted(N) :- fact(N, trust, T), T > 1.
