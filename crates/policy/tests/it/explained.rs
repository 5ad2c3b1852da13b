//! Tests that explanations prove the solutions of decisions, and that the changes they suggest have the stated effect.

mod changes;

use std::fs;

use mario_policy::{
    Change, Decider, Ending, ExplainedDecision, Explainer, KnowledgeBase, PolicySettings, ProofStep, ProofStepKind,
    RecordedSituation, SolutionLimit,
};
use mario_prolog::{Directories, Engine};
use mario_reference::RecordedRun;
use mario_testing::Random;

use crate::generated::Generated;
use crate::recorded::SERVICES;
use crate::{PAPER, facts, policies, shipped};

fn explainer(engine: &Engine, text: &str) -> Explainer {
    Explainer::load(engine, "policy.pl", text, None, PolicySettings::default()).expect("it is a policy")
}

fn shipped_explainer(engine: &Engine, name: &str) -> Explainer {
    let path = policies().join(format!("{name}.pl"));
    let text = fs::read_to_string(&path).expect("it is shipped");
    let resolver = Box::new(Directories::new([policies()]));
    let path = path.to_str().expect("a path of the workspace");
    Explainer::load(engine, path, &text, Some(resolver), PolicySettings::default()).expect("it is a policy")
}

/// Returns the proposals. Asserts that each has a proof.
#[track_caller]
fn proven(explained: &ExplainedDecision) -> Vec<[String; 3]> {
    let texts = |proof: &mario_policy::Proof| {
        assert!(proof.steps.is_some(), "no proof: {proof:?}");
        [proof.operation.clone(), proof.instance.clone(), proof.target.clone()]
    };
    explained.proposals.iter().map(texts).collect()
}

#[test]
fn proves_recorded_decisions() {
    let engine = Engine::new();
    let mut decider = Decider::new(&engine);
    let mut evaluations = 0;
    for (index, name) in PAPER.iter().enumerate() {
        let (policy, mut explainer) = (shipped(&engine, name), shipped_explainer(&engine, name));
        let mut facts = facts(&engine, SERVICES);
        for evaluation in RecordedRun::of_policy(index + 1).evaluations.iter().step_by(6) {
            let line = evaluation.json();
            let recorded = RecordedSituation::parse(engine.symbols(), &line).expect("a knowledge base");
            recorded.fill(&mut facts);
            let decision = decider.decide(&policy, &facts, recorded.instance, SolutionLimit::All).clone();
            let proofs = explainer.prove(&facts, recorded.instance);
            let texts = decision.solutions.iter().map(|solution| solution.texts(engine.symbols()));
            assert_eq!(proven(&proofs), texts.collect::<Vec<_>>(), "{name}: {line}");
            evaluations += 1;
        }
    }
    assert!(evaluations > 5000);
}

#[test]
fn proves_generated_decisions_and_finds_true_changes_for_the_rest() {
    let engine = Engine::new();
    let mut decider = Decider::new(&engine);
    let mut knowledge = KnowledgeBase::new(engine.symbols());
    let (mut misses, mut without_change) = (0, 0);
    for name in PAPER {
        let (policy, mut explainer) = (shipped(&engine, name), shipped_explainer(&engine, name));
        for seed in 0..2000 {
            let instance = Generated::new(&mut Random::new(seed)).fill(engine.symbols(), &mut knowledge);
            let decision = decider.decide(&policy, &knowledge, instance, SolutionLimit::All).clone();
            assert_eq!(decision.ending, Ending::Complete);
            // `explain` also searches for changes, which takes longer than proofs.
            let explained = if seed % 40 == 0 {
                explainer.explain(&knowledge, instance)
            } else {
                explainer.prove(&knowledge, instance)
            };
            let texts = decision.solutions.iter().map(|solution| solution.texts(engine.symbols()));
            assert_eq!(proven(&explained), texts.collect::<Vec<_>>(), "{name}, seed {seed}");
            for miss in explained.missed.iter().flat_map(|missed| &missed.clauses) {
                misses += 1;
                without_change += usize::from(miss.changes.is_empty());
                assert!(!miss.steps.is_empty(), "{name}, seed {seed}: {miss:?}");
            }
        }
    }
    println!("{without_change} of {misses} clauses have no change");
    assert!(misses > 300);
    assert!(without_change * 50 <= misses, "{without_change} of {misses}");
}

