use super::{Answer, Detail};
use crate::meter::Resource;
use crate::{Budget, Engine, Machine, Outcome};

/// The first answer to a goal.
fn answer(goal: &str, detail: Detail) -> Result<Answer, Resource> {
    let engine = Engine::new();
    let mut machine = Machine::new(&engine);
    let mut query = machine.query(engine.library(), goal, &(), &Budget::default()).expect("the goal is well-formed");
    assert_eq!(query.next_answer(), Outcome::Answer, "{goal}");
    query.answer(detail)
}

#[track_caller]
fn check(goal: &str, expected: &str) {
    let answer = answer(goal, Detail::Whole).expect("it is small");
    assert_eq!(answer.sentence(), expected, "{goal}");
}

#[test]
fn shows_bindings_on_one_line() {
    check("X = 1, Y = f(_, Z, Z)", "X = 1, Y = f(_, Z, Z).");
    check("X = 'A b', Y = \"s\"", "X = 'A b', Y = \"s\".");
    check("true", "true.");
}

#[test]
fn joins_variables_with_one_value() {
    check("X = Y, Y = Z", "X = Y, Y = Z.");
    check("X = f(A), Y = f(A)", "X = Y, Y = f(A).");
    check("X = f(A), Y = f(B)", "X = f(A), Y = f(B).");
}

#[test]
fn generated_names_differ_from_those_of_the_query() {
    check("_A = 1, copy_term([V, V], L)", "_A = 1, L = [_B, _B].");
    check("X = f(Y, Y), Y = g(Y), _S1 = 1", "X = f(_S2, _S2), _S2 = g(_S2), Y = g(_S2), _S1 = 1.");
}

#[test]
fn keeps_the_full_stop_apart_from_symbols() {
    check("X = #", "X = # .");
    check("X = (+)", "X = (+).");
}

#[test]
fn cuts_cyclic_values_where_they_contain_themselves() {
    check("X = f(X)", "X = f(X).");
    check("X = [1, 2|Y], Y = [3|X]", "X = [1, 2, 3|X], Y = [3|X].");
    check("X = f(X), Y = f(Y)", "X = Y, Y = f(Y).");
    let answer = answer("X = f(Z, Z), Z = g(Z)", Detail::Whole).expect("it is small");
    assert_eq!(answer.lines(), "X = f(_S1, _S1), % where\n    _S1 = g(_S1),\nZ = g(_S1)");
}

#[test]
fn shows_suspended_goals() {
    check("dif(X, a), Y = f(X)", "Y = f(X), dif(X, a).");
    check("freeze(X, foo(Y))", "freeze(X, foo(Y)).");
}

#[test]
fn showing_suspended_goals_does_not_change_answers() {
    let engine = Engine::new();
    let mut machine = Machine::new(&engine);
    let goal = "dif(X, b), member(Z-Y, [X-1, b-2, c-3])";
    let mut query = machine.query(engine.library(), goal, &(), &Budget::default()).expect("well-formed");
    let mut answers = Vec::new();
    while query.next_answer() == Outcome::Answer {
        for _ in 0..2 {
            answers.push(query.answer(Detail::Whole).expect("it is small").to_string());
        }
    }
    let expected = ["X = Z, Y = 1, dif(Z, b)", "Z = b, Y = 2, dif(X, b)", "Z = c, Y = 3, dif(X, b)"];
    let twice: Vec<&str> = expected.iter().flat_map(|answer| [*answer, *answer]).collect();
    assert_eq!(answers, twice);
}

#[test]
fn abbreviates_when_asked_to() {
    let answer = answer("numlist(1, 100, L)", Detail::Abbreviated).expect("it is small");
    assert_eq!(answer.sentence(), "L = [1, 2, 3, 4, 5, 6, 7, 8, 9|...].");
}

#[test]
fn refuses_an_answer_too_long_to_write() {
    let doubling = "findall(X, between(1, 60, X), Xs), foldl([_, A, f(A, A)]>>true, Xs, a, T)";
    assert!(answer(doubling, Detail::Whole).is_err());
    assert!(answer(doubling, Detail::Abbreviated).is_err());
}

#[test]
fn writes_a_long_list() {
    let answer = answer("numlist(1, 200000, L)", Detail::Whole).expect("two hundred thousand numbers fit");
    assert!(answer.to_string().ends_with(", 199999, 200000]"));
}
