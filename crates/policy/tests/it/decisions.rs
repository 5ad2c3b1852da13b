//! Tests of decisions: their solutions, and how the search for them ends.

use mario_domain::{Operation, OperationName, Target};
use mario_policy::{Decider, Ending, Policy, PolicyError, PolicySettings, ProposalFault, Solution, SolutionLimit};
use mario_prolog::{Engine, Resource};

use crate::{facts, load};

const FACTS: &str = "service(video, 4, 10, 25). node(n42, 10, [n41]). serviceInstance(s1, video, n42).
    requests(s1, n41, 5, 30). requests(s1, n41, 6, 30).";

/// The solutions as `operation target @clause`, with clauses numbered from 0, and how the search ended.
fn decide(text: &str, limit: SolutionLimit) -> (Vec<String>, Ending) {
    let engine = Engine::new();
    let policy = load(&engine, text).expect("a policy");
    let facts = facts(&engine, FACTS);
    let mut decider = Decider::new(&engine);
    let decision = decider.decide(&policy, &facts, facts.constant("s1"), limit);
    let shown = decision.solutions.iter().map(|solution| {
        let [operation, _, target] = solution.texts(engine.symbols());
        format!("{operation} {target} @{}", solution.clause())
    });
    (shown.collect(), decision.ending.clone())
}

fn faults(text: &str) -> Vec<ProposalFault> {
    let engine = Engine::new();
    let policy = load(&engine, text).expect("a policy");
    let facts = facts(&engine, FACTS);
    let mut decider = Decider::new(&engine);
    let decision = decider.decide(&policy, &facts, facts.constant("s1"), SolutionLimit::All);
    let invalid = decision.solutions.iter().filter_map(|solution| match solution {
        Solution::Invalid(invalid) => Some(invalid.fault),
        Solution::Proposal(_) => None,
    });
    invalid.collect()
}

#[test]
fn keeps_order_and_duplicates_and_names_the_clause() {
    let text = "
        operation(replicate, I, N) :- requests(I, N, _, _).
        operation(undeploy, _, self) :- fail.
        operation(migrate, I, N) :- once(requests(I, N, R, _)), R > 0.
        operation(undeploy, I, self) :- operation(migrate, I, _), !.
        operation(migrate, _, self).
    ";
    let (solutions, ending) = decide(text, SolutionLimit::All);
    assert_eq!(solutions, ["replicate n41 @0", "replicate n41 @0", "migrate n41 @2", "undeploy self @3"]);
    assert_eq!(ending, Ending::Complete);
    assert_eq!(decide(text, SolutionLimit::First).0, ["replicate n41 @0"]);
}

#[test]
fn knows_the_places_of_its_clauses() {
    let engine = Engine::new();
    let text = "% first\noperation(undeploy, _, self) :- fail.\n\noperation(migrate, _, n41).\n";
    let policy = load(&engine, text).expect("a policy");
    let lines: Vec<usize> = policy.clauses().iter().map(|place| place.position().0).collect();
    assert_eq!(lines, [2, 4]);
    assert_eq!(policy.clauses()[1].source_name(), "policy.pl");
}

#[test]
fn a_dynamic_operation_decides_as_a_static_one() {
    let text =
        ":- dynamic operation/3.\noperation(migrate, I, N) :- requests(I, N, 6, _).\noperation(undeploy, _, self).";
    let (solutions, _) = decide(text, SolutionLimit::All);
    assert_eq!(solutions, ["migrate n41 @0", "undeploy self @1"]);
}

#[test]
fn reports_solutions_that_are_not_operations() {
    let cases = [
        ("operation(move, _, n41).", ProposalFault::UnknownOperation),
        ("operation(deploy, _, n41).", ProposalFault::UnknownOperation),
        ("operation(f(x), _, n41).", ProposalFault::UnknownOperation),
        ("operation(_, _, n41).", ProposalFault::UnknownOperation),
        ("operation(migrate, _, _).", ProposalFault::UnboundTarget),
        ("operation(migrate, _, f(x)).", ProposalFault::NotATarget),
        ("operation(migrate, _, 1.5).", ProposalFault::NotATarget),
        ("operation(migrate, _, [n41]).", ProposalFault::NotATarget),
        ("operation(migrate, _, T) :- atom_concat(made, up, T).", ProposalFault::UnknownTarget),
        ("operation(undeploy, _, n41).", ProposalFault::UndeploysElsewhere),
    ];
    for (text, fault) in cases {
        assert_eq!(faults(text), [fault], "{text}");
    }
    for text in [
        "operation(undeploy, _, self).",
        "operation(undeploy, _, n42).",
        "operation(migrate, _, 7).",
        "operation(migrate, _, T) :- atom_concat(n, '41', T).",
        "operation(replicate, s1, self).",
        "operation(replicate, s2, self).",
    ] {
        assert_eq!(faults(text), [], "{text}");
    }
    let (solutions, _) = decide("operation(move, I, T) :- requests(I, _, 6, L), T = f(L).", SolutionLimit::All);
    assert_eq!(solutions, ["move f(30) @0"]);
}

