//! Lies about users, nodes, links, times and totals.

#![allow(
    clippy::unnecessary_wraps,
    reason = "a change says whether there is a place for it, even where there always is"
)]

use mario_audit::FindingKind;
use serde_json::{Value, json};

use super::{FRESH, Mutation, pick};
use crate::trace::Trace;
use crate::world::Rules::{Default, Prototype};

pub const MUTATIONS: &[Mutation] = &[
    ("an instance was there from the middle on", Default, deployed_later, FindingKind::Instance),
    ("an instance is lost with no trace when its node goes", Default, lost_with_node, FindingKind::Instance),
    ("an instance goes with a node where it is not", Default, gone_elsewhere, FindingKind::Instance),
    ("more is deployed than fits", Default, deployed_beyond, FindingKind::Capacity),
    ("a handover from the wrong place", Default, handover_from, FindingKind::Handover),
    ("a handover from the wrong place", Prototype, handover_from, FindingKind::Handover),
    ("a handover to a node that is no access point", Default, handover_to, FindingKind::Handover),
    ("a handover to where the user is", Default, handover_nowhere, FindingKind::Handover),
    ("a user stays on an access point that went down", Default, stranded, FindingKind::Handover),
    ("a node that is up comes up", Default, up_again, FindingKind::Context),
    ("a node that is down goes down", Default, down_again, FindingKind::Context),
    ("a link that is up comes up", Default, link_up_again, FindingKind::Context),
    ("a link that is not there goes down", Default, no_link, FindingKind::Context),
    ("an agent evaluates on a node that is down", Default, on_dead_node, FindingKind::Down),
    ("records out of order", Default, out_of_order, FindingKind::Time),
    ("a record after the end", Default, after_the_end, FindingKind::Time),
    ("a time beyond the end of the run", Default, beyond, FindingKind::Time),
    ("evaluations are miscounted", Default, |trace, _| miscount(trace, "evaluations"), FindingKind::Totals),
    ("operations are miscounted", Default, |trace, _| miscount(trace, "operations"), FindingKind::Totals),
    ("inhibitions are miscounted", Prototype, |trace, _| miscount(trace, "inhibited"), FindingKind::Totals),
    ("handovers are miscounted", Default, |trace, _| miscount(trace, "handovers"), FindingKind::Totals),
    ("served requests are miscounted", Default, |trace, _| miscount(trace, "served"), FindingKind::Totals),
    ("lost requests are miscounted", Default, |trace, _| miscount(trace, "lost"), FindingKind::Totals),
    ("instances are miscounted", Default, |trace, _| miscount(trace, "instances"), FindingKind::Totals),
    ("users who are not there count for the best placement", Default, crowd, FindingKind::Regret),
    ("a histogram of other requests", Default, histogram, FindingKind::Totals),
    ("the policy does not compile", Default, broken_policy, FindingKind::Policy),
    ("the manager's policy does not compile", Default, broken_acceptance, FindingKind::Policy),
];

fn of_kind(trace: &Trace, kind: &str, holds: impl Fn(&Value) -> bool) -> Vec<usize> {
    trace.of_kind(kind).into_iter().filter(|index| holds(&trace.records[*index])).collect()
}

fn deployed_later(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("cycle"), choice)?;
    let time = trace.records[index][1].clone();
    trace.records.insert(index + 1, json!(["deployed", time, FRESH, 0, 0, 0]));
    Some(())
}

fn crowd(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("cycle"), choice)?;
    let time = trace.records[index][1].clone();
    let worth = [0, 0, 0, 0, 0];
    trace.records.insert(index + 1, json!(["regret", time, "greedy", 999, worth, worth]));
    Some(())
}

fn deployed_beyond(trace: &mut Trace, _choice: usize) -> Option<()> {
    for id in 0..5 {
        trace.records.insert(2, json!(["deployed", 0, FRESH + id, 0, 1, 0]));
    }
    Some(())
}

