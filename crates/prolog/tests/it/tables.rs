//! Tests of dynamic predicates with many clauses: lookups do not visit other clauses, and removed clauses are freed.

use mario_prolog::{Budget, Engine, Machine, Outcome};

/// The inferences up to the first answer of a goal, including those charged for work on data.
fn inferences(program: &str, goal: &str) -> u64 {
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.load("tables.pl", program);
    let program = loader.finish().map_err(|error| error.to_string()).expect("the program loads").program;
    let mut machine = Machine::new(&engine);
    let mut query = machine.query(&program, goal, &(), &Budget::default()).expect("it is a goal");
    let outcome = query.next_answer();
    assert_eq!(outcome, Outcome::Answer, "{goal}");
    query.inferences()
}

/// Asserts that ten times the clauses take at most 13 times the inferences.
#[track_caller]
fn is_linear(program: &str, goal: impl Fn(usize) -> String) {
    let (small, large) = (inferences(program, &goal(1_000)), inferences(program, &goal(10_000)));
    assert!(large <= small * 13, "{small} inferences for 1,000 clauses, {large} for 10,000");
}

const TABLE: &str = ":- dynamic t/4.
fill(N) :- forall(between(1, N, I), ( J is I * 7 mod N, assertz(t(I, f(J), [I], x)) )).
churn(N) :- between(1, N, I), assertz(t(I, 0, 0, 0)), retract(t(I, _, _, _)), fail.
churn(_).
queue(N) :- between(1, N, I), once(retract(t(_, _, _, _))), assertz(t(I, 0, 0, 0)), fail.
queue(_).
";

#[test]
fn a_lookup_by_the_first_argument_visits_no_other_clauses() {
    is_linear(TABLE, |n| format!("fill({n}), forall(between(1, {n}, I), t(I, _, _, _))"));
    is_linear(TABLE, |n| format!("fill({n}), forall(between(1, {n}, I), clause(t(I, _, _, _), true))"));
    is_linear(TABLE, |n| format!("fill({n}), forall(between(1, {n}, I), \\+ t(x(I), _, _, _))"));
}

#[test]
fn retracting_by_the_first_argument_visits_no_other_clauses() {
    is_linear(TABLE, |n| format!("fill({n}), forall(between(1, {n}, I), retract(t(I, _, _, _)))"));
    is_linear(TABLE, |n| format!("fill({n}), forall(between(1, {n}, I), ( J is {n} - I, retractall(t(J, _, _, _)) ))"));
}

#[test]
fn removed_clauses_are_swept() {
    is_linear(TABLE, |n| format!("fill({n}), forall(between(1, {n}, _), once(retract(t(_, _, _, _))))"));
    is_linear(TABLE, |n| format!("assertz(t(0, 0, 0, 0)), assertz(t(1, 1, 1, 1)), t(_, _, _, _), churn({n})"));
    is_linear(TABLE, |n| format!("fill({n}), t(_, _, _, _), forall(between(1, {n}, _), once(retract(t(_, _, _, _))))"));
    is_linear(TABLE, |n| format!("fill(50), t(_, _, _, _), queue({n})"));
}

/// The third goal adds a fact, so the query copies the predicate, and indexes its copy.
#[test]
fn loaded_facts_are_indexed_like_asserted_ones() {
    let facts = |n: usize| (0..n).map(|i| format!("s({i}, a{i}).")).collect::<Vec<_>>().join("\n");
    let measure = |n: usize, goal: &str| inferences(&format!(":- dynamic s/2.\n{}", facts(n)), goal);
    for goal in ["s(7, X), X == a7", "s(X, a7), X == 7", "assertz(s(1, 2)), s(7, X), X == a7, \\+ s(x, _), s(_, a9)"] {
        let (small, large) = (measure(100, goal), measure(4_000, goal));
        // The allowance is for copying and indexing a changed predicate: half an inference per clause.
        assert!(large <= small + 4_000 * 3 / 6, "{goal}: {small} and {large} inferences");
    }
}

#[test]
fn removed_clauses_free_their_memory() {
    let budget = Budget { heap_bytes: 8 << 20, ..Budget::default() };
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.load("tables.pl", TABLE);
    let program = loader.finish().map_err(|error| error.to_string()).expect("the program loads").program;
    let mut machine = Machine::new(&engine);
    for goal in ["churn(300000)", "fill(50), queue(100000)", "fill(50), ( t(_, _, _, _), churn(300000) -> true )"] {
        let mut query = machine.query(&program, goal, &(), &budget).expect("it is a goal");
        assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
    }
}