/// Applies a suggested change to the text of the facts, decides with them, and asserts that the promised proposal is
/// among the solutions.
#[track_caller]
fn verify(engine: &Engine, name: &str, text: &str, change: &Change) {
    let mut lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    for fact in &change.facts {
        match &fact.before {
            Some(before) => {
                let position = lines.iter().position(|line| *line == format!("{before}.")).expect(before);
                lines.remove(position);
                let after = fact.after.iter().map(|after| format!("{after}."));
                lines.splice(position..position, after);
            }
            None => lines.push(format!("{}.", fact.after.as_ref().expect("it is new"))),
        }
    }
    let facts = facts(engine, &lines.join("\n"));
    let policy = shipped(engine, name);
    let mut decider = Decider::new(engine);
    let decision = decider.decide(&policy, &facts, facts.constant("s1"), SolutionLimit::All);
    let proposed: Vec<_> = decision.solutions.iter().map(|solution| solution.texts(engine.symbols())).collect();
    assert!(proposed.contains(&change.proposes), "{name}: {change:?}\n{proposed:?}");
}

const SITUATIONS: &[&str] = &[
    "",
    "requests(s1, n41, 7, 15).",
    "requests(s1, self, 11, 0).\nnode(n42, 3, [n41]).",
    "requests(s1, n41, 11, 30).\ninhibited(migrate, s1, n43).\ninhibited(replicate, s1, n41).",
    "requests(s1, n41, 50, 5).\nrequests(s1, n43, 10, 5).\ninhibited(replicate, s1, n41).",
    "requests(s1, self, 5, 0).\nrequests(s1, n41, 1, 15).\nrequests(s1, n41, 1, 16).",
    "requests(s1, n41, 2.5, 24.5).\nrequests(s1, n43, 2.5, 1).",
    "requests(s1, 'N 1', 1, 1).",
];

#[test]
fn every_missed_clause_of_the_shipped_policies_gets_a_change_that_works() {
    let engine = Engine::new();
    for name in PAPER {
        let mut explainer = shipped_explainer(&engine, name);
        for situation in SITUATIONS {
            let node = if situation.contains("node(") { "" } else { "node(n42, 10, [n41, n43])." };
            let text = format!("service(video, 4, 10, 25).\nserviceInstance(s1, video, n42).\n{node}\n{situation}");
            let facts = facts(&engine, &text);
            let explained = explainer.explain(&facts, facts.constant("s1"));
            for miss in explained.missed.iter().flat_map(|missed| &missed.clauses) {
                assert!(!miss.changes.is_empty(), "{name}: {situation}\n{miss:#?}");
                for change in &miss.changes {
                    verify(&engine, name, &text, change);
                }
            }
        }
    }
}

fn sentences(explained: &ExplainedDecision, operation: &str) -> Vec<String> {
    let missed = explained.missed.iter().find(|missed| missed.operation == operation).expect("it is not proposed");
    missed.clauses.iter().flat_map(|miss| miss.changes.iter().map(|change| change.text.clone())).collect()
}

fn explain(engine: &Engine, name: &str, situation: &str) -> ExplainedDecision {
    let facts = facts(engine, &format!("service(video, 4, 10, 25). serviceInstance(s1, video, n42). {situation}"));
    shipped_explainer(engine, name).explain(&facts, facts.constant("s1"))
}

#[test]
fn suggests_the_smallest_change_that_works() {
    let engine = Engine::new();
    let load = explain(&engine, "workload-aware", "node(n42, 10). requests(s1, n41, 7, 15).");
    let expected =
        "would replicate to n41 if the rate of the requests through n41 with latency 15 were 11 instead of 7: 11 > 10";
    assert_eq!(sentences(&load, "replicate"), [expected]);
    assert_eq!(sentences(&load, "undeploy"), ["would undeploy if no requests came"]);

    let late = explain(&engine, "latency-aware", "node(n42, 10). requests(s1, n41, 7, 15).");
    let expected =
        "would migrate to n41 if the latency of the requests through n41 at rate 7 were 26 instead of 15: 26 > 25";
    assert_eq!(sentences(&late, "migrate"), [expected]);

    let full = explain(&engine, "workload-aware", "node(n42, 3). requests(s1, self, 11, 0).");
    let expected = "would replicate to self if the free hardware of n42 were 4 instead of 3: 11 > 10, 4 >= 4";
    assert_eq!(sentences(&full, "replicate"), [expected]);

    let memory = "node(n42, 10). requests(s1, n41, 11, 5). inhibited(migrate, s1, n43).";
    let memory = explain(&engine, "workload-and-latency-aware-with-memory", memory);
    let expected = "would migrate to n41 if it did not remember that migrate to n43 was inhibited: 11 > 10";
    assert_eq!(sentences(&memory, "migrate"), [expected]);

    let home = explain(&engine, "workload-aware", "node(n42, 10, [n7]). requests(s1, self, 11, 0).");
    let expected = "would migrate to n7 if the requests through self with latency 0 came through n7: 11 > 10";
    assert_eq!(sentences(&home, "migrate"), [expected]);

    let idle = explain(&engine, "workload-aware", "node(n42, 10, [n7]).");
    let expected = "would migrate to n7 if requests came through n7 at rate 11 with latency 0: 11 > 10";
    assert_eq!(sentences(&idle, "migrate"), [expected]);
}