fn lost_with_node(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = of_kind(trace, "node-down", |record| record[4].as_array().is_some_and(|gone| !gone.is_empty()));
    let index = pick(places, choice)?;
    trace.records[index][4].as_array_mut()?.pop();
    Some(())
}

fn gone_elsewhere(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("node-down"), choice)?;
    trace.records[index][4].as_array_mut()?.push(FRESH.into());
    Some(())
}

fn handover_from(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(of_kind(trace, "handover", |record| record[3].is_u64()), choice)?;
    trace.records[index][3] = Value::Null;
    trace.records[index][4].is_u64().then_some(())
}

fn handover_to(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(of_kind(trace, "handover", |record| record[4].is_u64()), choice)?;
    trace.records[index][4] = 0.into();
    Some(())
}

fn handover_nowhere(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(of_kind(trace, "handover", |record| record[3].is_u64()), choice)?;
    trace.records[index][4] = trace.records[index][3].clone();
    Some(())
}

/// The handover away from a node that goes down is not there.
fn stranded(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = of_kind(trace, "node-down", |_| true);
    let fled = places.into_iter().filter(|index| trace.kind(index - 1) == "handover");
    let index = pick(fled, choice)?;
    let is_away = trace.records[index - 1][3] == trace.records[index][2];
    trace.records.remove(index - 1);
    trace.add_to_total("handovers", -1);
    is_away.then_some(())
}

fn up_again(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("node-up"), choice)?;
    trace.records.insert(index, trace.records[index].clone());
    Some(())
}

fn down_again(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("node-down"), choice)?;
    let mut again = trace.records[index].clone();
    again[4] = json!([]);
    trace.records.insert(index + 1, again);
    Some(())
}

fn link_up_again(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("link-up"), choice)?;
    trace.records.insert(index, trace.records[index].clone());
    Some(())
}

fn no_link(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("link-down"), choice)?;
    trace.records[index][3] = trace.records[index][2].clone();
    Some(())
}

/// The next evaluation of somebody is on a node that is down.
fn on_dead_node(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("node-down"), choice)?;
    let evaluation = trace.of_kind("evaluation").into_iter().find(|evaluation| *evaluation > index)?;
    trace.records[evaluation][3] = trace.records[index][2].clone();
    Some(())
}

fn out_of_order(trace: &mut Trace, choice: usize) -> Option<()> {
    let cycles = trace.of_kind("cycle");
    let later = cycles.iter().zip(cycles.iter().skip(1)).filter(|(one, other)| *other - *one > 1);
    let index = pick(later.map(|(_, other)| *other), choice)?;
    // Only the time lies: the record after it is of the true time.
    trace.records[index][1] = (trace.records[index][1].as_u64()? - 100).into();
    Some(())
}

fn after_the_end(trace: &mut Trace, _choice: usize) -> Option<()> {
    let last = trace.records.last()?.clone();
    trace.records.push(json!(["responses", last[1], 0, 0, 0, 0, []]));
    Some(())
}

fn beyond(trace: &mut Trace, _choice: usize) -> Option<()> {
    trace.records.last_mut()?[1] = 4001.into();
    Some(())
}

fn miscount(trace: &mut Trace, name: &str) -> Option<()> {
    trace.add_to_total(name, 1);
    Some(())
}

fn histogram(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("responses"), choice)?;
    trace.records[index][6][0][1] = (trace.records[index][6][0][1].as_u64()? + 1).into();
    Some(())
}

fn broken_policy(trace: &mut Trace, _choice: usize) -> Option<()> {
    trace.header["policies"][1]["files"][0][1] = "operation(undeploy, I, self) :- .".into();
    Some(())
}

fn broken_acceptance(trace: &mut Trace, _choice: usize) -> Option<()> {
    trace.header["acceptances"][0]["files"][0][1] = "nothing.".into();
    Some(())
}
