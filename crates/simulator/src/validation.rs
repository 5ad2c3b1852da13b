//! Checks whether a restored state is consistent.
//!
//! A checkpoint is decoded directly into the tables of a run, and an index out of range would cause a panic later. So
//! the state is validated before the run resumes. Here, each field has a rule for its numbers; in addition, the tables
//! check their own consistency.

mod rules;
mod scenario;
mod walk;

use std::collections::BTreeSet;

use mario_scenario::{Scenario, Workload};
use serde::Serialize;

use rules::Rules;
pub(crate) use scenario::scenario_is_consistent;
use walk::walk;

/// The sizes of the tables that indices refer to, and the valid sending periods.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableSizes {
    pub(crate) nodes: usize,
    pub(crate) links: usize,
    pub(crate) users: usize,
    pub(crate) applications: usize,
    pub(crate) policies: usize,
    pub(crate) acceptances: usize,
    pub(crate) steps: usize,
    pub(crate) disturbances: usize,
    pub(crate) updates: usize,
    pub(crate) agents: usize,
    pub(crate) paths: usize,
    pub(crate) messages: usize,
    pub(crate) cells: usize,
    pub(crate) round_robins: usize,
    pub(crate) batches: usize,
    pub(crate) pending: usize,
    pub(crate) calls: usize,
    /// The bit patterns of the users' sending periods.
    pub(crate) periods: BTreeSet<u64>,
}

impl TableSizes {
    /// The sizes of the tables in a scenario. The sizes of the tables of a run are zero.
    pub(crate) fn of(scenario: &Scenario) -> TableSizes {
        let period = |workload: &Workload| match *workload {
            Workload::Periodic { period, .. } | Workload::OnOff { period, .. } => period.units().to_bits(),
            Workload::Poisson { mean_period } => mean_period.units().to_bits(),
        };
        TableSizes {
            nodes: scenario.topology.node_count(),
            links: scenario.topology.link_count(),
            users: scenario.users.len(),
            applications: scenario.applications.len(),
            policies: scenario.policies.len(),
            acceptances: scenario.acceptances.len(),
            steps: scenario.attachments.step_count(),
            disturbances: scenario.disturbances.len(),
            updates: scenario.updates.len(),
            periods: scenario.users.iter().map(|user| period(&user.workload)).collect(),
            ..TableSizes::default()
        }
    }

    /// Whether every number in a part of a state is valid.
    pub(crate) fn hold_for(&self, part: &impl Serialize) -> bool {
        walk(part, &mut Rules::new(self))
    }
}
