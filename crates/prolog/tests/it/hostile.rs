//! Tests of hostile goals, which may exhaust their own budget and nothing else.
//!
//! Each goal ends soon, and the machine answers the next query as usual.

mod cyclic;
mod deep;
mod metered;

use mario_prolog::{Budget, Engine, Machine, Outcome, Program, Resource};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A budget so small that each resource is exhausted in well under a second.
pub const SMALL: Budget = Budget {
    inferences: 300_000,
    heap_bytes: 1 << 20,
    trail_entries: 200_000,
    choice_points: 5_000,
    answers: 1_000,
    output_bytes: 10_000,
};

/// A budget that suffices for a term with a million levels, a list with a million elements, or a million pending calls.
pub const LARGE: Budget = Budget {
    inferences: 200_000_000,
    heap_bytes: 2 << 30,
    trail_entries: 50_000_000,
    choice_points: 10_000_000,
    answers: 10,
    output_bytes: 100_000_000,
};

/// The time limit of any goal.
const PATIENCE: Duration = Duration::from_secs(20);

const PROGRAM: &str = "
    fact(loaded).
    loop :- loop.
    loop(X) :- loop(f(X)).
    left :- left, true.
    left.
    solved(a).
    solved(X) :- solved(Y), ( Y = a -> X = a ; X = b ).
    grow(X) :- grow([X|X]).
    double(X) :- atom_concat(X, X, Y), double(Y).
    twice(X) :- string_concat(X, X, Y), twice(Y).
    square(X) :- Y is X * X, square(Y).
    choices :- ( true ; true ), choices.
    bind_all([]).
    bind_all([a|T]) :- bind_all(T).
    chatter :- write(abcdefghij), chatter.
    assert_all(N) :- assertz(kept(N, some(long(term)))), M is N + 1, assert_all(M).
    :- dynamic kept/2.
    exponential(0, a) :- !.
    exponential(N, f(T, T)) :- M is N - 1, exponential(M, T).
    fibonacci(N, F) :- N < 2, !, F = N.
    fibonacci(N, F) :- A is N - 1, B is N - 2, fibonacci(A, X), fibonacci(B, Y), F is X + Y.
    branches :- (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), (true ; true), fail.
    count(0) :- !.
    count(N) :- M is N - 1, count(M).
    length_of([], 0).
    length_of([_|T], N) :- length_of(T, M), N is M + 1.
    nested(0, z) :- !.
    nested(N, s(T)) :- M is N - 1, nested(M, T).
";

/// A machine that is reused for all queries.
pub struct Victim {
    machine: Machine,
    program: Arc<Program>,
}

impl Victim {
    pub fn new() -> Victim {
        let engine = Engine::new();
        let mut loader = engine.loader();
        loader.load("hostile.pl", PROGRAM);
        let program = loader.finish().map_or_else(|error| panic!("{error}"), |loaded| loaded.program);
        Victim { machine: Machine::new(&engine), program }
    }

    /// Asks for answers until there are no more. Returns the last outcome and the number of inferences.
    pub fn run(&mut self, goal: &str, budget: &Budget) -> (Outcome, u64) {
        let start = Instant::now();
        let mut query =
            self.machine.query(&self.program, goal, &(), budget).unwrap_or_else(|error| panic!("{goal}: {error}"));
        let outcome = loop {
            match query.next_answer() {
                Outcome::Answer => {}
                other => break other,
            }
        };
        let inferences = query.inferences();
        assert!(start.elapsed() < PATIENCE, "{goal} took {:?}", start.elapsed());
        (outcome, inferences)
    }

    /// The outcome of asking for the first answer.
    pub fn first(&mut self, goal: &str, budget: &Budget) -> Outcome {
        let start = Instant::now();
        let mut query =
            self.machine.query(&self.program, goal, &(), budget).unwrap_or_else(|error| panic!("{goal}: {error}"));
        let outcome = query.next_answer();
        assert!(start.elapsed() < PATIENCE, "{goal} took {:?}", start.elapsed());
        outcome
    }

