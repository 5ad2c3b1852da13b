//! Lies about what agents see, remember and decide.

use mario_audit::FindingKind;
use serde_json::{Value, json};

use super::{FRESH, Mutation, pick, rule};
use crate::trace::Trace;
use crate::world::Rules::{Default, Prototype};

pub const MUTATIONS: &[Mutation] = &[
    ("an instance that never appeared evaluates", Default, phantom, FindingKind::Instance),
    ("an instance evaluates after it disappeared", Default, ghost, FindingKind::Instance),
    ("an instance is on both nodes after it migrated", Default, on_both_nodes, FindingKind::Place),
    ("an inhibited migration happened", Default, moved_in_spite, FindingKind::Place),
    ("an inhibited replica exists", Default, replica_in_spite, FindingKind::Instance),
    ("more hardware is free than the node has", Default, more_free, FindingKind::Free),
    ("a bounded node is unbounded", Prototype, unbounded, FindingKind::Free),
    ("the memory has an inhibition that did not happen", Default, remembers_more, FindingKind::Memory),
    ("the memory has an expired inhibition", Default, remembers_long, FindingKind::Memory),
    ("the memory is lost", Default, forgets, FindingKind::Memory),
    ("the memory is lost", Prototype, forgets, FindingKind::Memory),
    ("the memory has another target", Default, remembers_another, FindingKind::Memory),
    ("self is remembered as self", Prototype, remembers_self, FindingKind::Memory),
    ("the record says `same`, although an inhibition has expired", Default, same_memory, FindingKind::Memory),
    ("a rate is wrong", Default, other_rate, FindingKind::Decision),
    ("a rate is wrong", Prototype, other_rate, FindingKind::Decision),
    ("the first solution is wrong", Default, other_first, FindingKind::Decision),
    ("a later solution is missing", Default, missing_later, FindingKind::Decision),
    ("a repeated solution", Default, repeated, FindingKind::Decision),
    ("the clause is wrong", Default, other_clause, FindingKind::Decision),
    ("the decisions of two agents are swapped", Default, swapped, FindingKind::Decision),
    ("the policy succeeded although it failed", Default, answered, FindingKind::Decision),
    ("an operation is called invalid", Default, invalid, FindingKind::Decision),
    ("the first evaluation says `same`", Default, same_as_nothing, FindingKind::Decision),
    ("requests out of order", Default, out_of_order, FindingKind::Requests),
    ("two facts for one neighbour and latency", Default, same_latency, FindingKind::Requests),
    ("requests through a node that is not a neighbour", Default, stranger, FindingKind::Requests),
    ("an agent stops evaluating", Default, silent, FindingKind::Schedule),
    ("an agent evaluates late", Default, late, FindingKind::Schedule),
];

fn is_whole(record: &Value) -> bool {
    record[0] == "evaluation" && record[5].is_array()
}

/// The indices of the evaluations that satisfy `holds` and are not recorded as `same`.
fn evaluations(trace: &Trace, holds: impl Fn(&Value) -> bool) -> Vec<usize> {
    (0..trace.records.len()).filter(|index| is_whole(&trace.records[*index]) && holds(&trace.records[*index])).collect()
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

fn phantom(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |_| true), choice)?;
    let mut record = trace.records[index].clone();
    record[2] = FRESH.into();
    trace.records.insert(index, record);
    Some(())
}

fn ghost(trace: &mut Trace, choice: usize) -> Option<()> {
    let gone = trace.outcomes().into_iter().filter(|(_, _, outcome)| outcome[1] == "undeploy");
    let (cycle, _, outcome) = pick(gone, choice)?;
    let mut record = trace.records[trace.last_evaluation(cycle, &outcome[0])?].clone();
    record[1] = trace.records[cycle][1].clone();
    trace.records.insert(cycle + 1, record);
    Some(())
}

fn on_both_nodes(trace: &mut Trace, choice: usize) -> Option<()> {
    let moved =
        trace.outcomes().into_iter().filter(|(_, _, outcome)| outcome[1] == "migrate" && outcome[3] == "accepted");
    let places = moved.filter_map(|(cycle, _, outcome)| {
        Some((trace.last_evaluation(cycle, &outcome[0])?, trace.next_evaluation(cycle, &outcome[0])?))
    });
    let (before, after) = pick(places, choice)?;
    trace.records[after][3] = trace.records[before][3].clone();
    Some(())
}

fn moved_in_spite(trace: &mut Trace, choice: usize) -> Option<()> {
    let outcomes = trace.outcomes().into_iter();
    let stayed = outcomes.filter(|(_, _, outcome)| outcome[1] == "migrate" && rule(outcome) == Some("capacity"));
    let places = stayed.filter_map(|(cycle, _, outcome)| {
        let after = trace.next_evaluation(cycle, &outcome[0])?;
        // If the instance has reached the proposed target by its next evaluation anyway, that record does not change.
        let is_elsewhere = trace.records[after][3] != outcome[2];
        let is_up =
            !trace.records[cycle..after].iter().any(|record| record[0] == "node-down" && record[2] == outcome[2]);
        (is_elsewhere && is_up).then(|| (after, outcome[2].clone()))
    });
    let (after, target) = pick(places, choice)?;
    trace.records[after][3] = target;
    Some(())
}

