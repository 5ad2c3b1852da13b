//! Sleeping instances in the rate model.

use mario_domain::{Duration, Time};

use super::Flow;
use crate::population::AgentIndex;

impl Flow {
    /// The rate of requests routed to an instance, per unit of time.
    pub(crate) fn rate_at(&self, agent: AgentIndex) -> f64 {
        self.load.rate_at(agent)
    }

    /// Pauses an instance that has just woken for its start time. In the meantime, requests to it queue.
    pub(crate) fn delay_instance(&mut self, agent: AgentIndex, start: Duration, now: Time) {
        self.load.delay_instance(agent, start, now);
    }

    /// Freezes a sleeping instance that is not allowed to wake: requests are routed elsewhere, but its agent sees those
    /// that would have reached it.
    pub(crate) fn freeze(&mut self, agent: AgentIndex) {
        self.frozen.insert(agent);
    }

    /// Ends the freeze.
    pub(crate) fn thaw(&mut self, agent: AgentIndex) {
        self.frozen.remove(&agent);
    }
}
