//! Instances that sleep, as far as traffic as rates knows of it.

use mario_domain::{Duration, Time};

use super::Flow;
use crate::population::AgentIndex;

impl Flow {
    /// How many requests are routed to an instance in a unit of time.
    pub(crate) fn rate_at(&self, agent: AgentIndex) -> f64 {
        self.load.rate_at(agent)
    }

    /// An instance starts, and serves nothing before it has: what comes waits.
    pub(crate) fn delay_instance(&mut self, agent: AgentIndex, start: Duration, now: Time) {
        self.load.delay_instance(agent, start, now);
    }

    /// An instance sleeps and may not wake: routes lead away from it, and it sees what would have reached it.
    pub(crate) fn freeze(&mut self, agent: AgentIndex) {
        self.frozen.insert(agent);
    }

    /// An instance sees what reaches it.
    pub(crate) fn thaw(&mut self, agent: AgentIndex) {
        self.frozen.remove(&agent);
    }
}
