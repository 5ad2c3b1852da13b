//! Describes changes of facts that would make a clause fire.

use mario_domain::FactPredicate;
use mario_prolog::Value;
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::situation::{Row, Situation, ago, pairs};
use crate::knowledge_base::{KnowledgeBase, NodeFact};

/// The maximum number of changed facts that a sentence names.
const PARTS_MAX: usize = 12;

/// A change of facts with which a clause fires, verified by evaluating the policy again.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// The proposal that would be made: operation, instance, target.
    pub proposes: [String; 3],
    /// The facts that change.
    pub facts: Vec<FactChange>,
    /// The comparisons in the proof of the proposal, with their values after the change.
    pub comparisons: Vec<String>,
    /// The change as a sentence.
    pub text: String,
}

/// One fact that changes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FactChange {
    /// The current fact as Prolog; absent if the change adds the fact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The changed fact as Prolog; absent if the change removes the fact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The facts that differ between `base` and `changed`.
pub(super) fn fact_changes(base: &Situation, changed: &Situation, names: &KnowledgeBase) -> Vec<FactChange> {
    let mut changes = Vec::new();
    for kind in FactPredicate::CHANGEABLE {
        for (before, after) in pairs(base.rows(kind), changed.rows(kind)) {
            if before.map(|row| &row.values) != after.map(|row| &row.values) {
                let text = |row: &Row| fact_text(kind, row, names);
                changes.push(FactChange { before: before.map(text), after: after.map(text) });
            }
        }
    }
    changes
}

fn fact_text(kind: FactPredicate, row: &Row, names: &KnowledgeBase) -> String {
    let values: Vec<String> = row.values.iter().map(|&value| quoted(value, names)).collect();
    let own = |node: &NodeFact<'_>| node.node == row.values[0] && !node.neighbours.is_empty();
    let neighbours = match names.nodes().find(own) {
        Some(node) if kind == FactPredicate::NodeWithNeighbours => {
            let items: Vec<String> = node.neighbours.iter().map(|&neighbour| quoted(neighbour, names)).collect();
            format!(", [{}]", items.join(", "))
        }
        _ => String::new(),
    };
    format!("{}({}{neighbours})", kind.name(), values.join(", "))
}

/// A constant as Prolog writes it.
fn quoted(constant: Value<'_>, names: &KnowledgeBase) -> String {
    let text = names.text(constant);
    let Value::Atom(_) = constant else { return text };
    let starts_small = text.starts_with(|first: char| first.is_ascii_lowercase());
    if starts_small && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_') {
        return text;
    }
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// The changes in words, as they follow "would … if" in a sentence.
pub(super) fn condition(base: &Situation, changed: &Situation, names: &KnowledgeBase) -> String {
    let mut parts = removed_requests(base, changed, names);
    for kind in FactPredicate::CHANGEABLE {
        for (before, after) in pairs(base.rows(kind), changed.rows(kind)) {
            let Some(before) = before else { continue };
            match after {
                Some(after) if after.values != before.values => parts.push(changed_part(kind, before, after, names)),
                None if kind == FactPredicate::Inhibited => {
                    let [operation, _, target] = [0, 1, 2].map(|column| names.text(before.values[column]));
                    parts.push(format!("it did not remember that {operation} to {target} was inhibited"));
                }
                None if kind == FactPredicate::Done => {
                    let [operation, target] = [2, 3].map(|column| names.text(before.values[column]));
                    parts
                        .push(format!("it did not remember {operation} to {target}, {}", evaluations_ago(ago(before))));
                }
                Some(_) | None => {}
            }
        }
    }
    for added in changed.rows(FactPredicate::Requests).iter().filter(|row| row.origin.is_none()) {
        let [_, hop, rate, latency] = [0, 1, 2, 3].map(|column| names.text(added.values[column]));
        parts.push(format!("requests came through {hop} at rate {rate} with latency {latency}"));
    }
    parts.extend(other_past(base, changed));
    if parts.len() > PARTS_MAX {
        let more = parts.len() - PARTS_MAX;
        parts.truncate(PARTS_MAX);
        parts.push(format!("{more} more such changes were made"));
    }
    parts.join(" and ")
}

fn evaluations_ago(ago: i64) -> String {
    if ago == 1 { "1 evaluation ago".to_owned() } else { format!("{ago} evaluations ago") }
}

