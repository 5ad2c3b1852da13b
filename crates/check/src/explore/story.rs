//! Describes the steps of a world, for users.

use mario_domain::{Rule, Verdict};
use mario_policy::{Policy, ProposalFault};

use super::decider::{CachedDecider, Proposed};
use super::known::ReceivedRequests;
use super::names::LastHop;
use super::run::{Run, Step};
use super::world::World;

/// Describes the world and its steps up to the end of cycle `until`.
pub(super) fn describe(world: &World<'_>, decider: &mut CachedDecider<'_>, policy: &Policy, until: u32) -> Vec<String> {
    let mut lines = world.description();
    let mut run = Run::new(world);
    let mut instances = run.agents.len();
    for _ in 0..until {
        for step in run.cycle(decider) {
            lines.push(step_line(&step, world, policy));
        }
        if run.agents.len() != instances {
            instances = run.agents.len();
            let noun = if instances == 1 { "instance" } else { "instances" };
            lines.push(format!("         {instances} {noun} now"));
        }
    }
    lines
}

fn step_line(step: &Step, world: &World<'_>, policy: &Policy) -> String {
    let by = |clause: usize| match policy.clauses().get(clause) {
        Some(place) => format!(" (line {})", place.position().0),
        None => String::new(),
    };
    let asks = match &*step.proposed {
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
    let verdict = match &step.verdict {
        None => String::new(),
        Some(Verdict::Accepted) if step.returned => "; accepted, and is back where it was".to_owned(),
        Some(Verdict::Accepted) => "; accepted".to_owned(),
        Some(Verdict::Inhibited(inhibition)) => format!("; inhibited: {}", reason(&inhibition.rule, world)),
    };
    let node = world.names.node(step.node);
    let received = describe_received(&step.received, world);
    format!("cycle {}: i{} on {node} {received}; {asks}{verdict}", step.cycle, step.instance)
}

/// The reason of an inhibition, in the words of a story.
fn reason(rule: &Rule, world: &World<'_>) -> &'static str {
    match rule {
        Rule::Capacity { .. } => "no room there",
        rule if has_impossible_target(rule, world) => "not a possible target",
        Rule::Flavour { .. } | Rule::Asleep | Rule::Awake | Rule::Sleepless => "it runs so already",
        other => other.as_str(),
    }
}

/// Whether a request was inhibited because its target is one that no manager accepts: neither a neighbour nor, for a
/// replicate, the instance's own node; or not a flavour.
pub(super) fn has_impossible_target(rule: &Rule, world: &World<'_>) -> bool {
    match rule {
        Rule::Neighbourhood { .. } => true,
        Rule::Flavour { flavour } => world.application.find_flavour(flavour).is_none(),
        _ => false,
    }
}

fn describe_received(received: &[ReceivedRequests], world: &World<'_>) -> String {
    if received.is_empty() {
        return "hears no requests".to_owned();
    }
    let parts: Vec<String> = received
        .iter()
        .map(|ReceivedRequests { hop, rate, latency }| match hop {
            LastHop::Own => format!("{rate} from its own node"),
            LastHop::Node(node) => format!("{rate} from {} (latency {latency})", world.names.node(*node)),
        })
        .collect();
    format!("hears requests: {}", parts.join(", "))
}
