//! Every lie is detected, and classified correctly.
//!
//! A mutation adds one lie to a correct trace. It is tried on traces of many worlds until it has been applied in
//! [`WORLDS`] of them. Each time the first finding must be of the kind in the table; further findings may follow.

mod evaluations;
mod events;
mod outcomes;

use mario_audit::FindingKind;
use serde_json::Value;

use crate::trace::Trace;
use crate::world::{Rules, generate};

/// Adds one lie to a trace. Returns `None` if the trace has no place for it. `choice` selects one of several places.
type Change = fn(&mut Trace, choice: usize) -> Option<()>;

/// A description, the rules of the world, the change, and the expected kind of the first finding.
pub type Mutation = (&'static str, Rules, Change, FindingKind);

/// The number of worlds in which each mutation is applied and checked.
const WORLDS: usize = 8;

fn check(mutations: &[Mutation]) {
    let mut faults = Vec::new();
    for rules in [Rules::Default, Rules::Prototype] {
        let mutations: Vec<&Mutation> = mutations.iter().filter(|mutation| mutation.1 == rules).collect();
        let mut done = vec![0; mutations.len()];
        for seed in 0..400 {
            if done.iter().all(|count| *count >= WORLDS) {
                break;
            }
            let truth = generate(seed, rules);
            for ((name, _, change, kind), done) in mutations.iter().zip(&mut done) {
                let mut trace = truth.clone();
                if *done >= WORLDS || change(&mut trace, seed as usize).is_none() {
                    continue;
                }
                *done += 1;
                let report = trace.audit();
                let first = report.findings.first().map(|finding| finding.kind);
                if first != Some(*kind) {
                    faults.push(format!("{name}, seed {seed}: expected {kind}, got\n{report}"));
                }
            }
        }
        for ((name, ..), done) in mutations.iter().zip(done) {
            if done < WORLDS {
                faults.push(format!("{name}: found a place in {done} worlds only"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults, the first:\n{}", faults.len(), faults[0]);
}

#[test]
fn detects_lies_about_evaluations() {
    check(evaluations::MUTATIONS);
}

#[test]
fn detects_lies_about_outcomes() {
    check(outcomes::MUTATIONS);
}

#[test]
fn detects_lies_about_all_other_events() {
    check(events::MUTATIONS);
}

#[test]
fn every_kind_of_finding_has_a_lie() {
    let mutations = [evaluations::MUTATIONS, outcomes::MUTATIONS, events::MUTATIONS].concat();
    // These have their own tests: anchors, owners, sleep, calls and live nodes in other modules, and files beside a trace in the
    // crate that reads them.
    let beside = [
        FindingKind::Anchor,
        FindingKind::Owner,
        FindingKind::Sleep,
        FindingKind::Calls,
        FindingKind::Summary,
        FindingKind::Table,
        FindingKind::Ownership,
        FindingKind::Epoch,
        FindingKind::Transfer,
        FindingKind::Journal,
    ];
    for kind in FindingKind::ALL.iter().filter(|kind| !beside.contains(kind)) {
        assert!(mutations.iter().any(|mutation| mutation.3 == *kind), "{kind}");
    }
    assert!(mutations.len() >= 45, "{}", mutations.len());
}

/// Selects one of several items; `None` if there are none.
fn pick<T>(items: impl IntoIterator<Item = T>, choice: usize) -> Option<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    if items.is_empty() {
        return None;
    }
    let index = choice % items.len();
    Some(items.swap_remove(index))
}

/// The rule that inhibited the request of an outcome; `None` if it was not inhibited.
fn rule(outcome: &Value) -> Option<&str> {
    outcome.get(4)?.get("rule")?.as_str()
}

/// An id that no generated trace has.
const FRESH: u64 = 999_999;
