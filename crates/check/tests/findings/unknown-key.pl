operation(migrate, I, N) :- requests(I, N, _, _), N \== self, trusted(N), \+ inhibited(migrate, I, N).
trusted(N) :- fact(N, trsut, T), T > 1.
