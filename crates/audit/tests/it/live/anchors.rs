//! Lies about anchors are detected. In the trace, an anchor migrates, replicates, and is undeployed by an operator.

use mario_audit::FindingKind;
use serde_json::{Value, json};

use super::{Lie, audit, find};

/// The trace of the parent module, with the deployed instance as an anchor.
fn lines() -> Vec<Value> {
    let mut lines = super::lines();
    lines[0]["mario_trace"] = json!(8);
    for nth in 0..2 {
        let at = find(&lines, "own", nth);
        lines[at][4]["own"]["is_anchor"] = json!(true);
    }
    let at = find(&lines, "undeployed", 0);
    let undeploying = json!({ "undeploying": lines[at][4]["undeployed"] });
    lines.insert(at, json!(["live", lines[at][1], lines[at][2], null, undeploying]));
    lines
}

fn set(lines: &mut [Value], own: usize, is_anchor: bool) {
    let at = find(lines, "own", own);
    lines[at][4]["own"]["is_anchor"] = json!(is_anchor);
}

/// Replaces the record `forgotten` of the anchor's second node by one that makes the anchor an ordinary instance.
fn release(lines: &mut [Value]) {
    let instance = lines[find(lines, "own", 0)][4]["own"]["instance"].clone();
    let at = find(lines, "undeployed", 0);
    let at = (0..at).rev().find(|at| lines[*at][4].get("taken").is_some()).expect("the replica was taken");
    lines[at][4] = json!({ "anchored": { "instance": instance, "is_anchor": false } });
}

#[test]
fn a_correct_anchor_has_no_findings() {
    let report = audit(&lines());
    assert!(report.is_clean(), "{report}");
}

const LIES: &[Lie] = &[
    (
        "an anchor undeploys itself",
        |lines| {
            lines.remove(find(lines, "undeploying", 0));
        },
        FindingKind::Anchor,
    ),
    (
        "an operator undeploys another instance",
        |lines| {
            let other = lines[find(lines, "own", 2)][4]["own"]["instance"].clone();
            let at = find(lines, "undeploying", 0);
            lines[at][4]["undeploying"]["instance"] = other;
        },
        FindingKind::Anchor,
    ),
    ("a migrate loses the anchor", |lines| set(lines, 1, false), FindingKind::Anchor),
    ("a migrate makes an anchor", |lines| set(lines, 0, false), FindingKind::Anchor),
    ("a replica is an anchor", |lines| set(lines, 2, true), FindingKind::Anchor),
    (
        "an instance that is not there becomes an anchor",
        |lines| {
            let at = find(lines, "forgotten", 0);
            lines[at][4] = json!({ "anchored": { "instance": "nowhere", "is_anchor": true } });
        },
        FindingKind::Journal,
    ),
    (
        "the rule inhibits what is no anchor",
        |lines| {
            release(lines);
            let at = lines.iter().position(|line| line[2][0][3] == "inhibited").expect("an inhibited replicate");
            lines[at][2][0][4] = json!({ "node": "b", "rule": "anchor" });
        },
        FindingKind::Reason,
    ),
];

#[test]
fn every_lie_about_anchors_is_found() {
    let truth = lines();
    for (name, lie, expected) in LIES {
        let mut lies = truth.clone();
        lie(&mut lies);
        let report = audit(&lies);
        assert!(report.count(*expected) > 0, "{name}: expected {expected}\n{report}");
    }
}

#[test]
fn an_instance_that_an_operator_released_may_undeploy_itself() {
    let mut lines = lines();
    release(&mut lines);
    lines.remove(find(&lines, "undeploying", 0));
    let report = audit(&lines);
    assert_eq!(report.count(FindingKind::Anchor), 0, "{report}");
}

#[test]
fn an_anchor_can_be_evicted() {
    let mut lines: Vec<Value> =
        include_str!("evicted.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines[0]["mario_trace"] = json!(8);
    set(&mut lines, 0, true);
    let report = audit(&lines);
    assert!(report.is_clean(), "{report}");
}
