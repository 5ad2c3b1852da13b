//! Lies about verdicts and enacted operations.

use mario_audit::FindingKind;
use serde_json::{Value, json};

use super::{FRESH, Mutation, pick, rule};
use crate::trace::Trace;
use crate::world::Rules::{Default, Prototype};

pub const MUTATIONS: &[Mutation] = &[
    ("accepted without room", Default, over_capacity, FindingKind::Capacity),
    ("accepted without room", Prototype, over_capacity, FindingKind::Capacity),
    ("reserved hardware is reserved again", Default, promised_twice, FindingKind::Capacity),
    ("freed hardware is used in the same cycle", Default, freed_too_early, FindingKind::Capacity),
    ("an operator's deploy without room", Default, deploy_without_room, FindingKind::Capacity),
    ("a replica has the id of another instance", Default, id_of_another, FindingKind::IdReused),
    ("a replica has the id of an instance that disappeared", Default, id_of_the_gone, FindingKind::IdReused),
    ("a migration has a new id", Default, migrates_to_new_id, FindingKind::Instance),
    ("a migration keeps the id", Prototype, migrates_with_its_id, FindingKind::Instance),
    ("an instance that never appeared undeploys", Default, phantom_undeploys, FindingKind::Instance),
    ("a target that is not a neighbour is accepted", Default, accepts_far_target, FindingKind::Target),
    ("an unknown target is accepted", Default, accepts_unknown_target, FindingKind::Target),
    ("a target that is down is accepted", Default, accepts_dead_target, FindingKind::Down),
    ("a target that leaves is accepted", Default, accepts_leaving_target, FindingKind::Down),
    ("an agent has two outcomes", Default, twice, FindingKind::Twice),
    ("an agent has two outcomes", Prototype, twice, FindingKind::Twice),
    ("an outcome without a proposal", Default, without_proposal, FindingKind::Proposal),
    ("another solution than the first", Default, other_solution, FindingKind::Proposal),
    ("an agent that proposed nothing acts", Default, nop_acts, FindingKind::Proposal),
    ("an agent with a proposal does nothing", Default, act_nops, FindingKind::Proposal),
    ("a proposal is not judged", Default, not_judged, FindingKind::Proposal),
    ("inhibited although it fits", Default, inhibited_in_vain, FindingKind::Verdict),
    ("inhibited although the target is a neighbour", Default, inhibited_neighbour, FindingKind::Verdict),
    (
        "inhibited by the neighbourhood, which this arbitration does not check",
        Prototype,
        inhibited_neighbour,
        FindingKind::Verdict,
    ),
    ("an undeploy is inhibited by hardware", Default, inhibited_undeploy, FindingKind::Verdict),
    ("the acceptance policy of a manager is ignored", Default, overruled, FindingKind::Verdict),
    ("the free hardware in a reason is wrong", Default, reason_free, FindingKind::Reason),
    ("the need in a reason is wrong", Default, reason_needed, FindingKind::Reason),
    ("the node in a reason is wrong", Default, reason_node, FindingKind::Reason),
    ("hardware is the reason, but the target is not a neighbour", Default, reason_rule, FindingKind::Reason),
    ("the neighbourhood is the reason, but hardware is short", Default, reason_far, FindingKind::Reason),
    ("the acceptance policy states another reason", Default, reason_words, FindingKind::Reason),
    ("a node without an acceptance policy rejects by policy", Default, reason_without_policy, FindingKind::Reason),
];

type Found = (usize, usize, Value);

fn outcomes(trace: &Trace, holds: impl Fn(&Value) -> bool) -> Vec<Found> {
    trace.outcomes().into_iter().filter(|(_, _, outcome)| holds(outcome)).collect()
}

fn is_inhibited(outcome: &Value, by: &str) -> bool {
    rule(outcome) == Some(by) && !outcome[0].is_null()
}

fn is_accepted(outcome: &Value, operation: &str) -> bool {
    outcome[1] == operation && outcome[3] == "accepted" && !outcome[0].is_null()
}

/// The outcome with the same request accepted: with a fresh id, except for a migration under the default rules, which
/// keeps the id.
fn accepted(outcome: &Value, is_default: bool) -> Value {
    let keeps_id = outcome[1] == "migrate" && is_default;
    if keeps_id {
        json!([outcome[0], outcome[1], outcome[2], "accepted"])
    } else {
        json!([outcome[0], outcome[1], outcome[2], "accepted", FRESH])
    }
}

