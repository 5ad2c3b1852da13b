//! Tests of garbage collection: garbage does not count against the budget, and live data is unchanged.

use mario_prolog::{Budget, Engine, Machine, Outcome, Program, Resource};
use std::sync::Arc;

/// The first garbage collection is due when half of the heap budget is in use.
const BUDGET: Budget = Budget {
    inferences: 30_000_000,
    heap_bytes: 1 << 20,
    trail_entries: 20_000,
    choice_points: 1_000,
    answers: 10,
    output_bytes: 1_000,
};

const PROGRAM: &str = "
    build(0, _) :- !.
    build(N, _) :- M is N - 1, build(M, [N, b, c, d, e, f, g, h, i, j]).

    % The list in the third argument stays, and so does what its elements are bound to.
    kept(0, L, L) :- !.
    kept(N, L, K) :- copy(L, C), same(C, L), M is N - 1, kept(M, C, K).
    copy([], []).
    copy([X|Xs], [X|Ys]) :- copy(Xs, Ys).
    same(X, X).

    % A variable of the caller that is read after each call.
    after(0, _) :- !.
    after(N, S) :- waste(S, T), S = f(X, Y, \"text\", 1.5, 123456789012345678901234567890), T = [X, Y|_],
        M is N - 1, after(M, S).
    waste(f(X, Y, _, _, _), T) :- numlist(1, 50, L), copy(L, _), T = [X, Y|L].

    % Choice points that are open, with bindings that they undo.
    choose(N, R) :- V = v(_, _), ( setarg(1, V, [new]), build(N, V), arg(2, V, b), fail ; build(N, V), R = V ).

    globals(0) :- !.
    globals(N) :- b_getval(state, S), S = [A|_], B is A + 1, b_setval(state, [B, x, y, z]), M is N - 1, globals(M).

    counter(0, _) :- !.
    counter(N, C) :- arg(1, C, A), B is A + 1, nb_setarg(1, C, B), nb_setarg(2, C, [B, x]), M is N - 1, counter(M, C).

    suspended(0, _) :- !.
    suspended(N, S) :- freeze(X, true), X = N, build(5, x), M is N - 1, suspended(M, S).

    caught(0) :- !.
    caught(N) :- catch(( build(3, x), throw(ball(N, [a, b])) ), ball(N, [a|_]), true), M is N - 1, caught(M).

    collected(0) :- !.
    collected(N) :- findall(X-Y, ( member(X, [1, 2, 3]), build(2, x), Y = [X] ), L), L = [_, _, 3-[3]],
        M is N - 1, collected(M).

    cleaned(0) :- !.
    cleaned(N) :- setup_call_cleanup(S = [N, a], member(_, [1, 2]), S = [N|_]), !, M is N - 1, cleaned(M).
    cleaned(N) :- N > 0.

    branches(0, _) :- !.
    branches(N, Z) :- ( N mod 3 =:= 0 -> Y = [N|Z] ; N mod 3 =:= 1, build(2, x) -> Y = f(Z) ; Y = Z ),
        ( build(2, Y), \\+ Y = g(_), ( Y = [_|Q] ; Y = f(Q) ; Y = Q ), Q == Z -> true ),
        M is N - 1, branches(M, Z).

    deep(0, T, T) :- !.
    deep(N, T, R) :- M is N - 1, deep(M, s(T, N), R).
    wide(0, T, T) :- !.
    wide(N, T, R) :- M is N - 1, wide(M, s(N, T), R).
    depth(s(T, _), N0, N) :- !, N1 is N0 + 1, depth(T, N1, N).
    depth(_, N, N).
";

/// Goals that make much garbage and succeed within [`BUDGET`].
const GOALS: &[&str] = &[
    "build(200000, x)",
    "numlist(1, 100, L), kept(2000, L, K), K == L",
    "S = f(A, B, _, _, _), A = g(B), after(4000, S), S = f(g(B), B, \"text\", 1.5, 123456789012345678901234567890)",
    "choose(50000, R), R = v(X, Y), var(X), var(Y), X \\== Y",
    "b_setval(state, [0, x, y, z]), globals(100000), b_getval(state, [100000|T]), T == [x, y, z]",
    "C = c(0, none), ( counter(30000, C), fail ; C == c(30000, [30000, x]) )",
    "suspended(5000, s), freeze(X, Y = X), build(100000, X), X = done, Y == done",
    "dif(X, a), dif(Y, X), build(100000, X-Y), \\+ X = a, X = b, \\+ Y = b, Y = c",
    "caught(10000)",
    "collected(10000)",
    "cleaned(10000)",
    "branches(30000, z)",
    "length(L, 1000), copy_term(L, M), build(100000, L), L @< M, msort(M, N), N == M",
    "between(1, 5, X), build(50000, f(X)), X >= 4, !, build(50000, X), X == 4",
    "atom_concat(A, B, abc), build(20000, A), A == ab, !, B == c",
    "catch(( member(X, [a, b, c]), build(40000, X), X == c, throw(found(X)) ), found(Y), build(40000, Y)), Y == c",
    "findall(X, ( member(X, [f(A), g(A, B), h(B)]), build(40000, X) ), L), L = [f(_), g(_, _), h(_)]",
    "forall(member(X, [1, 2, 3]), build(40000, X))",
    "memberchk(X, [a, b]), build(50000, X), X == a",
    "freeze(X, ( build(50000, X), X \\== a )), memberchk(X, [a, b]), build(50000, X), X == b",
    "X = f(X, Y), build(100000, X), X = f(Z, Y), Z == X",
    "length(L, 200), maplist([E]>>( E = x ; E = y ), L), build(100000, L), last(L, x)",
];

struct Tested {
    machine: Machine,
    program: Arc<Program>,
}

impl Tested {
    fn new() -> Tested {
        let engine = Engine::new();
        let mut loader = engine.loader();
        loader.load("garbage.pl", PROGRAM);
        let program = loader.finish().map_or_else(|error| panic!("{error}"), |loaded| loaded.program);
        Tested { machine: Machine::new(&engine), program }
    }

    fn first(&mut self, goal: &str, budget: &Budget) -> Outcome {
        let mut query = self.machine.query(&self.program, goal, &(), budget).unwrap_or_else(|error| panic!("{error}"));
        query.next_answer()
    }
}

#[test]
fn garbage_does_not_count_against_the_budget() {
    let mut tested = Tested::new();
    for goal in GOALS {
        assert_eq!(tested.first(goal, &BUDGET), Outcome::Answer, "{goal}");
    }
}

#[test]
fn live_data_survives_a_collection_at_any_point() {
    mario_prolog::collect_eagerly();
    let mut tested = Tested::new();
    for goal in GOALS {
        let goal = goal.replace("0000", "00");
        assert_eq!(tested.first(&goal, &BUDGET), Outcome::Answer, "{goal}");
    }
}

/// Each of two million steps builds a list of ten elements. SWI-Prolog's peak memory for this loop was 12 MB.
#[test]
fn a_loop_that_builds_lists_runs_within_64_megabytes() {
    let mut tested = Tested::new();
    let budget = Budget { inferences: 10_000_000, heap_bytes: 64 << 20, ..BUDGET };
    assert_eq!(tested.first("build(2000000, x)", &budget), Outcome::Answer);
    assert!(tested.machine.collections() > 10, "{} collections", tested.machine.collections());
}

#[test]
fn live_data_beyond_the_budget_ends_the_query() {
    let mut tested = Tested::new();
    for goal in ["deep(1000000, x, _)", "wide(1000000, x, _)", "numlist(1, 20000, L), kept(5, L, K), deep(50000, K, _)"]
    {
        assert_eq!(tested.first(goal, &BUDGET), Outcome::Exhausted(Resource::HeapBytes), "{goal}");
    }
}

/// The terms have a million levels. The collector limits its stack of pending ranges, so marking may take several
/// passes.
#[test]
fn deep_terms_survive() {
    let mut tested = Tested::new();
    let budget = Budget { heap_bytes: 128 << 20, ..BUDGET };
    for goal in [
        "deep(1000000, x, T), build(500000, T), depth(T, 0, 1000000)",
        "wide(1000000, x, T), build(500000, T), T = s(1, s(2, s(3, _)))",
    ] {
        assert_eq!(tested.first(goal, &budget), Outcome::Answer, "{goal}");
        assert!(tested.machine.collections() > 1, "{goal}");
    }
}

/// With the default heap budget, a query of this size does not reach the first collection.
#[test]
fn small_queries_never_collect() {
    let mut tested = Tested::new();
    let budget = Budget { heap_bytes: Budget::default().heap_bytes, ..BUDGET };
    assert_eq!(tested.first("build(10000, x)", &budget), Outcome::Answer);
    assert_eq!(tested.machine.collections(), 0);
}

#[test]
fn equal_queries_collect_at_equal_points() {
    let (mut one, mut other) = (Tested::new(), Tested::new());
    for goal in GOALS {
        one.first(goal, &BUDGET);
        other.first(goal, &BUDGET);
        assert_eq!(one.machine.collections(), other.machine.collections(), "{goal}");
    }
}

/// Garbage is collected before each of the two answers.
#[test]
fn answers_are_readable_after_a_collection() {
    let mut tested = Tested::new();
    let goal = "member(X, [f(A, B), g(B)]), build(100000, X), A = 1";
    let mut query = tested.machine.query(&tested.program, goal, &(), &BUDGET).expect("it can be read");
    let mut texts = Vec::new();
    while query.next_answer() == Outcome::Answer {
        texts.push(query.bindings().into_iter().map(|(_, text)| text).collect::<Vec<_>>());
    }
    assert_eq!(texts.len(), 2);
    assert!(texts[0][0].starts_with("f(1,_"), "{texts:?}");
    assert_eq!(texts[0][1], "1");
    assert!(texts[1][0].starts_with("g(_"), "{texts:?}");
}

/// A nearly full store is collected whenever it has grown by an eighth of its live cells, and each collection visits
/// all live cells.
#[test]
fn collections_that_free_little_are_charged() {
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.load("garbage.pl", PROGRAM);
    let program = loader.finish().map_or_else(|error| panic!("{error}"), |loaded| loaded.program);
    let mut machine = Machine::new(&engine);
    let budget = Budget { heap_bytes: 8 << 20, ..BUDGET };
    let mut inferences = |elements: usize| {
        let goal = format!("numlist(1, {elements}, L), build(200000, x), L = [1|_]");
        let mut query = machine.query(&program, &goal, &(), &budget).expect("it can be read");
        assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
        query.inferences()
    };
    let (empty, full) = (inferences(10), inferences(400_000));
    // A lower bound: `build` makes 20 cells in each of 200,000 steps, and a collection is due after at most 125,000 new
    // cells.
    let collections = 200_000 * 20 / (1_000_000 / 8);
    let visited = collections * 800_000;
    assert!(full - empty > visited / 20, "{empty} and {full} inferences for {visited} visits");
}
