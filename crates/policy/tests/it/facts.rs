//! Tests that policies see the facts of a text, and that invalid facts are refused with their position.

use mario_policy::{Decider, FactProblem, KnowledgeBase, SolutionLimit, UnknownInstance};
use mario_prolog::{Engine, Value};

use crate::{facts, load};

fn problems(text: &str) -> Vec<FactProblem> {
    let engine = Engine::new();
    let mut facts = KnowledgeBase::new(engine.symbols());
    facts.read(&engine, "facts.pl", text).expect_err("something is wrong with them").problems
}

/// Whether a goal succeeds, as the body of a clause of `operation/3`.
fn holds(engine: &Engine, facts: &KnowledgeBase, goal: &str) -> bool {
    let policy = load(engine, &format!("operation(undeploy, _, self) :- {goal}.")).expect("a policy");
    let mut decider = Decider::new(engine);
    !decider.decide(&policy, facts, Value::Integer(1), SolutionLimit::First).solutions.is_empty()
}

#[test]
fn a_policy_sees_every_fact() {
    let engine = Engine::new();
    let facts = facts(
        &engine,
        "service(video, 4, 10, 2.5). node(n42, 10, [n41, 43]). serviceInstance(s1, video, n42).
         requests(s1, self, 5, 0). inhibited(migrate, s1, n41). refused(replicate, s1, self).
         fact(n42, region, eu). fact(video, price, 0.25).",
    );
    for goal in [
        "service(video, 4, 10, 2.5)",
        "node(n42, 10)",
        "node(n42, 10, [n41, 43])",
        "node(N, F, [_|Ns]), N == n42, F == 10, Ns == [43]",
        "serviceInstance(s1, video, n42)",
        "requests(s1, self, 5, 0)",
        "findall(O-T, inhibited(O, s1, T), L), L == [migrate-n41, replicate-self]",
        "findall(O-T, refused(O, s1, T), L), L == [migrate-n41, replicate-self]",
        "fact(n42, region, R), R == eu",
        "fact(video, price, P), P =:= 1 / 4",
    ] {
        assert!(holds(&engine, &facts, goal), "{goal}");
    }
    for goal in ["node(n41, _)", "requests(s1, n41, _, _)", "service(video, 4, 10, 2)", "fact(_, carbon, _)"] {
        assert!(!holds(&engine, &facts, goal), "{goal}");
    }
}

#[test]
fn each_form_of_a_node_fact_supplies_the_other() {
    let engine = Engine::new();
    let short = facts(&engine, "node(n42, 10).");
    assert!(holds(&engine, &short, "node(n42, 10, [])"));
    let long = facts(&engine, "node(n42, 10, [n41]).");
    assert!(holds(&engine, &long, "node(n42, 10)"));
    for text in ["node(n42, 10). node(n42, 10, [n41]).", "node(n42, 10, [n41]). node(n42, 10)."] {
        let both = facts(&engine, text);
        assert!(
            holds(&engine, &both, "findall(F, node(n42, F), [10]), findall(Ns, node(n42, _, Ns), [[n41]])"),
            "{text}"
        );
    }
    assert!(problems("node(n42, 10). node(n42, 9, []).")[0].message.contains("differ in their free hardware"));
    assert!(problems("node(n42, 10). node(n42, 10).")[0].message.contains("already"));
}

#[test]
fn unbounded_hardware_is_more_than_any_number() {
    let engine = Engine::new();
    let cloud = facts(&engine, "node(cloud, inf).");
    assert!(holds(&engine, &cloud, "node(cloud, Free), Free >= 1000000"));
}

#[test]
fn declarations_are_skipped() {
    let engine = Engine::new();
    let facts = facts(&engine, ":- dynamic requests/4.\n:- discontiguous node/2, node/3.\nnode(n42, 10).");
    assert_eq!(facts.nodes().count(), 1);
}

#[test]
fn reports_the_problem_and_the_place_of_each_bad_fact() {
    let text = "node(n42, 10).\nrequests(s1, N41, 5, 0).\nrequest(s1, n41, 5, 0).\nnode(n42).\n";
    let problems = problems(text);
    let shown: Vec<(&str, &str)> =
        problems.iter().map(|problem| (&text[problem.span.clone()], problem.message.as_str())).collect();
    assert_eq!(
        shown,
        [
            (
                "requests(s1, N41, 5, 0)",
                "argument 2 is the neighbour: expected a name or an integer, found the variable `N41`"
            ),
            ("request(s1, n41, 5, 0)", "an agent sees no facts of request/4"),
            ("node(n42)", "an agent sees no facts of node/1"),
        ]
    );
    assert_eq!(problems[2].hint.as_deref(), Some("did you mean node/2 or node/3?"));
}

#[test]
fn refuses_terms_that_are_not_facts() {
    for (text, expected) in [
        ("a :- b.", "a rule"),
        (":- initialization(halt).", "directives"),
        ("42.", "not a fact"),
        ("node(n42, many).", "expected a number or `inf`, found the name `many`"),
        ("node(n42, 1, n41).", "expected a list of names or integers"),
        ("node(n42, 1, [f(x)]).", "found a term f/1"),
        ("node(n42, 99999999999999999999).", "more than 64 bits"),
        ("fact(n42, region, \"eu\").", "the string \"eu\""),
        ("fact(n42, region, [eu]).", "a list"),
        ("requests(s1, 1.5, 1, 1).", "the number 1.5"),
        ("node(n42", "expected"),
        ("requests(s1, n41, -3, 4).", "argument 3 is the rate, and cannot be negative"),
        ("node(n42, -0.5).", "cannot be negative"),
    ] {
        let problems = problems(text);
        assert!(problems[0].message.contains(expected), "{text}: {problems:?}");
    }
}

#[test]
fn finds_the_selected_or_only_instance() {
    let engine = Engine::new();
    let none = KnowledgeBase::new(engine.symbols());
    assert_eq!(none.find_instance(None), Err(UnknownInstance::None));
    let one = facts(&engine, "serviceInstance(7, video, n42).");
    assert_eq!(one.find_instance(None), Ok(Value::Integer(7)));
    assert_eq!(one.find_instance(Some("7")), Ok(Value::Integer(7)));
    let two = facts(&engine, "serviceInstance(s1, video, n42). serviceInstance(s2, video, n42).");
    let ids = vec!["s1".to_owned(), "s2".to_owned()];
    assert_eq!(two.find_instance(None), Err(UnknownInstance::Several(ids.clone())));
    assert_eq!(two.find_instance(Some("s2")), Ok(two.constant("s2")));
    assert_eq!(two.find_instance(Some("s3")), Err(UnknownInstance::NotAmong(ids)));
}
