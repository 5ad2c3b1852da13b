//! Checks the ownership of instances, and their transfers.

use mario_domain::{AgentOperation, InstanceId};

use super::super::instance_text;
use super::{Expected, LiveWorld};
use crate::finding::FindingKind;
use crate::reader::{CustodyState, NodeState, OfferState, OwnCause, OwnedState};

/// The state of an instance, across nodes.
#[derive(Default)]
pub(super) struct Life {
    owner: Option<u32>,
    /// The highest epoch of any owner so far.
    epoch: u32,
    has_ended: bool,
    /// Whether it may be missing at the end, because the node that had it lost its disk, was declared lost, or has a
    /// gap in its records.
    is_excused: bool,
}

/// An instance that left a node, or a new instance that a node offered.
pub(super) struct Departure {
    from: u32,
    target: u32,
    instance: InstanceId,
    /// The epoch of a migrating instance; 0 for a new one.
    epoch: u32,
    /// The instance of the replicating agent; `None` for a migrating instance.
    parent: Option<InstanceId>,
    /// Whether a migrating instance left as an anchor; `false` for a new one.
    pub(super) is_anchor: bool,
    has_arrived: bool,
}

impl LiveWorld {
    /// Adds an instance to those that a node owns, and checks that the cause allows it.
    pub(super) fn own(&mut self, node: u32, owned: &OwnedState, cause: &OwnCause) {
        let instance = &owned.instance;
        self.require_same_anchor(node, owned, cause);
        let expected_epoch = match cause {
            OwnCause::Taken { transfer, from } => self.arrive(node, instance, transfer, *from),
            OwnCause::NotTaken { transfer } => self.take_back(node, instance, transfer),
            OwnCause::Adopted { transfer } => {
                self.adopt(node, transfer);
                Some(1)
            }
            OwnCause::Replicated { parent } => {
                let is_here = self.nodes[node as usize].owned.contains_key(parent);
                self.require(is_here, node, FindingKind::Transfer, "a parent that it owns", &parent.to_string());
                Some(1)
            }
            OwnCause::Deployed => Some(1),
        };
        if let Some(epoch) = expected_epoch
            && epoch != owned.epoch
        {
            let (expected, found) = (format!("epoch {epoch}"), format!("epoch {}", owned.epoch));
            self.find(FindingKind::Epoch, instance_text(instance), expected, found);
        }
        let is_new = !matches!(cause, OwnCause::Taken { .. } | OwnCause::NotTaken { .. });
        if is_new && self.lives.contains_key(instance) {
            self.find(FindingKind::IdReused, instance_text(instance), "a fresh id", "one that was used before");
        }
        self.claim(node, instance, owned.epoch, matches!(cause, OwnCause::NotTaken { .. }));
        self.expect_arrival(node, owned, cause);
        self.nodes[node as usize].owned.insert(instance.clone(), owned.clone());
        // A notice applies only to one stay on one node.
        self.nodes[node as usize].notices.remove(instance);
    }

    /// Makes a node the owner of an instance. Checks that no node owns the instance yet, that it has not ended, and
    /// that its epoch has grown; with `comes_back`, the epoch may be the same.
    fn claim(&mut self, node: u32, instance: &InstanceId, epoch: u32, comes_back: bool) {
        let life = self.lives.entry(instance.clone()).or_default();
        let (owner, has_ended, last) = (life.owner, life.has_ended, life.epoch);
        (life.owner, life.epoch) = (Some(node), epoch.max(last));
        let who = instance_text(instance);
        if let Some(owner) = owner {
            let found = format!("{} owns it too", self.node_text(owner));
            self.find(FindingKind::Ownership, &who, format!("{} owns it alone", self.node_text(node)), found);
        }
        if has_ended {
            self.find(FindingKind::Ownership, &who, "no owner after its end", self.node_text(node));
        }
        let has_grown = epoch > last || (comes_back && epoch == last);
        if !has_grown {
            self.find(FindingKind::Epoch, &who, format!("an epoch after {last}"), epoch.to_string());
        }
    }

