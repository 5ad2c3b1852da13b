//! The owners of nodes act at each activation of the managers, after these have judged.

use super::Simulation;
use crate::population::OwnerActKind;
use crate::recorder::Recorder;

impl Simulation<'_> {
    /// Lets the owners of nodes act on the instances on their nodes, updates placement, traffic and routes, reports the
    /// actions, and schedules redeployments of applications that are now missed.
    pub(super) fn take_initiative(&mut self, recorder: &mut impl Recorder) {
        let of_owners = self.population.initiative(&mut self.judge);
        self.count_acceptances();
        if of_owners.is_empty() {
            return;
        }
        for acts in &of_owners {
            for act in acts.acts.iter().filter(|act| act.kind == OwnerActKind::Evicted) {
                self.remove_instance(act.agent, acts.node, recorder);
            }
        }
        self.settle_flow();
        for acts in &of_owners {
            recorder.owner(self.queue.now(), acts, &self.population);
        }
        self.watch_over_applications();
    }
}
