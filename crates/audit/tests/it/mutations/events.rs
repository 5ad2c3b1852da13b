//! Lies about users, nodes, links, times, totals, comparisons with the best placement, and the header.

#![allow(clippy::unnecessary_wraps, reason = "all changes have the same type, even those that can always be applied")]

use mario_audit::FindingKind;
use serde_json::{Value, json};

use super::{FRESH, Mutation, pick};
use crate::trace::Trace;
use crate::world::Rules::{Default, Prototype};

pub const MUTATIONS: &[Mutation] = &[
    (
        "an instance appears in the middle of the run without an operation",
        Default,
        deployed_later,
        FindingKind::Instance,
    ),
    ("an instance on a node that goes down is not listed", Default, lost_with_node, FindingKind::Instance),
    ("an instance is lost with a node that it is not on", Default, gone_elsewhere, FindingKind::Instance),
    ("more is deployed than fits", Default, deployed_beyond, FindingKind::Capacity),
    ("a handover from the wrong place", Default, handover_from, FindingKind::Handover),
    ("a handover from the wrong place", Prototype, handover_from, FindingKind::Handover),
    ("a handover to a node that is not an access point", Default, handover_to, FindingKind::Handover),
    ("a handover to the user's current access point", Default, handover_nowhere, FindingKind::Handover),
    ("a user stays on an access point that went down", Default, stranded, FindingKind::Handover),
    ("a node that is up comes up", Default, up_again, FindingKind::Context),
    ("a node that is down goes down", Default, down_again, FindingKind::Context),
    ("a link that is up comes up", Default, link_up_again, FindingKind::Context),
    ("a link that does not exist goes down", Default, no_link, FindingKind::Context),
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
    ("users who are not connected count for the best placement", Default, crowd, FindingKind::Regret),
    ("the run ends before the header says", Default, ends_before, FindingKind::Time),
    ("an instance of the initial deployment has a later time", Default, deployed_at, FindingKind::Time),
    ("a step at which no user moves", Default, other_step, FindingKind::Step),
    ("a user moves between two steps", Default, between_steps, FindingKind::Step),
    ("response times are recorded between two steps", Prototype, responses_between_steps, FindingKind::Step),
    ("two nodes with the same id", Default, same_id, FindingKind::Header),
    ("a link in one direction only", Default, one_way, FindingKind::Header),
    ("an unknown observation strategy", Prototype, unknown_observation, FindingKind::Header),
    ("a node leaves without notice", Default, no_notice, FindingKind::Context),
    ("a node gives notice twice", Default, notice_twice, FindingKind::Context),
    ("a user of another application", Default, other_application, FindingKind::Totals),
    ("response times of another application", Default, other_responses, FindingKind::Totals),
    ("another sum of response times", Prototype, other_sum, FindingKind::Totals),
    ("a response that takes longer than any run", Default, other_bin, FindingKind::Totals),
    ("two summaries of one user", Default, client_twice, FindingKind::Totals),
    ("a longer response time of a user", Default, client_sum, FindingKind::Totals),
    ("a user without a summary", Prototype, |trace, _| drop_one(trace, "client", 1), FindingKind::Totals),
    (
        "an application without a record of its usage",
        Default,
        |trace, _| drop_one(trace, "usage", 1),
        FindingKind::Totals,
    ),
    ("a comparison is missing", Default, no_comparison, FindingKind::Regret),
    ("a histogram of another number of requests", Default, histogram, FindingKind::Totals),
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

/// Removes the handover of a user away from a node that went down.
fn stranded(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = of_kind(trace, "node-down", |_| true);
    let fled = places.into_iter().filter(|index| trace.kind(index + 1) == "handover");
    let index = pick(fled, choice)?;
    let is_away = trace.records[index + 1][3] == trace.records[index][2];
    trace.records.remove(index + 1);
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

/// Moves the first evaluation after a node went down to that node.
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
    // Only this cycle has a wrong time.
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

fn ends_before(trace: &mut Trace, _choice: usize) -> Option<()> {
    // All final records get the same earlier time, so that they are in order.
    trace.records.iter_mut().filter(|record| record[1] == 4000).for_each(|record| record[1] = 3999.into());
    Some(())
}

fn deployed_at(trace: &mut Trace, _choice: usize) -> Option<()> {
    let last = pick(trace.of_kind("deployed"), 1)?;
    trace.records.iter_mut().skip(last).filter(|record| record[1] == 0).for_each(|record| record[1] = 1.into());
    Some(())
}

fn other_step(trace: &mut Trace, _choice: usize) -> Option<()> {
    trace.header["step"] = 399.into();
    Some(())
}

/// Moves a handover at a step to 7 time units before the step. Not applicable if it would be out of order.
fn between_steps(trace: &mut Trace, choice: usize) -> Option<()> {
    let at_steps =
        of_kind(trace, "handover", |record| record[1].as_u64().is_some_and(|time| time > 0 && time % 400 == 0));
    let index = pick(at_steps, choice)?;
    let is_first = trace.records[index - 1][1].as_u64()? < trace.records[index][1].as_u64()? - 7;
    trace.records[index][1] = (trace.records[index][1].as_u64()? - 7).into();
    is_first.then_some(())
}

fn responses_between_steps(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("responses"), choice)?;
    trace.records[index][1] = (trace.records[index][1].as_u64()? + 7).into();
    // Later records of the same time would be out of order.
    (trace.records[index + 1][1].as_u64()? > trace.records[index][1].as_u64()?).then_some(())
}

fn same_id(trace: &mut Trace, _choice: usize) -> Option<()> {
    trace.header["nodes"][3]["id"] = trace.header["nodes"][2]["id"].clone();
    Some(())
}

fn one_way(trace: &mut Trace, choice: usize) -> Option<()> {
    let count = trace.header["nodes"].as_array()?.len();
    let node = &mut trace.header["nodes"][1 + choice % (count - 1)];
    node["neighbours"].as_array_mut()?.pop()?;
    Some(())
}

fn unknown_observation(trace: &mut Trace, _choice: usize) -> Option<()> {
    trace.header["observation"] = "hearsay".into();
    Some(())
}

fn no_notice(trace: &mut Trace, choice: usize) -> Option<()> {
    // A notice given while a node is down is not recorded, so the auditor demands one only if the node was never down.
    let is_first = |index: &usize| {
        !trace.records[..*index].iter().any(|before| {
            before[2] == trace.records[*index][2] && before[0].as_str().is_some_and(|kind| kind.starts_with("node-"))
        })
    };
    let crashes = of_kind(trace, "node-down", |record| record[3] == "crash");
    let index = pick(crashes.into_iter().filter(is_first), choice)?;
    trace.records[index][3] = "leave".into();
    Some(())
}

fn notice_twice(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("node-leaving"), choice)?;
    trace.records.insert(index, trace.records[index].clone());
    Some(())
}