    /// Ends the reservation for an arriving instance. Checks that there was one, that the instance left its source for
    /// this node, and that it arrives only once. Returns its epoch on this node; `None` if its departure is not
    /// recorded.
    fn arrive(&mut self, node: u32, instance: &InstanceId, transfer: &str, from: u32) -> Option<u32> {
        self.nodes[node as usize].taken.insert(transfer.to_owned());
        let is_partial = self.nodes[node as usize].is_partial;
        let place = self.nodes[node as usize].reserved.remove(transfer);
        let is_kept = place.is_some_and(|place| place.instance == *instance);
        self.require(is_kept || is_partial, node, FindingKind::Transfer, "a reservation that it holds", transfer);
        // If this node still has the instance in custody from an earlier transfer, that custody ends.
        self.nodes[node as usize].end_custody(instance);
        let source = self.node_text(from);
        let Some(departure) = self.departures.get_mut(transfer) else {
            let is_excused = self.nodes[from as usize].is_partial;
            let found = "an arrival without it";
            if !is_excused {
                self.find(FindingKind::Transfer, instance_text(instance), format!("a departure from {source}"), found);
            }
            return None;
        };
        let fits = departure.from == from && departure.target == node && departure.instance == *instance;
        let (is_twice, epoch) = (departure.has_arrived, departure.epoch + 1);
        departure.has_arrived = true;
        if !fits || is_twice {
            let expected = format!("one arrival of an instance that left {source} for {}", self.node_text(node));
            let found = if is_twice { "a second one" } else { "another" };
            self.find(FindingKind::Transfer, instance_text(instance), expected, found);
        }
        Some(epoch)
    }

    /// Ends the custody of an instance whose target declined it. Reports an instance that this transfer did not hand
    /// over, or that has arrived by it. Returns the epoch; `None` if the instance was not in custody.
    fn take_back(&mut self, node: u32, instance: &InstanceId, transfer: &str) -> Option<u32> {
        let custody = self.nodes[node as usize].custody.remove(instance);
        let fits = custody.as_ref().is_some_and(|custody| custody.transfer == transfer);
        self.require(fits, node, FindingKind::Transfer, "an instance that it handed over", transfer);
        if self.departures.get(transfer).is_some_and(|departure| departure.has_arrived) {
            let found = "it arrived by the same transfer";
            self.find(FindingKind::Ownership, instance_text(instance), "it never arrives", found);
        }
        custody.map(|custody| custody.owned.epoch)
    }

    /// Ends the custody of an instance that was handed over to a lost node: its source continues it under a fresh id,
    /// and the old id may be missing at the end.
    fn adopt(&mut self, node: u32, transfer: &str) {
        let Some(instance) = self.nodes[node as usize].custody_by(transfer) else {
            return self.require(false, node, FindingKind::Transfer, "an instance that it handed over", transfer);
        };
        self.nodes[node as usize].custody.remove(&instance);
        self.lives.entry(instance).or_default().is_excused = true;
    }

    /// Places an instance on a node, and adds the outcome that the next cycle must have for it: a migrate if it was
    /// placed before, a replicate if its parent is known and has not ended, otherwise a deploy. An instance that
    /// returns because its target declined it has no outcome.
    fn expect_arrival(&mut self, node: u32, owned: &OwnedState, cause: &OwnCause) {
        let instance = owned.instance.clone();
        let before = self.placed.insert(instance.clone(), node);
        let parent = match cause {
            OwnCause::Taken { transfer, .. } => self.departures.get(transfer).and_then(|left| left.parent.clone()),
            OwnCause::Replicated { parent } => Some(parent.clone()),
            _ => None,
        };
        let parent = parent.filter(|parent| self.placed.contains_key(parent));
        let expected = match (before, parent) {
            (Some(_), _) if matches!(cause, OwnCause::NotTaken { .. }) => return,
            (Some(_), _) => Expected::Migrate { instance, node },
            (None, Some(parent)) => Expected::Replicate { parent, node, instance },
            (None, None) => Expected::Deploy { node, application: owned.application, instance },
        };
        self.expected.push_back(expected);
    }

    /// Checks that a handover was prepared, that the node owns the instance in this epoch, and that no node has it in
    /// custody with the same epoch. Moves the instance from the owned ones into custody, until the target has answered.
    pub(super) fn hand_over(
        &mut self,
        node: u32,
        instance: &InstanceId,
        epoch: u32,
        transfer: &str,
        target: u32,
        is_running: bool,
    ) {
        self.leave(node, transfer, instance);
        let Some(owned) = self.nodes[node as usize].owned.remove(instance) else {
            let found = format!("{} hands it over", self.node_text(node));
            return self.find(FindingKind::Ownership, instance_text(instance), "an owner hands it over", found);
        };
        if owned.epoch != epoch {
            let (expected, found) = (format!("epoch {}", owned.epoch), format!("epoch {epoch}"));
            self.find(FindingKind::Epoch, instance_text(instance), expected, found);
        }
        let others = self.nodes.iter().filter_map(|other| other.custody.get(instance));
        if others.filter(|custody| custody.owned.epoch == epoch).count() > 0 {
            let expected = "custodians with different epochs";
            self.find(FindingKind::Epoch, instance_text(instance), expected, format!("two with epoch {epoch}"));
        }
        self.lives.entry(instance.clone()).or_default().owner = None;
        let (transfer, is_ended) = (transfer.to_owned(), false);
        let is_anchor = owned.is_anchor;
        let custody = CustodyState { owned, transfer: transfer.clone(), target, is_running, is_ended };
        self.nodes[node as usize].custody.insert(instance.clone(), custody);
        let instance = instance.clone();
        let (parent, has_arrived) = (None, false);
        self.depart(transfer, Departure { from: node, target, instance, epoch, parent, is_anchor, has_arrived });
    }