fn replica_in_spite(trace: &mut Trace, choice: usize) -> Option<()> {
    let outcomes = trace.outcomes().into_iter();
    let stayed = outcomes.filter(|(_, _, outcome)| outcome[1] == "replicate" && rule(outcome) == Some("capacity"));
    let (cycle, _, outcome) = pick(stayed, choice)?;
    let after = trace.next_evaluation(cycle, &outcome[0])?;
    let mut record = trace.records[after].clone();
    record[2] = FRESH.into();
    trace.records.insert(after, record);
    Some(())
}

fn more_free(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| record[4].is_u64()), choice)?;
    trace.records[index][4] = (trace.records[index][4].as_u64()? + 1).into();
    Some(())
}

fn unbounded(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| record[4].is_u64()), choice)?;
    trace.records[index][4] = "unbounded".into();
    Some(())
}

fn remembers_more(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[6]) == 0), choice)?;
    trace.records[index][6] = json!([["undeploy", "self"]]);
    Some(())
}

/// Lets an evaluation with an empty memory remember the inhibitions of the previous one, which have expired.
fn remembers_long(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = evaluations(trace, |record| length(&record[6]) > 0).into_iter().filter_map(|index| {
        let next = trace.next_evaluation(index, &trace.records[index][2])?;
        (is_whole(&trace.records[next]) && length(&trace.records[next][6]) == 0).then_some((index, next))
    });
    let (index, next) = pick(places, choice)?;
    trace.records[next][6] = trace.records[index][6].clone();
    Some(())
}

fn forgets(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[6]) > 0), choice)?;
    trace.records[index][6].as_array_mut()?.pop();
    Some(())
}

fn remembers_another(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[6]) > 0), choice)?;
    trace.records[index][6][0][1] = json!({"unknown": "elsewhere"});
    Some(())
}

fn remembers_self(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = evaluations(trace, |record| {
        record[6].as_array().is_some_and(|proposals| proposals.iter().any(|proposal| proposal[1] == record[3]))
    });
    let index = pick(places, choice)?;
    let own = trace.records[index][3].clone();
    for proposal in trace.records[index][6].as_array_mut()? {
        if proposal[1] == own {
            proposal[1] = "self".into();
        }
    }
    Some(())
}

fn same_memory(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = evaluations(trace, |record| length(&record[6]) > 0).into_iter().filter_map(|index| {
        let record = &trace.records[index];
        let next = trace.next_evaluation(index, &record[2])?;
        let after = &trace.records[next];
        (is_whole(after) && record[6] != after[6]).then_some(next)
    });
    let next = pick(places, choice)?;
    trace.records[next].as_array_mut()?.truncate(5);
    trace.records[next].as_array_mut()?.push("same".into());
    Some(())
}

fn other_rate(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[5]) == 1 && length(&record[6]) == 0), choice)?;
    let rate = &mut trace.records[index][5][0][1];
    // The third clause, which proposes a replication, applies only to rates above 9. So the solutions change.
    *rate = if rate.as_u64()? < 10 { 15.into() } else { 1.into() };
    Some(())
}

fn other_first(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[7]) > 1 && record[7][0] != record[7][1]), choice)?;
    trace.records[index][7].as_array_mut()?.swap(0, 1);
    Some(())
}

fn missing_later(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[7]) > 1 && record.get(8).is_none()), choice)?;
    trace.records[index][7].as_array_mut()?.pop();
    Some(())
}

fn repeated(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[7]) > 0 && record.get(8).is_none()), choice)?;
    let last = trace.records[index][7].as_array()?.last()?.clone();
    trace.records[index][7].as_array_mut()?.push(last);
    Some(())
}

fn other_clause(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[7]) > 0), choice)?;
    let clause = trace.records[index][7][0][2].as_u64()?;
    trace.records[index][7][0][2] = (clause + 1).into();
    Some(())
}

fn swapped(trace: &mut Trace, choice: usize) -> Option<()> {
    let all = evaluations(trace, |record| length(&record[7]) > 0);
    let pairs = all.windows(2).filter(|pair| {
        let (one, other) = (&trace.records[pair[0]], &trace.records[pair[1]]);
        one[1] == other[1] && one[7] != other[7]
    });
    let [one, other] = *pick(pairs.map(|pair| [pair[0], pair[1]]), choice)?.as_slice() else { return None };
    let first = trace.records[one][7].clone();
    trace.records[one][7] = trace.records[other][7].clone();
    trace.records[other][7] = first;
    Some(())
}

fn answered(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| record.get(8).is_some()), choice)?;
    trace.records[index].as_array_mut()?.pop();
    Some(())
}