/// Turns one of these outcomes into an accepted one.
fn accept(trace: &mut Trace, places: Vec<Found>, choice: usize) -> Option<()> {
    let (cycle, index, outcome) = pick(places, choice)?;
    let is_default = trace.header["arbitration"] == "managers";
    trace.set_outcome((cycle, index), accepted(&outcome, is_default));
    Some(())
}

fn over_capacity(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = outcomes(trace, |outcome| is_inhibited(outcome, "capacity"));
    accept(trace, places, choice)
}

/// The node of the agent that has this outcome, according to its last evaluation, and the target of its proposal.
fn ends(trace: &Trace, cycle: usize, outcome: &Value) -> Option<(Value, Value)> {
    let own = trace.records[trace.last_evaluation(cycle, &outcome[0])?][3].clone();
    let target = if outcome[2] == "self" { own.clone() } else { outcome[2].clone() };
    Some((own, target))
}

fn promised_twice(trace: &mut Trace, choice: usize) -> Option<()> {
    let mut places = outcomes(trace, |outcome| is_inhibited(outcome, "capacity"));
    places.retain(|(cycle, index, outcome)| {
        let to = |outcome: &Value| ends(trace, *cycle, outcome).map(|(_, target)| target);
        let before = trace.records[*cycle][2].as_array().expect("a list")[..*index].iter();
        let wanted = to(outcome);
        before
            .filter(|other| is_accepted(other, "replicate") || is_accepted(other, "migrate"))
            .any(|other| to(other) == wanted)
    });
    accept(trace, places, choice)
}

fn freed_too_early(trace: &mut Trace, choice: usize) -> Option<()> {
    let mut places = outcomes(trace, |outcome| is_inhibited(outcome, "capacity"));
    places.retain(|(cycle, index, outcome)| {
        let Some((_, wanted)) = ends(trace, *cycle, outcome) else { return false };
        let before = trace.records[*cycle][2].as_array().expect("a list")[..*index].iter();
        let mut leaving = before.filter(|other| other[1] == "undeploy" || is_accepted(other, "migrate"));
        leaving.any(|other| ends(trace, *cycle, other).is_some_and(|(own, _)| own == wanted))
    });
    accept(trace, places, choice)
}

fn deploy_without_room(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = outcomes(trace, |outcome| outcome[0].is_null() && rule(outcome) == Some("capacity"));
    let (cycle, index, outcome) = pick(places, choice)?;
    let accepted = json!([null, "deploy", outcome[2], "accepted", FRESH, outcome[5], outcome[5]]);
    trace.set_outcome((cycle, index), accepted);
    Some(())
}

fn id_of_another(trace: &mut Trace, choice: usize) -> Option<()> {
    let (cycle, index, mut outcome) = pick(outcomes(trace, |outcome| is_accepted(outcome, "replicate")), choice)?;
    outcome[4] = outcome[0].clone();
    trace.set_outcome((cycle, index), outcome);
    Some(())
}

fn id_of_the_gone(trace: &mut Trace, choice: usize) -> Option<()> {
    let gone = outcomes(trace, |outcome| outcome[1] == "undeploy");
    let mut places = outcomes(trace, |outcome| is_accepted(outcome, "replicate"));
    places.retain(|(cycle, ..)| gone.iter().any(|(before, ..)| before < cycle));
    let (cycle, index, mut outcome) = pick(places, choice)?;
    outcome[4] = gone[0].2[0].clone();
    trace.set_outcome((cycle, index), outcome);
    Some(())
}

fn migrates_to_new_id(trace: &mut Trace, choice: usize) -> Option<()> {
    let (cycle, index, mut outcome) = pick(outcomes(trace, |outcome| is_accepted(outcome, "migrate")), choice)?;
    outcome.as_array_mut()?.push(FRESH.into());
    trace.set_outcome((cycle, index), outcome);
    Some(())
}