    /// Checks that the offer of a new instance was prepared, and that the node owns the parent. Adds the offer to the
    /// open ones.
    pub(super) fn offer(&mut self, node: u32, offer: &OfferState) {
        self.leave(node, &offer.transfer, &offer.parent);
        let is_here = self.nodes[node as usize].owned.contains_key(&offer.parent);
        self.require(is_here, node, FindingKind::Transfer, "a parent that it owns", &offer.parent.to_string());
        self.nodes[node as usize].offers.insert(offer.transfer.clone(), offer.clone());
        let (instance, parent) = (offer.instance.clone(), Some(offer.parent.clone()));
        let (target, epoch, is_anchor, has_arrived) = (offer.target, 0, false, false);
        let departure = Departure { from: node, target, instance, epoch, parent, is_anchor, has_arrived };
        self.depart(offer.transfer.clone(), departure);
    }

    /// Checks that a transfer was prepared for this instance, unless the records of the node are incomplete, and ends
    /// the preparation. For an offer, `instance` is the parent.
    fn leave(&mut self, node: u32, transfer: &str, instance: &InstanceId) {
        let state = &mut self.nodes[node as usize];
        let prepared = state.preparing.remove(transfer);
        let fits = state.is_partial || prepared.as_ref() == Some(instance);
        self.require(fits, node, FindingKind::Transfer, "a transfer that its agent asked for", transfer);
    }

    fn depart(&mut self, transfer: String, departure: Departure) {
        let from = departure.from;
        if self.departures.insert(transfer.clone(), departure).is_some() {
            self.find(FindingKind::Transfer, self.node_text(from), "an id that no other transfer had", transfer);
        }
    }

    /// Marks an instance in custody as ended by an operator; a running copy then stops.
    pub(super) fn end_while_away(&mut self, node: u32, instance: &InstanceId) {
        let state = &mut self.nodes[node as usize];
        let Some(custody) = state.end_custody(instance) else {
            let found = instance.to_string();
            return self.require(false, node, FindingKind::Journal, "an instance that it handed over", &found);
        };
        let ended = CustodyState { is_running: false, is_ended: true, ..custody };
        state.custody.insert(instance.clone(), ended);
    }

    /// Ends a transfer that the source recorded as taken. Reports a transfer that is not open at the source, and
    /// a handed-over instance that has not arrived.
    pub(super) fn is_taken(&mut self, node: u32, transfer: &str) {
        let state = &mut self.nodes[node as usize];
        let is_offer = state.offers.remove(transfer).is_some();
        let handed_over = state.custody_by(transfer);
        if let Some(instance) = &handed_over {
            state.end_custody(instance);
        }
        let is_partial = state.is_partial;
        let is_open = is_offer || handed_over.is_some() || is_partial;
        self.require(is_open, node, FindingKind::Transfer, "an instance that it handed over or offered", transfer);
        let Some(departure) = self.departures.get(transfer) else { return };
        let is_excused = self.nodes[departure.target as usize].is_partial;
        // An offer need not have arrived: an offer to a lost node is dropped and recorded as taken, too.
        if let Some(instance) = handed_over
            && !departure.has_arrived
            && !is_excused
        {
            let found = "it was reported as taken, but did not arrive";
            self.find(FindingKind::Ownership, instance_text(&instance), "an owner", found);
        }
    }

    /// Ends an offer that the target declined, or the transfer of an instance that an operator has ended in custody and
    /// that the target declined, or whose target was declared lost. Reports any other transfer, and one that arrived.
    pub(super) fn is_not_taken(&mut self, node: u32, transfer: &str) {
        let state = &mut self.nodes[node as usize];
        let is_offer = state.offers.remove(transfer).is_some();
        let handed_over = state.custody_by(transfer).filter(|instance| state.custody[instance].is_ended);
        if let Some(instance) = &handed_over {
            state.end_custody(instance);
        }
        let is_open = is_offer || handed_over.is_some();
        self.require(is_open, node, FindingKind::Transfer, "an instance that it offered, or that was ended", transfer);
        if self.departures.get(transfer).is_some_and(|departure| departure.has_arrived) {
            self.require(false, node, FindingKind::Transfer, "a transfer that did not arrive", transfer);
        }
        if let Some(instance) = handed_over {
            self.lives.entry(instance.clone()).or_default().has_ended = true;
            self.expect_end(instance);
        }
    }

