//! Operations that concern the agent's own node alone.

use mario_domain::Hardware;

use super::Audit;
use super::cycles::{Adaptation, Case, Enactment};
use crate::finding::FindingKind;
use crate::reader::Target;
use crate::world::AgentPlace;

impl Audit {
    /// What an agent's instance changes when it adapts to a flavour; `None` when it cannot.
    pub(super) fn adaptation(&self, place: AgentPlace, target: &Target) -> Option<Adaptation> {
        let Target::Flavour(wanted) = target else { return None };
        let agent = self.world.agent(place);
        let flavours = &self.header.applications[agent.application as usize].flavours;
        let position = flavours.iter().position(|flavour| flavour.id.id() == wanted)?;
        let flavour = position as u32;
        (flavour != agent.flavour).then(|| Adaptation { flavour, held: flavours[position].hardware })
    }

    /// An accepted adapt: the flavour must be another one of the application, and what it needs more must be there.
    pub(super) fn adapts(&mut self, case: &mut Case<'_>, place: AgentPlace, own: u32) {
        let Some(adaptation) = case.adaptation else {
            let id = case.flavour_id.as_ref().map(ToString::to_string).unwrap_or_default();
            let expected = "another flavour of its application";
            self.find(FindingKind::Target, &case.who, expected, format!("adapt to `{id}`"));
            return;
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
        self.frees(own, held.saturating_sub(adaptation.held));
        case.enactments.push(Enactment::Adapt(place, adaptation));
    }
}