fn migrates_with_its_id(trace: &mut Trace, choice: usize) -> Option<()> {
    let (cycle, index, mut outcome) = pick(outcomes(trace, |outcome| is_accepted(outcome, "migrate")), choice)?;
    outcome.as_array_mut()?.pop();
    trace.set_outcome((cycle, index), outcome);
    Some(())
}

fn phantom_undeploys(trace: &mut Trace, choice: usize) -> Option<()> {
    let (cycle, index, mut outcome) = pick(outcomes(trace, |outcome| outcome[1] == "undeploy"), choice)?;
    outcome[0] = FRESH.into();
    trace.set_outcome((cycle, index), outcome);
    Some(())
}

/// The state of a node before a record: `down`, `leaving` or `up`.
fn standing(trace: &Trace, before: usize, node: &Value) -> &'static str {
    let events = trace.records[..before].iter().rev();
    let mut events = events.filter(|record| record[0].as_str().is_some_and(|kind| kind.starts_with("node-")));
    match events.find(|record| record[2] == *node) {
        Some(record) if record[0] == "node-down" => "down",
        Some(record) if record[0] == "node-leaving" => "leaving",
        _ => "up",
    }
}

fn accepts_far_target(trace: &mut Trace, choice: usize) -> Option<()> {
    let mut places = outcomes(trace, |outcome| is_inhibited(outcome, "neighbourhood") && outcome[2].is_u64());
    places.retain(|(cycle, _, outcome)| standing(trace, *cycle, &outcome[2]) == "up");
    accept(trace, places, choice)
}

fn accepts_unknown_target(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = outcomes(trace, |outcome| is_inhibited(outcome, "neighbourhood") && outcome[2].is_object());
    accept(trace, places, choice)
}

fn accepts_dead_target(trace: &mut Trace, choice: usize) -> Option<()> {
    let mut places = outcomes(trace, |outcome| is_inhibited(outcome, "neighbourhood") && outcome[2].is_u64());
    places.retain(|(cycle, _, outcome)| standing(trace, *cycle, &outcome[2]) == "down");
    accept(trace, places, choice)
}

fn accepts_leaving_target(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = outcomes(trace, |outcome| is_inhibited(outcome, "leaving"));
    accept(trace, places, choice)
}

fn twice(trace: &mut Trace, choice: usize) -> Option<()> {
    // With sequential arbitration, an instance that disappeared cannot be judged again.
    let stays = |outcome: &Value| outcome[1] == "nop" || outcome[3] == "inhibited";
    let (cycle, _, outcome) = pick(outcomes(trace, |outcome| !outcome[0].is_null() && stays(outcome)), choice)?;
    trace.records[cycle][2].as_array_mut()?.push(outcome);
    Some(())
}

fn without_proposal(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = outcomes(trace, |outcome| outcome[1] == "nop").into_iter().filter_map(|(cycle, _, outcome)| {
        let next = trace.of_kind("cycle").into_iter().find(|next| *next > cycle)?;
        let again = trace.next_evaluation(cycle, &outcome[0])?;
        (next < again).then_some((next, outcome))
    });
    let (next, outcome) = pick(places, choice)?;
    let asks = json!([outcome[0], "undeploy", "accepted"]);
    trace.records[next][2].as_array_mut()?.push(asks);
    Some(())
}

fn other_solution(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = outcomes(trace, |outcome| is_accepted(outcome, "replicate")).into_iter().filter_map(|found| {
        let evaluation = &trace.records[trace.last_evaluation(found.0, &found.2[0])?];
        let solutions = evaluation.get(7)?.as_array()?;
        let other = solutions.iter().find(|other| other[0] == "replicate" && other[1] != found.2[2])?;
        Some((found.0, found.1, found.2.clone(), other[1].clone()))
    });
    let (cycle, index, mut outcome, target) = pick(places, choice)?;
    outcome[2] = target;
    trace.set_outcome((cycle, index), outcome);
    Some(())
}

fn nop_acts(trace: &mut Trace, choice: usize) -> Option<()> {
    let (cycle, index, outcome) = pick(outcomes(trace, |outcome| outcome[1] == "nop"), choice)?;
    trace.set_outcome((cycle, index), json!([outcome[0], "undeploy", "accepted"]));
    Some(())
}