/// Verifies the suggested changes for all operations. Returns those for `operation`, as sentences.
#[track_caller]
fn verified(engine: &Engine, name: &str, text: &str, operation: &str) -> Vec<String> {
    let facts = facts(engine, text);
    let explained = shipped_explainer(engine, name).explain(&facts, facts.constant("s1"));
    for change in explained.missed.iter().flat_map(|missed| &missed.clauses).flat_map(|miss| &miss.changes) {
        verify(engine, name, text, change);
    }
    sentences(&explained, operation)
}

#[test]
fn suggests_changes_of_the_history() {
    let engine = Engine::new();
    let common = "service(video, 4, 10, 25).\nserviceInstance(s1, video, n42).\nnode(n42, 10, [n41, n43]).";
    let moved =
        format!("{common}\nrequests(s1, n41, 13, 5).\ndone(3, s1, migrate, n42).\ndone(4, s1, replicate, n43).");
    let found = verified(&engine, "popularity-with-cool-down", &moved, "migrate");
    let expected = "would migrate to n41 if it did not remember migrate to n42, 3 evaluations ago: 13 >= 4";
    assert!(found.iter().any(|text| text == expected), "{found:?}");

    let sudden = format!("{common}\nrequests(s1, n41, 13, 5).\nearlier(1, s1, n41, 2, 5).\nage(s1, 9).");
    let found = verified(&engine, "sustained-demand", &sudden, "migrate");
    let expected = "would migrate to n41 if requests had been as they are now 1 and 2 evaluations ago";
    assert!(found.iter().any(|text| text.starts_with(expected)), "{found:?}");

    let paused = format!(
        "{common}\nrequests(s1, n41, 13, 5).\nearlier(1, s1, n41, 12, 5).\nearlier(2, s1, n41, 13, 5).\nage(s1, 9)."
    );
    let found = verified(&engine, "sustained-demand", &paused, "migrate");
    let expected =
        "would migrate to n41 if the rate of the requests through n41 had been 13 instead of 12 1 evaluation ago";
    assert!(found.iter().any(|text| text.starts_with(expected)), "{found:?}");

    let lately = format!("{common}\nearlier(2, s1, n41, 13, 5).\nage(s1, 9).");
    let found = verified(&engine, "sustained-demand", &lately, "undeploy");
    assert_eq!(found, ["would undeploy if no requests had come 2 evaluations ago: 9 >= 2"]);

    let young = format!("{common}\nage(s1, 1).");
    let found = verified(&engine, "sustained-demand", &young, "undeploy");
    assert_eq!(found, ["would undeploy if it had evaluated 2 times on its node instead of 1: 2 >= 2"]);
}

#[test]
fn suggests_changes_of_hardware_by_kind() {
    let engine = Engine::new();
    let text = "service(video, 4, 10, 25).\nserviceInstance(s1, video, n42).\nnode(n42, 10, []).\nneeds(video, units, 4).\n\
                needs(video, memory_mb, 2048).\nfree(n42, units, 10).\nfree(n42, memory_mb, 1024).\nrequests(s1, self, 11, 0).";
    let found = verified(&engine, "several-resources", text, "replicate");
    let expected = "would replicate to self if 2048 of memory_mb were free on n42 instead of 1024";
    assert!(found.iter().any(|text| text.starts_with(expected)), "{found:?}");
}

/// All steps, each followed by its substeps.
fn flat(steps: &[ProofStep]) -> Vec<&ProofStep> {
    steps.iter().flat_map(|step| std::iter::once(step).chain(flat(&step.steps))).collect()
}

