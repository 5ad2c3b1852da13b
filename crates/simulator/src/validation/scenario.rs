//! Checks whether a restored scenario is consistent.

use mario_scenario::{PolicyText, Scenario};

use super::Limits;

/// An upper bound on the steps of a run: each has its counts in memory.
const STEPS_MAX: f64 = 16_777_216.0;

/// Whether every number refers to something that exists, and tables have the right lengths. Resolving a scenario
/// reports more, and more precisely; this is for a resolved scenario that was read from a checkpoint.
pub(crate) fn scenario_holds_together(scenario: &Scenario) -> bool {
    let has_text = |policy: &PolicyText| !policy.files.is_empty();
    let nodes = scenario.topology.node_count();
    nodes > 0
        && scenario.duration.units() >= 0.0
        && scenario.duration / scenario.step <= STEPS_MAX
        && Limits::of(scenario).hold_for(scenario)
        && scenario.users.len() == scenario.attachments.users.len()
        && [0, nodes].contains(&scenario.acceptance_of.len())
        && scenario.policies.iter().chain(&scenario.acceptances).all(has_text)
        && scenario.applications.iter().all(|plan| plan.service_time.units() >= 0.0)
        && scenario.attachments.hold_together()
        && scenario.calls_hold_together()
}
