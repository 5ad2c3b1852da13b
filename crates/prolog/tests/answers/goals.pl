% Goals whose answers are compared with those that SWI-Prolog shows at its prompt, one per line.

% ---- nothing bound
true.
fail.
_ = f(X).
X = X.
X == X.
atom(a).
\+ a = b.
forall(member(X, [1, 2]), integer(X)).

% ---- atoms and quotes
X = a.
X = 'hello world'.
X = 'Upper'.
X = [].
X = '[]'.
X = {}.
X = '{}'.
X = ''.
X = 'don''t'.
X = 'a\nb'.
X = 'a\tb'.
X = 'a\\b'.
X = "a string".
X = "with \"quotes\"".
X = "line\nbreak".
X = 'é'.
X = 'Été'.
X = 日本.
X = ';'.
X = (;).
X = !.
X = (',').
X = '|'.
X = [(',')].
X = (+).
X = (-).
X = # .
X = & .
X = (:-).
X = dynamic.
X = mod.
X = is.
X = f(+).
X = [-].
X = [+, -, *].
X = f(:-).
X = [:-].
X = - .
X = \ .
X = 'a.b'.
X = 'end of'.
X = abc_Def1.
X = _y.

% ---- numbers
X = 1.
X = -1.
X = - 1.
X = -(1).
X = -(-(1)).
X = -(-1).
X = -a.
X = -(a).
X = -(-(a)).
X = +(1).
X = 1 - -1.
X = 1 - (-1).
X = 2 - 1.
X = a- - b.
X = 1.0.
X = -0.0.
X = 1.0e10.
X = 1.0e100.
X = 1.0e-10.
X = 0.1.
X = 123456789012345678901234567890.
X is 2 ** 100.
X is 7 / 2.
X is 2 ** -1.
X is 10 / 4.0.
X is max(1, 2.0).
X = 0'a.
X = 0xff.
X = 1.5NaN.
X is inf.
X is -inf.

% ---- operators
X = 1 + 2.
X = 1 + 2 * 3.
X = (1 + 2) * 3.
X = 1 - (2 - 3).
X = 1 - 2 - 3.
X = (2 ** 3) ** 4.
X = 2 ^ 3 ^ 4.
X = (2 ^ 3) ^ 4.
X = a:b:c.
X = (a:b):c.
X = (a:-b).
X = (a:-b, c).
X = (a:-b, c;d->e).
X = (:- a).
X = (?- a).
X = (a-->b).
X = (a, b).
X = (a, b, c).
X = ((a, b), c).
X = (a;b).
X = (a->b).
X = (a->b;c).
X = (a*->b;c).
X = (\+ a).
X = (\+ (a, b)).
X = (a=b).
X = [a=b, c].
X = f(a=b).
X = f((a:-b)).
X = f((a, b)).
X = [(a, b)].
X = [(a:-b)].
X = f(:-, a).
X = - (1).
X = (a = b).
X = (a == b).
X = (a is b).
X = (a mod b).
X = a mod b.
X = (a rem b) mod c.
X = (a < b).
X = (A < B).
X = a / b.
X = a / b / c.
X = a / (b / c).
X = (dynamic a).
X = (dynamic a, b).
X = (table a).
X = @(a).
X = ?(a).
X = $(a).
X = \a.
X = \ (-1).
X = \ (- (1)).
X = -(2)^2.
X = (-2)^2.
X = -(2^2).
X = 1 rdiv 2.
X = {a}.
X = {a, b}.
X = {a:-b}.
X = '{}'(X1).
X = {-}.
X = [a|b].
X = [a, b|c].
X = [a|[b|[c]]].
X = '[|]'(a, b).
X = -[a].
X = -(-).
X = (- = -).
X = [- = -].
X = (a , ! ; b).
X = f(;).
X = f((a;b)).
X = f(A, B, A).
X = f(!, [], {}).
X = (a | b).
X = f(- 1).
X = f(-(1)).
X = 1 - 1.
X = a- 1.
X = a-(-1).
X = a-(- 1).
X = (a:b).
X = p:(a, b).
X = p:(a:-b).
X = "a"+"b".
X = 'A'+'b c'.
X = f('A', "b", 'c d').
X = 'X'('Y').
X = f(g(h(i))).
X = 'hello world'(a).
X = [](a).
X = {}(a).

% ---- lists
X = [a, b, c].
X = [1, 2, 3|T].
X = [[a], [b, [c]]].
length(L, 3).
length(L, 20).
numlist(1, 30, L).
X = [_, _].
X = [A, B|C].
append(X, [c], [a, b, c]), !.
X = `abc`.

% ---- variables
X = Y.
X = Y, Y = Z.
X = Y, Z = f(X).
X = f(A), Y = X.
X = f(_).
X = f(_, _).
X = f(_A, _A).
X = f(_123).
X = f(A, _, A, _).
length(X, 2), Y = X.
copy_term([A, B, A], L).
copy_term(f(A, B, A, B, C), T).
copy_term([V, V, W, W], [P|Q]).
_X = 1.
_X = 1, Y = 2.
X = 1, Y = 2, Z = 3.
X = 1, Y = 1.
X = "a", Y = "a".
X = a, Y = "a".
X = 1, Y = 1.0.
X = f(A, B), Y = f(A, B).
X = f(A, B), Y = f(B, A).
X = Y, Y = 1.
functor(T, foo, 3).
functor(T, foo, 0).
T =.. [foo, A, B, A].
findall(X-Y, member(X, [1, 2]), L).
bagof(X, member(X, [c, a, b]), L).
setof(X-Z, member(X-Z, [b-_, a-_]), L).
term_variables(f(X, g(Y), X), Vs).
length(L, 30), L = [A|_].
X = '$VAR'(1).
X = '$VAR'(27).
X = '$VAR'(-1).
X = '$VAR'(x).
X = f('$VAR'(1), Y, _).
catch(call(1), E, true).
catch(atom_length(_, _), E, true).
catch(throw(my(A, _)), E, true).

% ---- cycles
X = f(X).
X = [a|X].
X = f(X, Y).
X = f(Y), Y = g(X).
X = f(X), Y = g(X).
X = f(X), Y = f(Y).
X = f(Z, Z, W), Z = g(Z).
X = [1, 2|Y], Y = [3|X].
X = f(Y, Y), Y = 1.

% ---- suspended goals
dif(X, a).
dif(X, Y).
dif(X, a), dif(X, b).
dif(X, Y), Y = f(Z).
dif(X, a), dif(Y, b), X = Y.
dif(f(X, Y), f(1, 2)).
dif(X, a), X = b.
dif(X, a), Y = f(X).
freeze(X, true).
freeze(X, true), Y = X.
freeze(X, true), Y = f(X).
freeze(X, fail), freeze(Y, true).
freeze(X, (true, X > 1)).
freeze(X, true), X = 1.
when(nonvar(X), true).
when(ground(X + Y), true).
when((nonvar(X) ; nonvar(Y)), X = Y).
when(?=(X, Y), true).
freeze(X, true), dif(X, a).
dif(X, _).
freeze(X, X = f(Y)), length(L, 2).

% ---- programs
member(X, [a]).
once(member(X, [a, b])).
atom_codes(abc, L).
atom_chars(X, [a, b]).
sub_atom(abc, B, 1, 0, S).
nb_setval(k, f(_)), nb_getval(k, V).
maplist([X, Y]>>(Y = X - X), [1, 2], L).
foldl([X, A0, A]>>(A is A0 + X), [1, 2, 3], 0, S).
sort(0, @>=, [1, 3, 2, 3], L).
msort([b, a, 1, "s", f(x), Z], L).