/// Describes the earlier evaluations whose requests are removed, or replaced by the current ones.
fn other_past(base: &Situation, changed: &Situation) -> Vec<String> {
    let is_new = |row: &&Row| row.origin.is_none();
    let as_now: Vec<i64> = distinct(changed.rows(FactPredicate::Earlier).iter().filter(is_new).map(ago));
    let kept = origins(changed, FactPredicate::Earlier);
    let remains = |row: &Row| kept.contains(&row.origin);
    let gone = distinct(base.rows(FactPredicate::Earlier).iter().filter(|row| !remains(row)).map(ago));
    let gone: Vec<i64> = gone.into_iter().filter(|ago| !as_now.contains(ago)).collect();
    let mut parts = Vec::new();
    if !as_now.is_empty() {
        parts.push(format!("requests had been as they are now {}", listed(&as_now)));
    }
    if !gone.is_empty() {
        parts.push(format!("no requests had come {}", listed(&gone)));
    }
    parts
}

/// The origins of the rows of a kind.
fn origins(situation: &Situation, kind: FactPredicate) -> FxHashSet<Option<usize>> {
    situation.rows(kind).iter().map(|row| row.origin).collect()
}

fn distinct(numbers: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut numbers: Vec<i64> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A list such as `1 and 2 evaluations ago`; empty if `ago` is empty.
fn listed(ago: &[i64]) -> String {
    let Some((last, others)) = ago.split_last() else { return String::new() };
    if others.is_empty() {
        return evaluations_ago(*last);
    }
    let others: Vec<String> = others.iter().map(ToString::to_string).collect();
    format!("{} and {}", others.join(", "), evaluations_ago(*last))
}

fn removed_requests(base: &Situation, changed: &Situation, names: &KnowledgeBase) -> Vec<String> {
    let before = base.rows(FactPredicate::Requests);
    let kept = origins(changed, FactPredicate::Requests);
    let remains = |row: &Row| kept.contains(&row.origin);
    let nothing_is_new = changed.rows(FactPredicate::Requests).iter().all(|row| row.origin.is_some());
    if !before.is_empty() && nothing_is_new && !before.iter().any(remains) {
        return vec!["no requests came".to_owned()];
    }
    let mut parts: Vec<String> = Vec::new();
    for row in before.iter().filter(|row| !remains(row)) {
        let same_hop = |other: &&Row| other.values[1] == row.values[1];
        let hop = names.text(row.values[1]);
        let part = if before.iter().filter(same_hop).any(remains) {
            format!("the requests through {hop} with latency {} did not come", names.text(row.values[3]))
        } else {
            format!("no requests came through {hop}")
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

fn changed_part(kind: FactPredicate, before: &Row, after: &Row, names: &KnowledgeBase) -> String {
    let text = |row: &Row, column: usize| names.text(row.values[column]);
    let differs = |column: usize| before.values[column] != after.values[column];
    match kind {
        FactPredicate::NodeWithNeighbours => {
            format!("the free hardware of {} were {} instead of {}", text(before, 0), text(after, 1), text(before, 1))
        }
        FactPredicate::Requests => {
            let hop = text(before, 1);
            let (rates, latencies) = ([text(before, 2), text(after, 2)], [text(before, 3), text(after, 3)]);
            match (differs(1), differs(2), differs(3)) {
                (false, true, false) => format!(
                    "the rate of the requests through {hop} with latency {} were {} instead of {}",
                    latencies[0], rates[1], rates[0]
                ),
                (false, false, _) => format!(
                    "the latency of the requests through {hop} at rate {} were {} instead of {}",
                    rates[0], latencies[1], latencies[0]
                ),
                (moved, rate, latency) => {
                    let mut part = format!("the requests through {hop} with latency {} came", latencies[0]);
                    if moved {
                        part = format!("{part} through {}", text(after, 1));
                    }
                    if rate {
                        part = format!("{part} at rate {} instead of {}", rates[1], rates[0]);
                    }
                    if latency {
                        part = format!("{part} with latency {}", latencies[1]);
                    }
                    part
                }
            }
        }
        FactPredicate::Earlier => {
            let column = if differs(3) { 3 } else { 4 };
            let what = if differs(3) { "rate" } else { "latency" };
            let (hop, then) = (text(before, 2), evaluations_ago(ago(before)));
            let (now, was) = (text(after, column), text(before, column));
            format!("the {what} of the requests through {hop} had been {now} instead of {was} {then}")
        }
        FactPredicate::Age => {
            format!("it had evaluated {} times on its node instead of {}", text(after, 1), text(before, 1))
        }
        FactPredicate::Free => {
            let (kind, node) = (text(before, 1), text(before, 0));
            format!("{} of {kind} were free on {node} instead of {}", text(after, 2), text(before, 2))
        }
        FactPredicate::Fact => {
            format!("{} of {} were {} instead of {}", text(before, 1), text(before, 0), text(after, 2), text(before, 2))
        }
        kind => {
            let changed = (0..before.values.len()).filter(|column| differs(*column));
            let parts = changed.map(|column| {
                let meaning = kind.arguments()[column].meaning;
                format!("{meaning} in {kind} were {} instead of {}", text(after, column), text(before, column))
            });
            parts.collect::<Vec<_>>().join(" and ")
        }
    }
}
