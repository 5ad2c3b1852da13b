//! Changes the policy of agents during a run.

use mario_scenario::{ApplicationIndex, PolicyIndex, Update};

use super::Simulation;
use crate::population::Deployment;
use crate::recorder::Recorder;

impl Simulation<'_> {
    /// Switches the agents of an application to another policy. Their pending proposals are still judged.
    pub(super) fn update(&mut self, position: u32, recorder: &mut impl Recorder) {
        let Update { application, policy, .. } = self.scenario.updates[position as usize];
        self.population.set_policy(application, policy);
        recorder.updated(self.queue.now(), application, policy);
    }

    /// Returns the deployment with the current policy of its application.
    pub(super) fn up_to_date(&self, deployment: Deployment) -> Deployment {
        let policy = self.last_update(deployment.application).unwrap_or(deployment.policy);
        Deployment { policy, ..deployment }
    }

    fn last_update(&self, application: ApplicationIndex) -> Option<PolicyIndex> {
        let now = self.queue.now();
        let updates = self.scenario.updates.iter().take_while(|update| update.time <= now);
        updates.filter(|update| update.application == application).last().map(|update| update.policy)
    }
}