    /// Asserts that the machine still answers a harmless query.
    pub fn is_unharmed(&mut self, after: &str) {
        let goal = "fact(X), \\+ kept(_, _), findall(Y, member(Y, [1, 2]), [1, 2]), catch(throw(b), b, true)";
        let mut query = self.machine.query(&self.program, goal, &(), &SMALL).expect("it can be read");
        assert_eq!(query.next_answer(), Outcome::Answer, "after {after}");
        assert_eq!(query.bindings()[0].1, "loaded", "after {after}");
        assert_eq!(query.next_answer(), Outcome::NoMore, "after {after}");
    }
}

/// Each goal with the resource that it exhausts.
const WASTEFUL: &[(&str, Resource)] = &[
    ("loop", Resource::Inferences),
    ("repeat, fail", Resource::Inferences),
    ("count(1000000000)", Resource::Inferences),
    ("between(1, inf, X), X < 0", Resource::Inferences),
    ("fibonacci(60, F)", Resource::Inferences),
    ("catch(loop, _, true)", Resource::Inferences),
    ("catch(loop, E, loop)", Resource::Inferences),
    ("\\+ loop", Resource::Inferences),
    ("branches", Resource::Inferences),
    ("findall(X, loop, _)", Resource::Inferences),
    ("forall(repeat, true)", Resource::Inferences),
    ("setup_call_cleanup(true, loop, loop)", Resource::Inferences),
    ("catch(setup_call_cleanup(true, throw(b), loop), b, true)", Resource::Inferences),
    ("freeze(X, loop), X = 1", Resource::Inferences),
    ("repeat, \\+ catch(throw(b), b, true)", Resource::Inferences),
    ("numlist(1, 10, L), permutation(L, P), P = [x|_]", Resource::Inferences),
    ("assert_all(0)", Resource::HeapBytes),
    ("loop(x)", Resource::HeapBytes),
    ("grow(x)", Resource::HeapBytes),
    ("double(ab)", Resource::HeapBytes),
    ("twice(\"ab\")", Resource::HeapBytes),
    ("square(7)", Resource::Inferences),
    ("X is 2 ** 4000000000", Resource::HeapBytes),
    ("X is 2 ^ 4000000000", Resource::HeapBytes),
    ("X is 1 << 4000000000", Resource::HeapBytes),
    ("findall(X, repeat, _)", Resource::HeapBytes),
    ("exponential(40, T), write(T)", Resource::OutputBytes),
    ("exponential(40, T), term_to_atom(T, _)", Resource::HeapBytes),
    ("length(L, 100000000)", Resource::HeapBytes),
    ("numlist(1, 100000000, L)", Resource::HeapBytes),
    ("functor(T, f, 100), findall(T, repeat, _)", Resource::HeapBytes),
    ("format(atom(A), \"~t~w~100000000|\", [a])", Resource::HeapBytes),
    ("tab(100000000)", Resource::OutputBytes),
    ("chatter", Resource::OutputBytes),
    ("format(\"~`xt~100000|\")", Resource::OutputBytes),
    ("left", Resource::ChoicePoints),
    ("choices", Resource::ChoicePoints),
    ("repeat, choices", Resource::ChoicePoints),
    ("length(L, 20000), repeat, bind_all(L), fail", Resource::Inferences),
    ("repeat", Resource::Answers),
    ("between(1, inf, X)", Resource::Answers),
];

/// Goals on a term `T` of 40 shared compounds, which has 2^40 leaves as a tree. They end within the budget only if they
/// visit each compound once.
const SHARED: &[&str] = &[
    "assertz(kept(T, T))",
    "findall(T, true, [U]), T == U",
    "copy_term(T, U), T =@= U",
    "catch(throw(T), U, true), T == U",
    "nb_setval(k, T), nb_getval(k, U), U == T",
    "exponential(40, U), T == U",
    "exponential(40, U), T = U",
    "exponential(40, U), \\+ T \\= U",
    "exponential(40, U), compare(=, T, U)",
    "exponential(40, U), unify_with_occurs_check(T, U)",
    "exponential(40, U), T =@= U",
    "exponential(40, U), subsumes_term(T, U)",
    "exponential(40, U), ?=(T, U)",
    "exponential(40, U), msort([T, U], _)",
    "exponential(40, U), \\+ dif(T, U)",
    "ground(T)",
    "term_variables(T, [])",
    "acyclic_term(T)",
    "numbervars(T, 0, 0)",
    "freeze(V, true), V = T",
    "copy_term(T, _, [])",
];