fn other_application(trace: &mut Trace, _choice: usize) -> Option<()> {
    trace.header["users"][0]["application"] = 1.into();
    is_served(trace)
}

/// `Some` if any client request was served or lost; else `None`.
fn is_served(trace: &Trace) -> Option<()> {
    let totals = &trace.records.last()?[2];
    (totals["served"] != 0 || totals["lost"] != 0).then_some(())
}

fn other_responses(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(of_kind(trace, "responses", |record| record[3] != 0 || record[4] != 0), choice)?;
    trace.records[index][2] = 1.into();
    Some(())
}

/// Increases a sum within the bounds of its bins, so that only the records `client` contradict it.
fn other_sum(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(of_kind(trace, "responses", |record| record[3].as_u64() > Some(2)), choice)?;
    trace.records[index][5] = (trace.records[index][5].as_f64()? * 1.02).into();
    Some(())
}

fn other_bin(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(of_kind(trace, "responses", |record| record[3].as_u64() > Some(2)), choice)?;
    trace.records[index][6][1][0] = 400.into();
    Some(())
}

fn client_twice(trace: &mut Trace, _choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("client"), 2)?;
    trace.records[index][2] = 1.into();
    Some(())
}

fn client_sum(trace: &mut Trace, _choice: usize) -> Option<()> {
    let index = pick(trace.of_kind("client"), 0)?;
    trace.records[index][5] = (trace.records[index][5].as_f64()? * 1.01).into();
    (trace.records[index][5].as_f64()? > 0.0).then_some(())
}

fn drop_one(trace: &mut Trace, kind: &str, place: usize) -> Option<()> {
    let index = pick(trace.of_kind(kind), place)?;
    trace.records.remove(index);
    Some(())
}

/// Adds a comparison with the best placement every 100 time units, except for one.
fn no_comparison(trace: &mut Trace, choice: usize) -> Option<()> {
    trace.header["mario_trace"] = 2.into();
    let missing = 2 + choice % 30;
    let worth = [0, 0, 0, 0, 0];
    for number in (1..40).filter(|number| *number != missing) {
        let place = trace.records.iter().rposition(|record| record[1].as_u64() <= Some(number as u64 * 100))?;
        trace.records.insert(place + 1, json!(["regret", number * 100, "greedy", 0, worth, worth]));
    }
    Some(())
}
