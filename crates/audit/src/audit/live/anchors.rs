//! Checks anchors: they do not undeploy themselves, migrate as anchors, and have replicas that are none.

use mario_domain::InstanceId;

use super::super::instance_text;
use super::LiveWorld;
use crate::finding::FindingKind;
use crate::reader::{OwnCause, OwnedState};

impl LiveWorld {
    /// Checks that an instance is an anchor exactly if it was one before it came to be owned. Call it before the custody
    /// that `cause` refers to has ended.
    pub(super) fn require_same_anchor(&mut self, node: u32, owned: &OwnedState, cause: &OwnCause) {
        let before = match cause {
            // An operator decides whether what is deployed is an anchor.
            OwnCause::Deployed => return,
            OwnCause::Replicated { .. } => Some(false),
            OwnCause::Taken { transfer, .. } => self.departures.get(transfer).map(|departure| departure.is_anchor),
            OwnCause::NotTaken { transfer } | OwnCause::Adopted { transfer } => {
                let state = &self.nodes[node as usize];
                state.custody_by(transfer).map(|instance| state.custody[&instance].owned.is_anchor)
            }
        };
        // Without a record of the departure or of the custody, which is a finding of its own, nothing is known.
        if let Some(before) = before.filter(|before| *before != owned.is_anchor) {
            self.find(FindingKind::Anchor, instance_text(&owned.instance), text(before), text(owned.is_anchor));
        }
    }

    /// Checks that an operator makes an instance of the node an anchor, or ends that.
    pub(super) fn set_anchor(&mut self, node: u32, instance: &InstanceId, is_anchor: bool) {
        match self.nodes[node as usize].owned.get_mut(instance) {
            Some(owned) => owned.is_anchor = is_anchor,
            None => {
                let found = instance.to_string();
                self.require(false, node, FindingKind::Journal, "an instance that it owns", &found);
            }
        }
    }

    /// Checks that an instance that ended was no anchor, unless an operator undeployed it, or its announced eviction was
    /// due.
    pub(super) fn require_no_anchor(&mut self, node: u32, owned: &OwnedState) {
        let state = &mut self.nodes[node as usize];
        let by_operator = state.undeploying.take().is_some_and(|instance| instance == owned.instance);
        let by_owner = state.ended_notice.as_ref().is_some_and(|(_, notice)| notice.left == 0);
        if owned.is_anchor && !by_operator && !by_owner && !state.is_partial {
            let expected = "an operator undeploys it, or its owner evicts it: it is an anchor";
            self.find(FindingKind::Anchor, instance_text(&owned.instance), expected, "it undeploys itself");
        }
    }

    /// Checks that an instance is an anchor, because the rule `anchor` inhibited a proposal of its agent.
    pub(super) fn require_anchor(&mut self, instance: &InstanceId) {
        let owner = self.nodes.iter().find_map(|node| node.owned.get(instance));
        if owner.is_some_and(|owned| !owned.is_anchor) {
            self.find(FindingKind::Reason, instance_text(instance), text(true), text(false));
        }
    }
}

fn text(is_anchor: bool) -> &'static str {
    if is_anchor { "an anchor" } else { "no anchor" }
}
