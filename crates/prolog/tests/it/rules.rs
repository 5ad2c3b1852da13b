//! Tests of rules with single-sided unification (`=>`), declarations without clauses, and missing libraries.

use crate::engine::{BUDGET, Runner};
use mario_prolog::Engine;

#[track_caller]
fn answers(program: &str, goal: &str, expected: &str) {
    let outcome = Runner::new(BUDGET).run(program, goal, 5);
    assert_eq!(format!("{:?} {:?}", outcome.answers, outcome.end), expected, "{goal}");
}

fn errors(text: &str) -> Vec<String> {
    let engine = Engine::new();
    let mut loader = engine.loader();
    loader.load("rules.pl", text);
    loader.finish().err().map_or_else(Vec::new, |error| error.errors.iter().map(ToString::to_string).collect())
}

const RULES: &str = "len([], N) => N = 0.\nlen([_|T], N) => len(T, M), N is M + 1.\n\
                     sign(X, S), X > 0 => S = plus.\nsign(X, S), X < 0 => S = minus.\nsign(_, S) => S = zero.\n";

#[test]
fn rules_commit_and_bind_nothing_of_the_call() {
    answers(RULES, "len([a,b,c],N)", "[\"[3]\"] Exhausted");
    answers(RULES, "len(L,N)", "[] Raised(\"error(existence_error(matching_rule,len(_0,_1)),_2)\")");
    answers(RULES, "len([a|T],N)", "[] Raised(\"error(existence_error(matching_rule,len(_0,_1)),_2)\")");
    answers(RULES, "sign(3,S)", "[\"[plus]\"] Exhausted");
    answers(RULES, "sign(0,S)", "[\"[zero]\"] Exhausted");
}

/// As in SWI-Prolog, a unification of two variables stays in the guard and may bind variables of the call. `Y = f(X)`
/// with a head argument `Y` becomes part of the head, and only matches.
const GUARDS: &str = "apart(f(X), R), R = X => true.\napart(_, _) => true.\n\
                      both(X, [R], Y), R = X, Y = f(X) => true.\nboth(_, _, _) => true.\n";

#[test]
fn a_guard_binds_variables_but_matches_arguments_one_way() {
    answers(GUARDS, "apart(f(a),R)", "[\"[a]\"] Exhausted");
    answers(GUARDS, "apart(f(R),a)", "[\"[a]\"] Exhausted");
    answers(GUARDS, "both(1,[R],f(1))", "[\"[1]\"] Exhausted");
    answers(GUARDS, "both(1,[R],f(Z))", "[\"[_0,_1]\"] Exhausted");
    answers(GUARDS, "both(1,[R],Y)", "[\"[_0,_1]\"] Exhausted");
}

#[test]
fn listing_shows_rules_as_rules() {
    let mut runner = Runner::new(BUDGET);
    let outcome = runner.run("p(a, X), X > 1 => true.\np(_, _) => fail.\n", "listing(p/2)", 1);
    assert_eq!(outcome.output, "p(a, A), A>1 =>\n    true.\np(_, _) =>\n    fail.\n\n");
}

#[test]
fn clauses_and_rules_do_not_mix() {
    let shown = errors("p(1) :- true.\np(2) => true.\n");
    assert!(shown[0].contains("p/1 has both clauses with `:-` and rules with `=>`"), "{shown:?}");
    let shown = errors("p(1) => true.\np(2).\n");
    assert!(shown[0].contains("p/1 has both clauses"), "{shown:?}");
}

#[test]
fn a_declared_predicate_without_clauses_fails() {
    let program = ":- multifile hook/1.\n:- discontiguous other/2.\nuses(X) :- hook(X).\nadds :- assertz(hook(1)).\n";
    answers(program, "hook(X)", "[] Exhausted");
    answers(program, "uses(X)", "[] Exhausted");
    answers(program, "other(X,Y)", "[] Exhausted");
    answers(program, "adds, uses(X)", "[\"[1]\"] Exhausted");
    answers(":- multifile append/3.\n", "append([a],[b],L)", "[\"[[a,b]]\"] Exhausted");
}

#[test]
fn a_missing_library_is_an_error_that_names_the_alternatives() {
    for (name, why) in [("readutil", "cannot read files"), ("settings", "files"), ("clpfd", "these libraries exist")] {
        let shown = errors(&format!(":- use_module(library({name})).\n"));
        assert!(shown.len() == 1 && shown[0].contains(&format!("there is no library `{name}`")), "{shown:?}");
        let engine = Engine::new();
        let mut loader = engine.loader();
        loader.load("rules.pl", &format!(":- use_module(library({name})).\n"));
        let error = loader.finish().err().expect("it does not load");
        let hint = format!("{:?}", error.errors[0]);
        assert!(hint.contains(why) && hint.contains("ugraphs"), "{hint}");
    }
    for name in ["ugraphs", "dcg/basics", "dcg/high_order", "solution_sequences", "lists", "terms"] {
        assert_eq!(errors(&format!(":- use_module(library({name})).\n")), Vec::<String>::new());
    }
}
