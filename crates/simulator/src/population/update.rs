//! Changes the policy of agents.

use mario_colony::rules::History;
use mario_scenario::{ApplicationIndex, PolicyIndex};

use crate::population::agent::Agent;
use crate::population::state::Population;

impl Population {
    /// Switches the agents of an application to another policy. Clears their memory of inhibitions, their history,
    /// their random numbers and their cached proposals.
    pub fn set_policy(&mut self, application: ApplicationIndex, policy: PolicyIndex) {
        let looks_back = !self.policy(policy).remembers().is_nothing();
        for agent in self.agents.iter_mut().filter(|agent| agent.application == application && agent.is_alive()) {
            agent.follow(policy, looks_back);
        }
    }
}

impl Agent {
    fn follow(&mut self, policy: PolicyIndex, looks_back: bool) {
        self.policy = policy;
        if looks_back || self.extra.is_some() {
            let arrived = self.evaluations;
            let extra = self.extra.get_or_insert_default();
            extra.random = None;
            extra.remembered.clear();
            extra.history = looks_back.then(|| Box::new(History { arrived, ..History::default() }));
            extra.is_fresh = looks_back;
            self.is_blank = extra.is_blank();
        }
        self.invalidate_cached_proposals();
    }
}
