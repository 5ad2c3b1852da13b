//! The prototype's arbitration.

use mario_colony::rules;

use crate::population::acceptance::AcceptanceContext;
use crate::population::label::CycleLabel;
use crate::population::proposal::{Deployed, Deployment, Judged, Target};
use crate::population::state::Population;

impl Population {
    /// Judges operators' deployments, then agents from the last to the first, and enacts each operation before the next
    /// is judged. The target may be any node. In the label and in the agent's memory, the target `self` of a migrate or
    /// replicate is replaced by the node's name. The prototype has no acceptance policies; if nodes have them, they are
    /// evaluated, and see what was enacted before.
    pub(in crate::population) fn cycle_in_sequence(
        &mut self,
        deployments: &[Deployment],
        context: &mut AcceptanceContext,
        label: &mut CycleLabel,
    ) {
        for deployment in deployments {
            let verdict = self.judge_deployment(deployment, context);
            label.push_deployed(Deployed { deployment: *deployment, verdict, created: None });
            self.enact_last(label);
        }
        for position in (0..self.pending.len()).rev() {
            let Some((agent, mut proposal)) = self.proposal_at(position, label) else { continue };
            let from = self.agent(agent).node;
            let mut verdict = match rules::anchor(self.agent(agent).is_anchor(), proposal.operation) {
                Ok(()) => self.judge_by_room(agent, &proposal),
                Err(rule) => self.inhibited(from, rule),
            };
            if verdict.is_accepted() {
                let to = proposal.target.resolve(from).filter(|to| *to != from);
                let mut concerned = [Some(from), to].into_iter().flatten();
                let consented = concerned
                    .try_for_each(|node| self.consent(node, agent, &proposal, context).map_err(|rule| (node, rule)));
                if let Err((node, rule)) = consented {
                    verdict = self.inhibited(node, rule);
                }
            }
            if proposal.target == Target::Own && proposal.operation.asks_for_place() {
                proposal.target = Target::Node(from);
            }
            label.push_judged(Judged { agent, proposal, from, verdict, created: None });
            self.enact_last(label);
        }
    }
}