#[test]
fn a_proof_names_its_clauses_facts_and_numbers() {
    let engine = Engine::new();
    let explained = explain(&engine, "workload-aware", "node(n42, 10). requests(s1, n41, 15, 5).");
    let migrate = &explained.proposals[0];
    assert_eq!((migrate.clause.number, migrate.clause.line), (2, Some(11)));
    assert!(
        migrate.clause.text.as_ref().is_some_and(|text| text.starts_with("operation(migrate, Instance, Neighbour)"))
    );
    let steps = flat(migrate.steps.as_ref().expect("a proof"));
    let texts: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
    for expected in
        ["overloaded(s1)", "requests(s1, n41, 15, 5)", "service(video, 4, 10, 25)", "15 > 10", "n41 \\== self"]
    {
        assert!(texts.contains(&expected), "{texts:#?}");
    }
    let comparison = steps.iter().find_map(|step| step.comparison.clone()).expect("numbers were compared");
    assert_eq!((comparison.operator.as_str(), comparison.left, comparison.right), (">", 15.0, 10.0));
    let collected = steps.iter().find(|step| step.kind == ProofStepKind::Collected).expect("rates were added up");
    assert_eq!(collected.items, ["15"]);
    let overloaded = steps.iter().find(|step| step.text == "overloaded(s1)").expect("just seen");
    assert!(overloaded.file.as_ref().is_some_and(|file| file.ends_with("library.pl")) && overloaded.line.is_some());
}

#[test]
fn interprets_policies_like_the_machine() {
    let engine = Engine::new();
    let mut decider = Decider::new(&engine);
    for body in [
        "member(T, [n1, n2, n3])",
        "member(T, [n1, n2, n3]), !",
        "( member(T, [n1, n2]) ; T = n3 )",
        "( member(T, [n1, n2]), ! ; T = n3 )",
        "( member(T, [n1, n2]) -> true ; T = n3 )",
        "( member(T, [n1, n2]) *-> true ; T = n3 )",
        "( fail *-> true ; T = n3 )",
        "( fail -> true ; member(T, [n3, n4]) )",
        "once(member(T, [n1, n2]))",
        "\\+ fail, T = n1",
        "\\+ ( member(X, [1, 2]), X > 2 ), T = n1",
        "forall(member(X, [1, 2]), X > 0), T = n1",
        "call(member(T), [n1, n2])",
        "call((member(T, [n1, n2]), !))",
        "G = member(T, [n1, n2]), G",
        "catch(throw(n1), T, true)",
        "catch(( member(T, [n1, n2]), T == n2, throw(x) ), x, T = n3)",
        "findall(X, member(X, [n1, n2]), L), member(T, L)",
        "aggregate_all(count, member(_, [a, b]), 2), T = n1",
        "aggregate_all(max(R, N), requests(I, N, R, _), max(_, T))",
        "bagof(N, R^L^requests(I, N, R, L), [T|_])",
        "setof(N, R^L^requests(I, N, R, L), Ns), member(T, Ns)",
        "between(1, 3, X), X mod 2 =:= 1, atom_concat(n, X, T)",
        "first(T)",
        "cuts(T)",
        "member_of(T)",
        "deep(40, T)",
        "assertz(seen(n1)), seen(T)",
        "ignore(fail), T = n1",
        "not(fail), T = n1",
        "user:first(T)",
        "forall(fail, true), nth0(1, [n1, n2], T)",
        "maplist([X, Y]>>(Y = X), [n1, n2], [T|_])",
        "foldl(plus, [1, 2], 0, S), S =:= 3, T = n1",
        "sort(0, @>=, [n1, n2], [T|_])",
        "b_setval(v, n1), b_getval(v, T)",
        "string_concat(\"n\", \"1\", S), atom_string(T, S)",
        "X = f(_, Y), Y = n1, X = f(_, T)",
    ] {
        let text = format!(
            ":- dynamic seen/1.
             operation(replicate, I, T) :- serviceInstance(I, _, _), {body}.
             operation(migrate, _, n9).
             first(T) :- member(T, [n1, n2]).
             first(n3).
             cuts(T) :- member(T, [n1, n2]), !.
             cuts(n3).
             member(X, [X|_]).
             member(X, [_|L]) :- member(X, L).
             member_of(T) :- requests(_, T, _, _).
             deep(0, n1) :- !.
             deep(N, T) :- M is N - 1, deep(M, T)."
        );
        let mut explainer = explainer(&engine, &text);
        let facts = facts(&engine, "serviceInstance(s1, a, n1). requests(s1, n1, 4, 0). requests(s1, n2, 5, 0).");
        let instance = facts.constant("s1");
        let decision = decider.decide(explainer.policy(), &facts, instance, SolutionLimit::All).clone();
        assert_eq!(decision.ending, Ending::Complete, "{body}");
        let explained = explainer.explain(&facts, instance);
        let texts = decision.solutions.iter().map(|solution| solution.texts(engine.symbols()));
        assert_eq!(proven(&explained), texts.collect::<Vec<_>>(), "{body}");
        assert!(!explained.proposals.is_empty(), "{body}");
    }
}

