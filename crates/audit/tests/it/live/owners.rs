//! Lies about the owners of live nodes are detected. The trace is that of two daemons: the owner of one evicts an
//! instance.

use mario_audit::FindingKind;
use serde_json::{Value, json};

use super::{audit, find, word};

const EVICTED: &str = include_str!("evicted.jsonl");

fn lines() -> Vec<Value> {
    EVICTED.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_correct_eviction_has_no_findings() {
    let report = audit(&lines());
    assert!(report.is_clean(), "{report}");
}

const LIES: &[super::Lie] = &[
    (
        "its eviction was never announced",
        |lines| {
            lines.remove(word(lines, "owner", 0));
        },
        FindingKind::Owner,
    ),
    (
        "its eviction was announced twice",
        |lines| {
            let at = word(lines, "owner", 0);
            lines.insert(at, lines[at].clone());
        },
        FindingKind::Owner,
    ),
    (
        "its agent had an evaluation left",
        |lines| {
            let at = word(lines, "owner", 0);
            lines[at][3][0][2] = json!(3);
        },
        FindingKind::Owner,
    ),
    (
        "the notice leaves no evaluation",
        |lines| {
            let at = word(lines, "owner", 0);
            lines[at][3][0][2] = json!(0);
        },
        FindingKind::Owner,
    ),
    (
        "another reason than the announced one",
        |lines| {
            let at = word(lines, "owner", 1);
            lines[at][3][0][2] = json!("for fun");
        },
        FindingKind::Owner,
    ),
    (
        "the owner of another node announces its eviction",
        |lines| {
            let at = word(lines, "owner", 0);
            lines[at][2] = json!(1);
        },
        FindingKind::Owner,
    ),
    (
        "a record of an owner without an action",
        |lines| {
            let at = word(lines, "owner", 0);
            lines[at][3] = json!([]);
        },
        FindingKind::Owner,
    ),
    (
        "it is evicted and keeps running",
        |lines| {
            let at = word(lines, "owner", 1);
            let eviction = lines.remove(at);
            lines.insert(find(lines, "undeployed", 0), eviction);
        },
        FindingKind::Place,
    ),
    (
        "it shrinks to a flavour that its application does not have",
        |lines| {
            let at = word(lines, "owner", 0);
            let instance = lines[at][3][0][1].clone();
            lines.insert(at, json!(["owner", lines[at][1], 0, [["shrunk", instance, {"flavour": "tiny"}, "crowded"]]]));
        },
        FindingKind::Owner,
    ),
];

#[test]
fn detects_each_lie_about_owners() {
    let truth = lines();
    for (name, lie, expected) in LIES {
        let mut lies = truth.clone();
        lie(&mut lies);
        assert_ne!(lies, truth, "{name} changes something");
        let report = audit(&lies);
        assert!(report.count(*expected) > 0, "{name}: expected {expected}\n{report}");
    }
}