#[test]
fn shared_subterms_are_visited_once() {
    let mut victim = Victim::new();
    for goal in SHARED {
        let goal = format!("exponential(40, T), {goal}");
        assert_eq!(victim.first(&goal, &SMALL), Outcome::Answer, "{goal}");
    }
}

#[test]
fn each_goal_exhausts_the_expected_resource() {
    let mut victim = Victim::new();
    let wrong: Vec<String> = WASTEFUL
        .iter()
        .filter_map(|&(goal, resource)| {
            let (outcome, _) = victim.run(goal, &SMALL);
            (outcome != Outcome::Exhausted(resource)).then(|| format!("{goal}: {outcome:?}, not {resource}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_same_budget_ends_at_the_same_inference() {
    let (mut one, mut other) = (Victim::new(), Victim::new());
    for (goal, _) in WASTEFUL {
        let first = one.run(goal, &SMALL);
        assert_eq!(one.run(goal, &SMALL), first, "{goal} twice");
        assert_eq!(other.run(goal, &SMALL), first, "{goal} in another machine");
    }
}

#[test]
fn an_exhausted_machine_answers_the_next_query() {
    let mut victim = Victim::new();
    for (goal, _) in WASTEFUL {
        victim.run(goal, &SMALL);
        victim.is_unharmed(goal);
    }
}

#[test]
fn an_exhausted_budget_cannot_be_caught() {
    let mut victim = Victim::new();
    for (goal, resource) in WASTEFUL.iter().filter(|(_, resource)| *resource != Resource::Answers) {
        for caught in [format!("catch(({goal}), _, true)"), format!("\\+ \\+ catch(({goal}, fail), _, true)")] {
            assert_eq!(victim.run(&caught, &SMALL).0, Outcome::Exhausted(*resource), "{caught}");
        }
    }
}

/// Each further solution of `solved/1` returns through one more clause body. Returning is not a call, but must use up
/// the budget of inferences, too.
#[test]
fn returning_from_a_deep_recursion_is_charged() {
    let mut victim = Victim::new();
    let budget = Budget { inferences: 300_000, ..LARGE };
    let goal = "solved(_), fail";
    assert_eq!(victim.run(goal, &budget).0, Outcome::Exhausted(Resource::Inferences));
    victim.is_unharmed(goal);
}

#[test]
fn the_trail_is_limited() {
    let mut victim = Victim::new();
    let budget = Budget { trail_entries: 1_000, ..SMALL };
    let goal = "length(L, 5000), ( bind_all(L) ; true )";
    assert_eq!(victim.run(goal, &budget).0, Outcome::Exhausted(Resource::TrailEntries));
    victim.is_unharmed(goal);
}

#[test]
fn uncaught_exceptions_and_syntax_errors_leave_the_machine_usable() {
    let mut victim = Victim::new();
    for goal in [
        "throw(a)",
        "X is foo + 1",
        "atom_length(X, Y)",
        "no_such_predicate",
        "findall(X, throw(X-1), L)",
        "freeze(X, throw(a)), X = 1",
    ] {
        assert!(matches!(victim.run(goal, &SMALL).0, Outcome::Exception(_)), "{goal}");
        victim.is_unharmed(goal);
    }
    assert!(victim.machine.query(&victim.program, "foo(", &(), &SMALL).is_err());
    victim.is_unharmed("a syntax error");
    assert_eq!(victim.run("halt(3)", &SMALL).0, Outcome::Halted(3));
    victim.is_unharmed("halt/1");
}