#[test]
fn explains_the_failure_of_every_built_in_goal() {
    let engine = Engine::new();
    for (body, kind, expected) in [
        ("requests(I, T, R, _), R * 2 > 100", ProofStepKind::Compare, "5*2 > 100, that is 10 > 100"),
        ("requests(I, T, _, _), T == n7", ProofStepKind::Test, "n1 == n7"),
        ("requests(I, n7, _, _), T = n7", ProofStepKind::Fact, "requests(s1, n7, _, _)"),
        ("T = n1, \\+ requests(I, T, _, _)", ProofStepKind::Present, "\\+ requests(s1, n1, _, _)"),
        ("T = n1, forall(requests(I, _, R, _), R < 5)", ProofStepKind::Every, "forall(requests(s1, _, A, _), A<5)"),
        ("T = n1, ( fail -> true ; 1 > 2 )", ProofStepKind::Compare, "1 > 2"),
        ("T = n1, ( true -> 2 > 3 ; true )", ProofStepKind::Compare, "2 > 3"),
        ("T = n1, ( 1 > 2 ; 2 > 3 )", ProofStepKind::Compare, "2 > 3"),
        ("T = n1, once(1 =:= 2)", ProofStepKind::Compare, "1 =:= 2"),
        ("T = n1, call(>, 1, 2)", ProofStepKind::Compare, "1 > 2"),
        ("T = n1, deep(30)", ProofStepKind::Clause, "deep(30)"),
        ("T = n1, commits(1)", ProofStepKind::Compare, "1 > 5"),
        ("T = n1, aggregate_all(max(R), requests(other, _, R, _), _)", ProofStepKind::Fact, "requests(other, _, _, _)"),
    ] {
        let text = format!(
            "operation(replicate, I, T) :- {body}.
             deep(N) :- N > 0, M is N - 1, deep(M).
             commits(X) :- integer(X), !, X > 5.
             commits(_) :- 3 > 4."
        );
        let facts = facts(&engine, "serviceInstance(s1, a, n1). requests(s1, n1, 4, 0). requests(s1, n2, 5, 0).");
        let explained = explainer(&engine, &text).explain(&facts, facts.constant("s1"));
        let replicate = explained.missed.iter().find(|missed| missed.operation == "replicate").expect("it fails");
        let steps = flat(&replicate.clauses[0].steps);
        let is_there = steps.iter().any(|step| step.kind == kind && step.text == expected);
        assert!(is_there, "{body}: {steps:#?}");
        assert!(steps.iter().all(|step| step.text != "3 > 4"), "no clause is tried behind a cut: {steps:#?}");
        let undeploy = explained.missed.iter().find(|missed| missed.operation == "undeploy").expect("it is not there");
        assert!(undeploy.clauses.is_empty());
    }
}

#[test]
fn a_clause_behind_a_cut_was_not_tried() {
    let engine = Engine::new();
    let text = "operation(undeploy, I, self) :- requests(I, _, R, _), R < 5, !.\noperation(migrate, _, n2).";
    let facts = facts(&engine, "serviceInstance(s1, a, n1). requests(s1, n1, 4, 0).");
    let explained = explainer(&engine, text).explain(&facts, facts.constant("s1"));
    assert_eq!(proven(&explained).len(), 1);
    let migrate = explained.missed.iter().find(|missed| missed.operation == "migrate").expect("it is cut off");
    assert_eq!(migrate.clauses[0].steps[0].kind, ProofStepKind::Skipped);
}