fn act_nops(trace: &mut Trace, choice: usize) -> Option<()> {
    let (cycle, index, outcome) = pick(outcomes(trace, |outcome| is_accepted(outcome, "replicate")), choice)?;
    trace.set_outcome((cycle, index), json!([outcome[0], "nop"]));
    Some(())
}

fn not_judged(trace: &mut Trace, choice: usize) -> Option<()> {
    let inhibited = outcomes(trace, |outcome| !outcome[0].is_null() && outcome[3] == "inhibited");
    let (cycle, index, _) = pick(inhibited, choice)?;
    trace.records[cycle][2].as_array_mut()?.remove(index);
    Some(())
}

/// Turns an accepted replication with an explicit node as its target into one inhibited for this reason.
fn inhibit(trace: &mut Trace, choice: usize, reason: fn(own: &Value, target: &Value) -> Value) -> Option<()> {
    let places = outcomes(trace, |outcome| is_accepted(outcome, "replicate") && outcome[2].is_u64());
    let (cycle, index, outcome) = pick(places, choice)?;
    let (own, target) = ends(trace, cycle, &outcome)?;
    let id = |node: &Value| Some(trace.header["nodes"][node.as_u64()? as usize]["id"].clone());
    let reason = reason(&id(&own)?, &id(&target)?);
    trace.set_outcome((cycle, index), json!([outcome[0], outcome[1], outcome[2], "inhibited", reason]));
    Some(())
}

fn inhibited_in_vain(trace: &mut Trace, choice: usize) -> Option<()> {
    inhibit(trace, choice, |_, target| json!({"node": target, "rule": "capacity", "needed": 1, "free": 0}))
}

fn inhibited_neighbour(trace: &mut Trace, choice: usize) -> Option<()> {
    inhibit(trace, choice, |own, target| json!({"node": own, "rule": "neighbourhood", "target": target}))
}

fn inhibited_undeploy(trace: &mut Trace, choice: usize) -> Option<()> {
    let (cycle, index, outcome) = pick(outcomes(trace, |outcome| outcome[1] == "undeploy"), choice)?;
    let reason = json!({"node": "n0", "rule": "capacity", "needed": 1, "free": 0});
    trace.set_outcome((cycle, index), json!([outcome[0], "undeploy", "self", "inhibited", reason]));
    Some(())
}

fn overruled(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = outcomes(trace, |outcome| is_inhibited(outcome, "acceptance"));
    accept(trace, places, choice)
}

/// Changes the reason of a request that was inhibited by this rule.
fn change_reason(trace: &mut Trace, choice: usize, by: &str, change: impl Fn(&mut Value)) -> Option<()> {
    let (cycle, index, mut outcome) = pick(outcomes(trace, |outcome| is_inhibited(outcome, by)), choice)?;
    change(&mut outcome[4]);
    trace.set_outcome((cycle, index), outcome);
    Some(())
}

fn reason_free(trace: &mut Trace, choice: usize) -> Option<()> {
    change_reason(trace, choice, "capacity", |reason| reason["free"] = 77.into())
}

fn reason_needed(trace: &mut Trace, choice: usize) -> Option<()> {
    change_reason(trace, choice, "capacity", |reason| reason["needed"] = 77.into())
}

fn reason_node(trace: &mut Trace, choice: usize) -> Option<()> {
    change_reason(trace, choice, "capacity", |reason| reason["node"] = "n0".into())
}

fn reason_rule(trace: &mut Trace, choice: usize) -> Option<()> {
    change_reason(trace, choice, "neighbourhood", |reason| {
        *reason = json!({"node": reason["target"], "rule": "capacity", "needed": 1, "free": 0});
    })
}

fn reason_far(trace: &mut Trace, choice: usize) -> Option<()> {
    change_reason(trace, choice, "capacity", |reason| {
        *reason = json!({"node": reason["node"], "rule": "neighbourhood", "target": reason["node"]});
    })
}

fn reason_words(trace: &mut Trace, choice: usize) -> Option<()> {
    change_reason(trace, choice, "acceptance", |reason| reason["reason"] = "for no reason".into())
}

fn reason_without_policy(trace: &mut Trace, choice: usize) -> Option<()> {
    change_reason(trace, choice, "capacity", |reason| {
        *reason = json!({"node": "n0", "rule": "acceptance", "reason": "no copies of b"});
    })
}
