//! Enacts the entries of a label: performs accepted operations, and lets agents remember inhibited ones.

use mario_colony::rules::HardwareChange;
use mario_domain::AgentOperation;
use mario_scenario::{ApplicationIndex, Arbitration};

use crate::population::agent::Body;
use crate::population::index::AgentIndex;
use crate::population::label::{Action, CycleLabel};
use crate::population::proposal::{CompactVerdict, Deployed, Deployment, Proposal};
use crate::population::state::Population;

impl Population {
    /// Enacts an entry of a label. An inhibited request of an agent changes only the memory of the agent; an inhibited
    /// deployment changes nothing.
    pub(crate) fn enact(&mut self, action: Action<'_>) {
        match action {
            Action::Remember(request) => self.remember(request.agent(), request.proposal()),
            Action::Deployed(Deployed { deployment, verdict, created }) => {
                if verdict.is_accepted() {
                    self.change_node(deployment.node, |node| node.manager_mut().release_all());
                    let Deployment { application, policy, node } = *deployment;
                    let body = Body::deployed(self.deploys_anchors(application));
                    *created = Some(self.create(application, policy, node, body));
                }
            }
            Action::Judged(judged) => match judged.verdict {
                CompactVerdict::Accepted => judged.created = self.perform(judged.agent, &judged.proposal),
                CompactVerdict::NoRoom { .. } | CompactVerdict::Inhibited(_) => {
                    self.remember(judged.agent, judged.proposal.clone());
                }
            },
        }
    }

    /// Whether the instances of an application that operators deploy are anchors.
    pub fn deploys_anchors(&self, application: ApplicationIndex) -> bool {
        self.anchors.get(application.position()).copied().unwrap_or(false)
    }

    /// Enacts the last entry of a label.
    pub(crate) fn enact_last(&mut self, label: &mut CycleLabel) {
        if let Some(action) = label.last_action() {
            self.enact(action);
        }
    }

    fn remember(&mut self, agent: AgentIndex, proposal: Proposal) {
        let agent = &mut self.agents[agent.position()];
        let cycles = self.policies[agent.policy().position()].settings().memory;
        agent.remember(proposal.operation, proposal.target, self.memory, cycles);
    }

    /// Performs an accepted operation. Returns the agent that it creates, if any.
    fn perform(&mut self, index: AgentIndex, proposal: &Proposal) -> Option<AgentIndex> {
        if !self.only_counts() {
            let agent = &mut self.agents[index.position()];
            let remembers = self.policies[agent.policy.position()].remembers();
            agent.note_done(remembers, proposal);
        }
        let agent = self.agent(index);
        let (application, policy, own, body) = (agent.application, agent.policy, agent.node, agent.body());
        if let Some(changed) = self.own_change(index, proposal) {
            self.change_node(own, |node| node.manager_mut().release_all());
            if let Ok((body, change)) = changed {
                self.run_as(index, body, change);
            }
            return None;
        }
        let to = proposal.target.resolve(own)?;
        self.change_node(to, |node| node.manager_mut().release_all());
        match (proposal.operation, self.arbitration) {
            (AgentOperation::Undeploy | AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake, _) => {
                self.remove(index);
                None
            }
            (AgentOperation::Migrate, Arbitration::Managers | Arbitration::Central) => {
                self.relocate(index, to);
                None
            }
            (AgentOperation::Migrate, Arbitration::Sequential) => {
                let successor = self.create(application, policy, to, body);
                self.remove(index);
                Some(successor)
            }
            (AgentOperation::Replicate, _) => Some(self.create(application, policy, to, body.replica())),
        }
    }

    /// Changes the flavour or wakefulness of an instance, and the hardware that it holds.
    pub(crate) fn run_as(&mut self, index: AgentIndex, body: Body, change: HardwareChange) {
        self.unpark_later(index);
        self.agents[index.position()].set_body(body);
        self.change_held(index, change);
    }

    /// Ends a cycle: clears the queue, adds the outcomes of parked agents to the label, and schedules the unparking of
    /// agents around freed nodes.
    pub(crate) fn end_cycle(&mut self, label: &mut CycleLabel) {
        self.pending.clear();
        label.take_parked(&mut self.parked);
        self.unpark_around_freed_nodes();
    }
}
