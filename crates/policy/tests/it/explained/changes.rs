//! Tests that suggested changes name only what the policy reads, that no part of them can be left out, and that
//! explanations stay within their budget.

use mario_policy::{Change, Decider, Ending, ExplainedDecision, SolutionLimit};
use mario_prolog::Engine;

use super::{explainer, sentences, shipped_explainer};
use crate::facts;

/// The facts of an instance in the cloud, with extra facts that only some policies read.
const PRICED: &str = "service(ar, 1, 25, 4).\nserviceInstance(s1, ar, cloud).\nnode(cloud, inf, [nw, ne, sw, se]).\n\
    fact(cloud, trust, 1).\nfact(cloud, price, 1).\nfact(nw, trust, 3).\nfact(nw, price, 2).\nfact(ne, trust, 3).\n\
    fact(ne, price, 2).\nfact(sw, trust, 3).\nfact(sw, price, 2).\nfact(se, trust, 3).\nfact(se, price, 2).\n";

#[test]
fn facts_that_the_policy_does_not_read_change_no_explanation() {
    let engine = Engine::new();
    let (with, without) = (
        facts(&engine, PRICED),
        facts(&engine, &PRICED.lines().filter(|line| !line.starts_with("fact(")).collect::<Vec<_>>().join("\n")),
    );
    for name in
        ["workload-aware", "latency-aware", "workload-and-latency-aware", "workload-and-latency-aware-with-memory"]
    {
        let mut explainer = shipped_explainer(&engine, name);
        let [with, without] = [&with, &without].map(|facts| explainer.explain(facts, facts.constant("s1")));
        assert_eq!(with, without, "{name}");
    }
    let replicate = sentences(
        &shipped_explainer(&engine, "workload-and-latency-aware").explain(&with, with.constant("s1")),
        "replicate",
    );
    for target in ["nw", "ne", "sw"] {
        let expected = format!("if requests came through {target} at rate 26 with latency 0: 26 > 25");
        assert!(replicate.iter().any(|text| text.ends_with(&expected)), "{replicate:?}");
    }
}

#[test]
fn a_change_names_only_the_keys_that_the_clause_reads() {
    let engine = Engine::new();
    let text = "operation(migrate, I, N) :- serviceInstance(I, _, H), node(H, _, Ns), fact(H, price, P),
                    ( member(N, Ns), fact(N, price, Q), Q < P ).
                operation(undeploy, I, self) :- serviceInstance(I, _, H), fact(H, trust, T), T > 5.";
    let knowledge = facts(&engine, PRICED);
    let explained = explainer(&engine, text).explain(&knowledge, knowledge.constant("s1"));
    let (migrate, undeploy) = (sentences(&explained, "migrate"), sentences(&explained, "undeploy"));
    assert!(!migrate.is_empty() && migrate.iter().all(|text| !text.contains("trust")), "{migrate:?}");
    assert_eq!(undeploy, ["would undeploy if trust of cloud were 6 instead of 1: 6 > 5"]);
}

/// Whether the policy still makes the proposal of a change without one of its facts.
fn works_without(engine: &Engine, text: &str, known: &str, change: &Change, place: usize) -> bool {
    let mut lines: Vec<String> = known.lines().map(str::to_owned).collect();
    for fact in change.facts.iter().enumerate().filter(|(index, _)| *index != place).map(|(_, fact)| fact) {
        if let Some(before) = &fact.before {
            let position = lines.iter().position(|line| *line == format!("{before}.")).expect(before);
            lines.remove(position);
        }
        lines.extend(fact.after.iter().map(|after| format!("{after}.")));
    }
    let knowledge = facts(engine, &lines.join("\n"));
    let policy = explainer(engine, text);
    let mut decider = Decider::new(engine);
    let decision = decider.decide(policy.policy(), &knowledge, knowledge.constant("s1"), SolutionLimit::All);
    decision.solutions.iter().any(|solution| solution.texts(engine.symbols()) == change.proposes)
}