#[test]
fn reports_a_policy_that_fails() {
    let (solutions, ending) =
        decide("operation(migrate, _, n41).\noperation(undeploy, _, self) :- gone(1).", SolutionLimit::All);
    assert_eq!(solutions, ["migrate n41 @0"], "what was found before");
    let Ending::Exception(explanation) = ending else { panic!("{ending:?}") };
    assert!(explanation.message.contains("gone/1"), "{explanation:?}");
    let (_, ending) = decide("operation(undeploy, _, self) :- throw(oops).", SolutionLimit::All);
    assert!(ending.to_string().contains("oops"), "{ending}");
    assert_eq!(decide("operation(undeploy, _, self) :- halt.", SolutionLimit::All).1, Ending::Halted);
    let forever = "operation(undeploy, _, self) :- loop. loop :- loop.";
    assert_eq!(decide(forever, SolutionLimit::All).1, Ending::Exhausted(Resource::Inferences));
    let endless = "operation(undeploy, _, self) :- repeat.";
    let (solutions, ending) = decide(endless, SolutionLimit::All);
    assert_eq!((solutions.len(), ending), (100_000, Ending::Exhausted(Resource::Answers)));
    assert_eq!(decide(endless, SolutionLimit::First).1, Ending::Complete);
}

#[test]
fn deciding_twice_has_the_same_result_even_if_the_policy_asserts() {
    let engine = Engine::new();
    let text = ":- dynamic seen/1.\noperation(migrate, I, n41) :- \\+ seen(I), assertz(seen(I)).";
    let policy = load(&engine, text).expect("a policy");
    let facts = facts(&engine, FACTS);
    let mut decider = Decider::new(&engine);
    let first = decider.decide(&policy, &facts, facts.constant("s1"), SolutionLimit::All).clone();
    assert_eq!(first.solutions.len(), 1);
    assert_eq!(*decider.decide(&policy, &facts, facts.constant("s1"), SolutionLimit::All), first);
}

#[test]
fn policies_cannot_define_the_hosts_facts() {
    let engine = Engine::new();
    for predicate in ["service(a, 1, 2, 3)", "node(n, 1)", "node(n, 1, [])", "requests(a, b, 1, 1) :- true"] {
        let text = format!("operation(undeploy, _, self).\n{predicate}.\n");
        let Err(PolicyError::Load { problems, .. }) = load(&engine, &text) else { panic!("{predicate} is accepted") };
        assert_eq!(problems.errors[0].position().0, 2);
        assert!(problems.errors[0].message.contains("from the host"), "{problems}");
    }
    let declared = ":- dynamic service/4, node/2, node/3, requests/4, refused/3, fact/3.\noperation(migrate, I, N) :- requests(I, N, 6, _).";
    assert_eq!(decide(declared, SolutionLimit::All).0, ["migrate n41 @0"]);
}

#[test]
fn refuses_a_text_that_is_not_a_policy() {
    let engine = Engine::new();
    for text in ["", "a.", "operation(migrate, n41).", ":- dynamic operation/3."] {
        assert!(matches!(load(&engine, text), Err(PolicyError::NoOperation { .. })), "{text}");
    }
    let halted = "operation(undeploy, _, self). :- halt. operation(migrate, _, n41).";
    assert!(matches!(load(&engine, halted), Err(PolicyError::Halted { .. })));
    assert!(matches!(load(&engine, "operation(a, b, c"), Err(PolicyError::Load { .. })));
    assert!(matches!(load(&engine, ":- ensure_loaded(library).\noperation(a, b, c)."), Err(PolicyError::Load { .. })));
}

#[test]
fn a_budget_is_a_setting_of_the_policy() {
    let engine = Engine::new();
    let policy: Policy =
        load(&engine, "operation(undeploy, _, self) :- between(1, 10000, N), N >= 10000.").expect("fine");
    let facts = facts(&engine, FACTS);
    let mut decider = Decider::new(&engine);
    let s1 = facts.constant("s1");
    assert_eq!(decider.decide(&policy, &facts, s1, SolutionLimit::All).ending, Ending::Complete);
    let mut settings = PolicySettings { memory: 10, ..*policy.settings() };
    settings.budget.inferences = 100;
    let poor = policy.with_settings(settings);
    assert_eq!(decider.decide(&poor, &facts, s1, SolutionLimit::All).ending, Ending::Exhausted(Resource::Inferences));
    assert_eq!(poor.settings().memory, 10);
}

#[test]
fn proposals_are_operations_of_the_domain() {
    let engine = Engine::new();
    let policy =
        load(&engine, "operation(replicate, _, self). operation(migrate, _, n41). operation(undeploy, _, self).");
    let facts = facts(&engine, FACTS);
    let mut decider = Decider::new(&engine);
    let decision = decider.decide(&policy.expect("fine"), &facts, facts.constant("s1"), SolutionLimit::All);
    let operations: Vec<Operation> = decision
        .solutions
        .iter()
        .filter_map(|solution| match solution {
            Solution::Proposal(proposal) => proposal.operation(&facts),
            Solution::Invalid(_) => None,
        })
        .collect();
    assert_eq!(operations[0], Operation::Replicate(Target::Own));
    assert_eq!(operations[1].to_string(), "migrate to n41");
    assert_eq!(operations[2].name(), OperationName::Undeploy);
}
