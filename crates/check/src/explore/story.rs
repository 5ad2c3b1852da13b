//! Describes the steps of a world, for users.

use mario_policy::{Policy, ProposalFault};

use super::agents::{CachedDecider, Proposed, ReceivedRequests};
use super::run::{Run, Step, Verdict};
use super::world::{World, node_name};

/// Describes the world and its steps up to the end of cycle `until`.
pub(super) fn describe(world: &World<'_>, decider: &mut CachedDecider<'_>, policy: &Policy, until: u32) -> Vec<String> {
    let mut lines = world.description();
    let mut run = Run::new(world);
    let mut instances = run.agents.len();
    for _ in 0..until {
        for step in run.cycle(decider) {
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
    let asks = match &step.proposed {
        Proposed::Nothing => "asks for nothing".to_owned(),
        Proposed::Failed(ending) => ending.to_string(),
        Proposed::Invalid { fault: ProposalFault::UnboundTarget, arguments: [operation, ..], clause } => {
            format!("proposes {operation} and no target{}", by(*clause))
        }
        Proposed::Invalid { arguments: [operation, _, target], clause, .. } => {
            format!("proposes {operation} with the target {target}{}", by(*clause))
        }
        Proposed::Operation { operation, clause, .. } if !operation.has_target() => {
            format!("asks to {operation}{}", by(*clause))
        }
        Proposed::Operation { operation, word, clause, .. } => format!("asks to {operation} to {word}{}", by(*clause)),
    };
    let verdict = match (&step.verdict, step.returned) {
        (None, _) => "",
        (Some(Verdict::Accepted), false) => "; accepted",
        (Some(Verdict::Accepted), true) => "; accepted, and is back where it was",
        (Some(Verdict::NoRoom), _) => "; inhibited: no room there",
        (Some(Verdict::NotATarget), _) => "; inhibited: not a possible target",
        (Some(Verdict::NoChange), _) => "; inhibited: it runs so already",
    };
    let node = node_name(step.node);
    format!("cycle {}: i{} on {node} {}; {asks}{verdict}", step.cycle, step.instance, describe_received(&step.received))
}

fn describe_received(received: &[ReceivedRequests]) -> String {
    if received.is_empty() {
        return "hears no requests".to_owned();
    }
    let parts: Vec<String> = received
        .iter()
        .map(|ReceivedRequests { neighbour, rate, latency }| match neighbour.as_str() {
            "self" => format!("{rate} from its own node"),
            _ => format!("{rate} from {neighbour} (latency {latency})"),
        })
        .collect();
    format!("hears requests: {}", parts.join(", "))
}
