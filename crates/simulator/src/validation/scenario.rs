//! Checks whether a restored scenario is consistent.

use mario_scenario::{PolicyText, Scenario};

use super::TableSizes;

/// An upper bound on the steps of a run. The counts of each step are kept in memory.
const STEPS_MAX: f64 = 16_777_216.0;

/// Whether the numbers of a resolved scenario are valid, and its tables have the right lengths. For a scenario read
/// from a checkpoint: resolving a scenario checks more, and reports errors precisely.
pub(crate) fn scenario_is_consistent(scenario: &Scenario) -> bool {
    let has_text = |policy: &PolicyText| !policy.files.is_empty();
    let nodes = scenario.topology.node_count();
    nodes > 0
        && scenario.duration.units() >= 0.0
        && scenario.duration / scenario.step <= STEPS_MAX
        && TableSizes::of(scenario).hold_for(scenario)
        && scenario.users.len() == scenario.attachments.users.len()
        && [0, nodes].contains(&scenario.acceptance_of.len())
        && scenario.policies.iter().chain(&scenario.acceptances).all(has_text)
        && scenario.applications.iter().all(|plan| plan.service_time.units() >= 0.0)
        && scenario.attachments.are_consistent()
        && scenario.calls_are_consistent()
}
