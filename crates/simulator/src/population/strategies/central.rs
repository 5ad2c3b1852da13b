//! Management by a planner that sees the whole infrastructure.

use crate::population::index::AgentIndex;
use crate::population::label::CycleLabel;
use crate::population::proposal::{CompactVerdict, Deployed, Deployment, Judged, Proposal};
use crate::population::state::Population;

/// The plan of one cycle: first operations on existing instances, then deployments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Undeploys, and migrations to any node.
    pub orders: Vec<(AgentIndex, Proposal)>,
    /// The instances to create.
    pub deployments: Vec<Deployment>,
}

impl Population {
    /// Runs a cycle in which a plan replaces the proposals of agents. Each operation is judged by availability and free
    /// hardware, and enacted before the next one is judged, so that a plan can use the hardware that it frees. A
    /// migration may lead to any node and keeps the instance's id. The agents' own proposals are not judged: an agent
    /// that has evaluated and has no order in the plan counts as a nop.
    pub fn r1_by_plan(&mut self, plan: &Plan, label: &mut CycleLabel) {
        label.clear();
        self.cycle_by_plan(&plan.orders, &plan.deployments, label);
        self.end_cycle(label);
    }

    pub(in crate::population) fn cycle_by_plan(
        &mut self,
        orders: &[(AgentIndex, Proposal)],
        deployments: &[Deployment],
        label: &mut CycleLabel,
    ) {
        for (index, proposal) in orders {
            let agent = &mut self.agents[index.position()];
            if !agent.is_alive() {
                continue;
            }
            // Marks the agent's entry in `pending` as obsolete, so that no nop is added for it.
            agent.pending_at = u32::MAX;
            let from = agent.node;
            let (verdict, proposal) = (self.judge_by_room(*index, proposal), proposal.clone());
            label.push_judged(Judged { agent: *index, proposal, from, verdict, created: None });
            self.enact_last(label);
        }
        for deployment in deployments {
            let verdict = self.judge_room(deployment.node, self.needed(deployment.application));
            label.push_deployed(Deployed { deployment: *deployment, verdict, created: None });
            self.enact_last(label);
        }
        for position in 0..self.pending.len() {
            let index = self.pending[position].agent();
            let agent = self.agent(index);
            if agent.pending_at as usize == position && agent.is_alive() {
                label.push_nop(index);
            }
        }
    }

    /// The verdict on a proposal without the acceptance policies of nodes. The target may be any node.
    pub(in crate::population) fn judge_by_room(&self, index: AgentIndex, proposal: &Proposal) -> CompactVerdict {
        let agent = self.agent(index);
        if !proposal.operation.asks_for_place() {
            return match self.taken(index, proposal) {
                Ok(None) => CompactVerdict::Accepted,
                Ok(Some(taken)) => self.with_needed(self.judge_room(agent.node, taken), index, Some(taken)),
                Err(rule) => self.inhibited(agent.node, rule),
            };
        }
        match proposal.target.resolve(agent.node) {
            Some(to) => {
                let needed = self.held(agent);
                self.with_needed(self.judge_room(to, needed), index, Some(needed))
            }
            None => self.out_of_reach(agent.node, &proposal.target),
        }
    }
}