#[test]
fn no_part_of_a_change_can_be_left_out() {
    let engine = Engine::new();
    let known = "service(video, 4, 10, 25).\nserviceInstance(s1, video, n42).\nnode(n42, 3, [n41, n43]).\n\
        requests(s1, n41, 4, 30).\nrequests(s1, n43, 3, 5).\nrequests(s1, self, 2, 0).\n\
        inhibited(replicate, s1, n41).\ninhibited(migrate, s1, n43).\nfact(n41, price, 4).\nfact(n42, price, 3).\nfact(n43, price, 9).\n";
    let knowledge = facts(&engine, known);
    let mut combined = 0;
    for text in [
        "operation(migrate, I, N) :- requests(I, N, R, _), R > 6, \\+ inhibited(migrate, I, N), fact(N, price, P), P < 2.",
        "operation(replicate, I, N) :- aggregate_all(sum(R), requests(I, _, R, _), S), S > 20, fact(n42, price, P), P > 8, N = n41.",
        "operation(undeploy, I, self) :- \\+ requests(I, self, _, _), \\+ ( requests(I, _, _, L), L > 10 ), node(n42, F), F > 9.",
    ] {
        let explained = explainer(&engine, text).explain(&knowledge, knowledge.constant("s1"));
        let changes: Vec<&Change> =
            explained.missed.iter().flat_map(|missed| &missed.clauses).flat_map(|miss| &miss.changes).collect();
        assert!(!changes.is_empty(), "{text}");
        for change in changes {
            combined += usize::from(change.facts.len() > 1);
            for place in 0..change.facts.len() {
                assert!(!works_without(&engine, text, known, change, place), "{text}: {change:?}");
            }
        }
    }
    assert!(combined > 2, "{combined}");
}

/// Facts of an instance with `count` last hops.
fn busy(count: usize) -> String {
    let hops: Vec<String> = (0..count).map(|hop| format!("m{hop}")).collect();
    let mut text = format!(
        "service(video, 4, 10, 25).\nserviceInstance(s1, video, n42).\nnode(n42, 10, [{}]).\n",
        hops.join(", ")
    );
    for (number, hop) in hops.iter().enumerate() {
        text.push_str(&format!("requests(s1, {hop}, {}, {}).\n", 1 + number % 9, 1 + number * 7 % 24));
    }
    text
}

#[test]
fn the_explanation_of_a_busy_instance_stays_within_its_budget() {
    const BUDGET: u64 = 3_000_000;
    let engine = Engine::new();
    for name in ["workload-and-latency-aware", "popularity"] {
        let mut explainer = shipped_explainer(&engine, name);
        for count in [100, 1_000, 3_000] {
            let knowledge = facts(&engine, &busy(count));
            let (explained, used) = explainer.explain_within(&knowledge, knowledge.constant("s1"), BUDGET);
            // The decision itself, and the last evaluation before the budget is checked, come on top.
            assert!(used < 3 * BUDGET, "{name}, {count} requests: {used}");
            assert_eq!(explained.ending, Ending::Complete);
            let again = explainer.explain_within(&knowledge, knowledge.constant("s1"), BUDGET);
            assert_eq!((explained, used), again, "{name}, {count} requests");
        }
    }
}

#[test]
fn what_the_budget_cuts_short_is_marked() {
    let engine = Engine::new();
    let knowledge = facts(&engine, &busy(300));
    let mut explainer = shipped_explainer(&engine, "workload-and-latency-aware-with-memory");
    let remarks = |explained: &ExplainedDecision| {
        let lines = explained.parts().into_iter().flatten();
        lines.filter(|line| line.text.starts_with("cut short: the budget of the explanation ran out")).count()
    };
    let (whole, used) = explainer.explain_within(&knowledge, knowledge.constant("s1"), 1_000_000_000);
    assert_eq!(remarks(&whole), 0, "{used}");
    for inferences in [0, 1, 1_000, used / 10] {
        let (cut, _) = explainer.explain_within(&knowledge, knowledge.constant("s1"), inferences);
        let marked = cut.missed.iter().flat_map(|missed| &missed.clauses).filter(|miss| miss.is_cut).count();
        assert_eq!((remarks(&cut), marked > 0), (marked, true), "{inferences}");
        assert_eq!(cut.proposals.len(), whole.proposals.len());
    }
    let json = serde_json::to_value(&whole).expect("it is plain data").to_string();
    assert!(!json.contains("is_cut"));
}
