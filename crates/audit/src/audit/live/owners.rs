//! Checks the actions of live nodes' owners.
//!
//! The policies of owners are not in the trace, so their decisions are not recomputed. Only whether their actions are
//! allowed is checked.

use mario_domain::InstanceId;

use super::super::instance_text;
use super::{Expected, LiveWorld};
use crate::finding::FindingKind;
use crate::reader::{Owner, OwnerAct, OwnerActKind};

/// The announced eviction of an instance.
pub(super) struct EvictionNotice {
    /// The number of evaluations that its agent has left.
    pub(super) left: u64,
    reason: String,
}

impl LiveWorld {
    pub(super) fn owner(&mut self, owner: &Owner) {
        if owner.acts.is_empty() {
            self.find(FindingKind::Owner, self.node_text(owner.node), "at least one action of its owner", "none");
        }
        for act in &owner.acts {
            if !matches!(act.kind, OwnerActKind::Evicted) {
                self.require_nothing_expected();
            }
            self.owner_act(owner.node, act);
        }
    }

    fn owner_act(&mut self, node: u32, act: &OwnerAct) {
        let OwnerAct { instance, kind, reason } = act;
        let who = instance_text(instance);
        if matches!(kind, OwnerActKind::Evicted) {
            return self.evicted(node, instance, reason);
        }
        let Some(application) = self.nodes[node as usize].owned.get(instance).map(|owned| owned.application) else {
            let found = format!("the owner of {} acts on it", self.node_text(node));
            return self.find(FindingKind::Owner, who, "an instance of the node", found);
        };
        match kind {
            OwnerActKind::Announced(evaluations) => {
                let notice = EvictionNotice { left: *evaluations, reason: reason.clone() };
                let before = self.nodes[node as usize].notices.insert(instance.clone(), notice);
                if before.is_some() {
                    self.find(FindingKind::Owner, &who, "one announcement", "a second one");
                }
                if *evaluations == 0 {
                    self.find(FindingKind::Owner, who, "at least one evaluation left", "none");
                }
            }
            OwnerActKind::Shrunk(flavour) => {
                let described = &self.header.applications[application as usize];
                if !described.flavours.iter().any(|known| known.id.id() == flavour) {
                    let expected = format!("a flavour of application {}", described.id);
                    self.find(FindingKind::Owner, who, expected, flavour.to_string());
                }
            }
            OwnerActKind::Evicted => {}
        }
    }

    /// Checks that an evicted instance has just ended, that its eviction was announced for the same reason, and that
    /// its agent has had all evaluations that were left.
    fn evicted(&mut self, node: u32, instance: &InstanceId, reason: &str) {
        let who = instance_text(instance);
        let expected = self.expected.pop_front();
        if expected != Some(Expected::Undeploy { instance: instance.clone() }) {
            let expected = expected.map_or("no outcome".to_owned(), |expected| format!("{expected:?}"));
            return self.find(FindingKind::Place, who, expected, "an eviction");
        }
        let is_partial = self.nodes[node as usize].is_partial;
        match self.nodes[node as usize].ended_notice.take() {
            Some((known, notice)) if known == *instance => {
                if notice.left > 0 {
                    let expected = format!("{} evaluations more before it is evicted", notice.left);
                    self.find(FindingKind::Owner, &who, expected, "an eviction");
                }
                if notice.reason != reason {
                    let expected = format!("the announced reason: {}", notice.reason);
                    self.find(FindingKind::Owner, who, expected, reason);
                }
            }
            _ if is_partial => {}
            _ => self.find(FindingKind::Owner, who, "an announcement before it is evicted", "none"),
        }
    }
}
