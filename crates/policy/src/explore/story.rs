//! The story of a world, as text for people.

use super::agents::{Agents, Asked, Heard};
use super::run::{Run, Step, Verdict};
use super::world::{World, node_name};
use crate::decide::ProposalFault;
use crate::policy::Policy;

/// The world, and what happens in it until the end of a cycle.
pub(super) fn tell(world: &World<'_>, minds: &mut Agents<'_>, policy: &Policy, until: u32) -> Vec<String> {
    let mut lines = world.description();
    let mut run = Run::new(world);
    let mut instances = run.agents.len();
    for _ in 0..until {
        for step in run.cycle(minds) {
            lines.push(step_line(&step, policy));
        }
        if run.agents.len() != instances {
            instances = run.agents.len();
            let noun = if instances == 1 { "instance" } else { "instances" };
            lines.push(format!("         {instances} {noun} now"));
        }
    }
    lines
}

fn step_line(step: &Step, policy: &Policy) -> String {
    let by = |clause: usize| match policy.clauses().get(clause) {
        Some(place) => format!(" (line {})", place.position().0),
        None => String::new(),
    };
    let asks = match &step.asked {
        Asked::Nothing => "asks for nothing".to_owned(),
        Asked::Failed(ending) => ending.to_string(),
        Asked::Invalid { fault: ProposalFault::UnboundTarget, arguments: [operation, ..], clause } => {
            format!("proposes {operation} and no target{}", by(*clause))
        }
        Asked::Invalid { arguments: [operation, _, target], clause, .. } => {
            format!("proposes {operation} with the target {target}{}", by(*clause))
        }
        Asked::Operation { operation, clause, .. } if !operation.has_target() => {
            format!("asks to {operation}{}", by(*clause))
        }
        Asked::Operation { operation, word, clause, .. } => format!("asks to {operation} to {word}{}", by(*clause)),
    };
    let verdict = match (&step.verdict, step.returned) {
        (None, _) => "",
        (Some(Verdict::Accepted), false) => "; accepted",
        (Some(Verdict::Accepted), true) => "; accepted, and is back where it was",
        (Some(Verdict::NoRoom), _) => "; inhibited: no room there",
        (Some(Verdict::NotATarget), _) => "; inhibited: not a possible target",
        (Some(Verdict::RunsSo), _) => "; inhibited: it runs so already",
    };
    let node = node_name(step.node);
    format!("cycle {}: i{} on {node} {}; {asks}{verdict}", step.cycle, step.instance, hears(&step.heard))
}

fn hears(heard: &[Heard]) -> String {
    if heard.is_empty() {
        return "hears no requests".to_owned();
    }
    let parts: Vec<String> = heard
        .iter()
        .map(|Heard { neighbour, rate, latency }| match neighbour.as_str() {
            "self" => format!("{rate} from its own node"),
            _ => format!("{rate} from {neighbour} (latency {latency})"),
        })
        .collect();
    format!("hears requests: {}", parts.join(", "))
}