    /// Removes an instance that ended here.
    pub(super) fn undeployed(&mut self, node: u32, instance: &InstanceId) {
        let state = &mut self.nodes[node as usize];
        let Some(owned) = state.owned.remove(instance) else {
            let found = format!("{} ends it", self.node_text(node));
            return self.find(FindingKind::Ownership, instance_text(instance), "an owner ends it", found);
        };
        state.drain(&owned);
        state.ended_notice = state.notices.remove(instance).map(|notice| (instance.clone(), notice));
        self.require_no_anchor(node, &owned);
        let life = self.lives.entry(instance.clone()).or_default();
        (life.owner, life.has_ended) = (None, true);
        self.expect_end(instance.clone());
    }

    fn expect_end(&mut self, instance: InstanceId) {
        if self.placed.remove(&instance).is_some() {
            self.expected.push_back(Expected::Undeploy { instance });
        }
    }

    /// Checks a request that is sent to a target: the node owns the instance, the agent has no other transfer in
    /// preparation, the id of the transfer is fresh and starts with the id of the journal, and the request is the
    /// agent's last proposal, with the exceptions of [`LiveWorld::require_proposed`].
    pub(super) fn prepare(
        &mut self,
        node: u32,
        transfer: &str,
        instance: &InstanceId,
        operation: AgentOperation,
        target: u32,
    ) {
        let state = &self.nodes[node as usize];
        let is_owner = state.owned.contains_key(instance);
        let has_other = state.preparing.values().any(|other| other == instance);
        let is_named_right = state.journal.as_ref().is_none_or(|journal| transfer.starts_with(journal.as_str()));
        let who = instance_text(instance);
        if !is_owner {
            let found = format!("the agent on {}", self.node_text(node));
            self.find(FindingKind::Ownership, &who, "the agent of its owner asks", found);
        }
        self.require(!has_other, node, FindingKind::Transfer, "one open transfer for each agent", transfer);
        let is_fresh = is_named_right && !self.departures.contains_key(transfer);
        self.require(is_fresh, node, FindingKind::Transfer, "a fresh id that names its journal", transfer);
        self.require_proposed(node, instance, operation, target);
        self.nodes[node as usize].preparing.insert(transfer.to_owned(), instance.clone());
    }

    /// Notes that an instance may be missing, because its node lost its disk or has a gap in its records. The node no
    /// longer owns it.
    pub(super) fn lost_with_disk(&mut self, node: u32, instance: &InstanceId) {
        let life = self.lives.entry(instance.clone()).or_default();
        life.is_excused = true;
        if life.owner == Some(node) {
            life.owner = None;
        }
    }

    /// Updates owners and placement after a node with missing records reported its state. `before` has the instances
    /// that the node owned according to its earlier records.
    pub(super) fn claim_all(&mut self, node: u32, before: &[InstanceId], state: &NodeState) {
        for instance in before {
            if state.owned.iter().all(|owned| owned.instance != *instance) {
                self.lost_with_disk(node, instance);
            }
        }
        for owned in &state.owned {
            let instance = &owned.instance;
            let is_here = self.lives.get(instance).is_some_and(|life| life.owner == Some(node));
            if !is_here {
                self.claim(node, instance, owned.epoch, true);
            }
            if self.placed.get(instance) != Some(&node) {
                self.expect_arrival(node, owned, &OwnCause::Deployed);
            }
        }
    }

    /// Checks that every instance that has neither ended nor been excused is owned or in custody. Not checked if the
    /// records of any node are incomplete.
    pub(super) fn require_nothing_lost(&mut self) {
        let is_kept = |instance: &InstanceId| self.nodes.iter().any(|node| node.custody.contains_key(instance));
        let has_silent = self.nodes.iter().any(|node| node.is_partial);
        let lost = self.lives.iter().filter(|(instance, life)| {
            life.owner.is_none() && !life.has_ended && !life.is_excused && !has_silent && !is_kept(instance)
        });
        let lost: Vec<InstanceId> = lost.map(|(instance, _)| instance.clone()).collect();
        for instance in lost {
            self.find(FindingKind::Ownership, instance_text(&instance), "an owner, or a custodian", "none");
        }
    }
}