#[test]
fn a_policy_that_fails_has_no_missed_operations() {
    let engine = Engine::new();
    let facts = facts(&engine, "serviceInstance(s1, a, n1).");
    let text = "operation(undeploy, _, self).\noperation(migrate, _, T) :- gone(T).";
    let explained = explainer(&engine, text).explain(&facts, facts.constant("s1"));
    assert_eq!(proven(&explained).len(), 1);
    assert!(explained.missed.is_empty());
    assert!(explained.error.is_some_and(|error| error.contains("gone/1")));
}

#[test]
fn a_solution_that_is_not_an_operation_has_a_proof() {
    let engine = Engine::new();
    let facts = facts(&engine, "serviceInstance(s1, a, n1).");
    let explained = explainer(&engine, "operation(move, _, _).").explain(&facts, facts.constant("s1"));
    let [proposed] = &proven(&explained)[..] else { panic!("{explained:?}") };
    assert_eq!(proposed[..2], ["move", "s1"]);
    assert!(explained.proposals[0].fault.is_some());
}

#[test]
fn an_operation_with_an_invalid_target_is_not_missed() {
    let engine = Engine::new();
    let knowledge = facts(&engine, "serviceInstance(s1, video, n42).\nrequests(s1, n41, 5, 15).\n");
    let mut explainer =
        explainer(&engine, "operation(migrate, _, _).\noperation(undeploy, I, self) :- gone(I).\ngone(_) :- fail.\n");
    let explained = explainer.explain(&knowledge, knowledge.constant("s1"));
    assert_eq!(explained.proposals[0].fault, Some("the target is an unbound variable"));
    let missed: Vec<&str> = explained.missed.iter().map(|missed| missed.operation).collect();
    assert_eq!(missed, ["undeploy", "replicate"]);
}

#[test]
fn changes_only_extra_facts_about_nearby_subjects() {
    let engine = Engine::new();
    let mut text = "service(video, 4, 10, 25).\nnode(n42, 10, [n41]).\nserviceInstance(s1, video, n42).\n\
                    requests(s1, n41, 5, 15).\nfact(far, price, 1).\nfact(n41, price, 4).\nfact(n42, price, 3).\n"
        .to_owned();
    for node in 100..400 {
        text.push_str(&format!("fact(n{node}, price, 3).\n"));
    }
    let knowledge = facts(&engine, &text);
    let mut explainer = shipped_explainer(&engine, "cost-aware");
    let explained = explainer.explain(&knowledge, knowledge.constant("s1"));
    let migrate = explained.missed.iter().find(|missed| missed.operation == "migrate").expect("it is dearer there");
    let change = &migrate.clauses[0].changes[0];
    assert!(change.text.contains("price of n4") && change.facts.len() == 1, "{change:?}");
    verify(&engine, "cost-aware", &text, change);
}

#[test]
fn lowers_all_excessive_latencies_at_once() {
    let engine = Engine::new();
    let text = "service(video, 1, 40, 1).\nnode(n42, 3, [n41, n43]).\nserviceInstance(s1, video, n42).\n\
                requests(s1, n41, 5, 3).\nrequests(s1, n41, 6, 4).\nrequests(s1, n41, 7, 5).\n\
                inhibited(replicate, s1, n41).\n";
    let knowledge = facts(&engine, text);
    let name = "workload-and-latency-aware-with-memory";
    let explained = shipped_explainer(&engine, name).explain(&knowledge, knowledge.constant("s1"));
    let replicate = explained.missed.iter().find(|missed| missed.operation == "replicate").expect("it is inhibited");
    for miss in &replicate.clauses {
        assert!(!miss.changes.is_empty(), "{miss:?}");
        miss.changes.iter().for_each(|change| verify(&engine, name, text, change));
    }
}

#[test]
fn a_lowered_quantity_stops_at_zero() {
    let engine = Engine::new();
    let text = "service(video, 1, 5, 25).\nnode(n42, 3).\nserviceInstance(s1, video, n42).\nrequests(s1, n41, 5, 3).\n\
                fact(video, home, n1).\n";
    let knowledge = facts(&engine, text);
    let explained = shipped_explainer(&engine, "load-thresholds").explain(&knowledge, knowledge.constant("s1"));
    let undeploy = explained.missed.iter().find(|missed| missed.operation == "undeploy").expect("it is busy");
    for miss in &undeploy.clauses {
        assert!(!miss.changes.is_empty(), "{miss:?}");
        miss.changes.iter().for_each(|change| verify(&engine, "load-thresholds", text, change));
    }
}
