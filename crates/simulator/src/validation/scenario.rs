//! Whether a restored scenario holds together.

use super::Limits;
use crate::scenario::{PolicyText, Scenario};

/// No run has more steps: each has its counts in memory.
const STEPS_MAX: f64 = 16_777_216.0;

impl Scenario {
    /// Whether every number refers to something that there is, and tables have their lengths. Resolving a scenario says more, and
    /// more precisely; this is for one that was resolved before, and read from a checkpoint.
    pub(crate) fn holds_together(&self) -> bool {
        let has_text = |policy: &PolicyText| !policy.files.is_empty();
        let nodes = self.topology.node_count();
        nodes > 0
            && self.duration >= 0.0
            && self.duration / self.step <= STEPS_MAX
            && Limits::of(self).hold_for(self)
            && self.users.len() == self.attachments.users.len()
            && [0, nodes].contains(&self.acceptance_of.len())
            && self.policies.iter().chain(&self.acceptances).all(has_text)
            && self.applications.iter().all(|plan| plan.service_time >= 0.0)
            && self.attachments.hold_together()
    }
}
