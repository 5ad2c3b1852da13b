//! Checks operations that concern an instance on its own node: undeploy, adapt, sleep and wake.

use mario_domain::{AgentOperation, Hardware, OperationName};

use super::Audit;
use super::cycles::{Case, Enactment};
use crate::finding::FindingKind;
use crate::reader::{Arbitration, Proposal, Rule, Target};
use crate::world::{AgentPlace, InstanceState};

impl Audit {
    /// Checks that an instance that undeploys itself is no anchor. A central plan is an operator's.
    pub(super) fn require_no_anchor(&mut self, case: &Case<'_>, place: AgentPlace) {
        if self.world.agent(place).is_anchor && self.header.arbitration != Arbitration::Central {
            let expected = "it stays: it is an anchor";
            self.find(FindingKind::Anchor, &case.who, expected, "it undeploys itself");
        }
    }

    /// For an adapt, a sleep or a wake, the state of the agent's instance after it, or the rule that inhibits it;
    /// `None` for other operations.
    pub(super) fn change_by(&self, place: AgentPlace, proposal: &Proposal) -> Option<Result<InstanceState, Rule>> {
        let agent = self.world.agent(place);
        let application = &self.header.applications[agent.application as usize];
        let state = |flavour: u32, is_asleep: bool| InstanceState {
            flavour,
            is_asleep,
            held: application.held_in(flavour, is_asleep),
        };
        match proposal.operation {
            AgentOperation::Adapt => {
                let found = application.find_flavour(&proposal.target).filter(|flavour| *flavour != agent.flavour);
                let (Target::Flavour(wanted) | Target::Unknown(wanted)) = &proposal.target else { return None };
                let refused = || Rule::Flavour { flavour: wanted.clone() };
                Some(found.map(|flavour| state(flavour, agent.is_asleep)).ok_or_else(refused))
            }
            AgentOperation::Sleep if application.sleep.is_none() => Some(Err(Rule::Sleepless)),
            AgentOperation::Sleep if agent.is_asleep => Some(Err(Rule::Asleep)),
            AgentOperation::Wake if !agent.is_asleep => Some(Err(Rule::Awake)),
            AgentOperation::Sleep => Some(Ok(state(agent.flavour, true))),
            AgentOperation::Wake => Some(Ok(state(agent.flavour, false))),
            AgentOperation::Undeploy | AgentOperation::Migrate | AgentOperation::Replicate => None,
        }
    }

    /// Checks an accepted adapt, sleep or wake: it must be possible, the node's acceptance policy must accept it, and
    /// the additional hardware must be free on a node that stays. Adds it to the operations to enact if it is possible.
    pub(super) fn changes(&mut self, case: &mut Case<'_>, place: AgentPlace, own: u32) {
        let changed = match &case.change {
            Some(Ok(changed)) => *changed,
            Some(Err(rule)) => {
                let (expected, found) = match rule {
                    Rule::Flavour { flavour } => {
                        ("another flavour of its application", format!("adapt to `{flavour}`"))
                    }
                    rule => ("an instance that can fall asleep or wake", format!("{}: {rule}", case.operation)),
                };
                let is_flavour = case.operation == OperationName::Adapt;
                let kind = if is_flavour { FindingKind::Target } else { FindingKind::Sleep };
                return self.find(kind, &case.who, expected, found);
            }
            None => return,
        };
        if case.needed != Hardware::NONE {
            let node = self.world.node(own);
            if !node.is_up || node.is_leaving {
                let found = format!("more hardware on node {}, which is down or leaves", self.node_id(own));
                self.find(FindingKind::Down, &case.who, "a node that stays", found);
            }
        }
        self.require_consent(case, None);
        if case.needed != Hardware::NONE {
            self.require_room(own, case.needed, &case.who);
            let state = self.world.node_mut(own);
            state.promised = state.promised.saturating_add(case.needed);
        }
        let held = self.world.agent(place).held;
        self.frees(own, held.saturating_sub(changed.held));
        case.enactments.push(Enactment::Change(place, changed));
    }
}