fn invalid(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[7]) > 0 && record[7][0][0] != "invalid"), choice)?;
    let clause = trace.records[index][7][0][2].clone();
    trace.records[index][7][0] = json!(["invalid", "it is not", clause]);
    Some(())
}

fn same_as_nothing(trace: &mut Trace, choice: usize) -> Option<()> {
    let firsts = evaluations(trace, |_| true).into_iter();
    let firsts = firsts.filter(|index| trace.last_evaluation(*index, &trace.records[*index][2]).is_none());
    let index = pick(firsts, choice)?;
    trace.records[index].as_array_mut()?.truncate(5);
    trace.records[index].as_array_mut()?.push("same".into());
    Some(())
}

fn out_of_order(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[5]) > 1), choice)?;
    trace.records[index][5].as_array_mut()?.swap(0, 1);
    Some(())
}

fn same_latency(trace: &mut Trace, choice: usize) -> Option<()> {
    let places = evaluations(trace, |record| length(&record[5]) > 1 && record[5][0][0] == record[5][1][0]);
    let index = pick(places, choice)?;
    trace.records[index][5][1][2] = trace.records[index][5][0][2].clone();
    // The rates become equal, too, so that the facts stay in order.
    let rate = trace.records[index][5][0][1].clone();
    trace.records[index][5][1][1] = rate;
    let third = trace.records[index][5].get(2).map(|fact| fact[0] == trace.records[index][5][1][0]);
    (third != Some(true)).then_some(())
}

fn stranger(trace: &mut Trace, choice: usize) -> Option<()> {
    let index = pick(evaluations(trace, |record| length(&record[5]) == 1), choice)?;
    let own = trace.records[index][3].as_u64()?;
    let neighbours = trace.header["nodes"][own as usize]["neighbours"].as_array()?.clone();
    let count = trace.header["nodes"].as_array()?.len() as u64;
    let instance = &trace.records[index][2];
    // An instance that has just arrived may have received requests through the neighbours of its former node.
    let last = trace.last_evaluation(index, instance)?;
    if trace.records[last][3] != trace.records[index][3] {
        return None;
    }
    let stranger = (0..count).find(|node| *node != own && !neighbours.contains(&json!(node)))?;
    trace.records[index][5][0][0] = stranger.into();
    Some(())
}

/// Removes all evaluations of an instance after one of them, with their outcomes, and corrects the total number of
/// evaluations. Only applied if all these outcomes are `nop`.
fn silent(trace: &mut Trace, choice: usize) -> Option<()> {
    let last_is_far = |index: &usize| trace.records[*index][1].as_u64().is_some_and(|time| time < 3000);
    let firsts = evaluations(trace, |_| true).into_iter().filter(last_is_far);
    let nops = firsts.filter(|index| {
        let instance = &trace.records[*index][2];
        let is_about = |record: &&Value| record[0] == "evaluation" && record[2] == *instance;
        let is_calm =
            |outcome: &(usize, usize, Value)| outcome.2[0] != *instance || outcome.0 < *index || outcome.2[1] == "nop";
        let is_downed = trace
            .records
            .iter()
            .any(|record| record[0] == "node-down" && record[4].as_array().is_some_and(|gone| gone.contains(instance)));
        trace.records[*index..].iter().filter(is_about).count() > 1
            && trace.outcomes().iter().all(is_calm)
            && !is_downed
    });
    let index = pick(nops, choice)?;
    let instance = trace.records[index][2].clone();
    let mut removed = 0;
    for place in (index + 1..trace.records.len()).rev() {
        if trace.records[place][0] == "evaluation" && trace.records[place][2] == instance {
            trace.records.remove(place);
            removed += 1;
        }
    }
    let mut is_first = true;
    for place in index + 1..trace.records.len() {
        if trace.records[place][0] == "cycle" {
            let outcomes = trace.records[place][2].as_array_mut()?;
            let is_about = outcomes.iter().any(|outcome| outcome[0] == instance);
            if is_about && !is_first {
                outcomes.retain(|outcome| outcome[0] != instance);
            }
            is_first &= !is_about;
        }
    }
    trace.add_to_total("evaluations", -removed);
    Some(())
}

fn late(trace: &mut Trace, choice: usize) -> Option<()> {
    let repeated = evaluations(trace, |_| true).into_iter();
    let places = repeated.filter(|index| {
        let cycle = index + 1;
        trace.last_evaluation(*index, &trace.records[*index][2]).is_some()
            && trace.records.get(cycle).is_some_and(|record| record[0] == "cycle")
    });
    let index = pick(places, choice)?;
    let time = trace.records[index][1].as_u64()?;
    trace.records[index][1] = (time as f64 + 0.5).into();
    // The following cycle gets the same time, so that the records stay in order.
    trace.records[index + 1][1] = (time as f64 + 0.5).into();
    trace.records.get(index + 2).is_none_or(|next| next[1].as_f64() > Some(time as f64)).then_some(())
}
