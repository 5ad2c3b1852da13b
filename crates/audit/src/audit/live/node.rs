//! One live node, replayed from its records.

use std::collections::{BTreeMap, BTreeSet};

use mario_domain::{Capacity, Hardware, InstanceId};

use super::LiveWorld;
use super::owners::EvictionNotice;
use crate::finding::FindingKind;
use crate::reader::{CustodyState, Live, LiveEvent, NodeState, OfferState, OwnedState, ReservedState};

/// The state of a node according to its records.
pub(super) struct LiveNode {
    pub(super) journal: Option<String>,
    boot: Option<u32>,
    capacity: Capacity,
    /// The number of its last journal record; `None` before the first.
    number: Option<u64>,
    /// Whether the trace lacks records of the node: all of them, the first ones, or some in between.
    pub(super) is_partial: bool,
    has_records: bool,
    pub(super) owned: BTreeMap<InstanceId, OwnedState>,
    pub(super) custody: BTreeMap<InstanceId, CustodyState>,
    pub(super) offers: BTreeMap<String, OfferState>,
    pub(super) draining: BTreeMap<String, Hardware>,
    /// By the id of a copy, the hardware that it still uses beyond the needs of its instance. It does so until it has
    /// been restarted with less hardware, or has stopped for a sleep.
    pub(super) shrinking: BTreeMap<String, Hardware>,
    pub(super) taken: BTreeSet<String>,
    pub(super) reserved: BTreeMap<String, ReservedState>,
    pub(super) released: BTreeMap<String, Hardware>,
    pub(super) preparing: BTreeMap<String, InstanceId>,
    pub(super) up: Vec<u32>,
    pub(super) introduced: Vec<u32>,
    /// Whether an operator ever drained it. Then its transfers need no proposal of an agent.
    pub(super) was_drained: bool,
    /// Instances whose eviction was announced.
    pub(super) notices: BTreeMap<InstanceId, EvictionNotice>,
    /// The instance that an operator undeploys, until the node records its end.
    pub(super) undeploying: Option<InstanceId>,
    /// The last undeployed instance and its notice, if its eviction had been announced.
    pub(super) ended_notice: Option<(InstanceId, EvictionNotice)>,
}

impl LiveNode {
    pub(super) fn new(capacity: Capacity) -> LiveNode {
        LiveNode {
            journal: None,
            boot: None,
            capacity,
            number: None,
            is_partial: false,
            has_records: false,
            owned: BTreeMap::new(),
            custody: BTreeMap::new(),
            offers: BTreeMap::new(),
            draining: BTreeMap::new(),
            shrinking: BTreeMap::new(),
            taken: BTreeSet::new(),
            reserved: BTreeMap::new(),
            released: BTreeMap::new(),
            preparing: BTreeMap::new(),
            up: Vec::new(),
            introduced: Vec::new(),
            was_drained: false,
            notices: BTreeMap::new(),
            undeploying: None,
            ended_notice: None,
        }
    }

    /// The hardware that is not free: that of owned instances, of instances in custody that no operator has ended
    /// (even if their copies no longer run), of stopping copies and of copies of dropped reservations, and the surplus
    /// of shrinking copies. Reservations are not included.
    fn used(&self) -> Hardware {
        let owned = self.owned.values().map(|owned| owned.needed);
        let custody = self.custody.values().filter(|custody| !custody.is_ended).map(|custody| custody.owned.needed);
        let stopping = self.draining.values().chain(self.released.values()).chain(self.shrinking.values()).copied();
        owned.chain(custody).chain(stopping).fold(Hardware::NONE, Hardware::saturating_add)
    }

    /// Its total hardware.
    pub(super) fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// The hardware that is free, if reservations are ignored.
    pub(super) fn free(&self) -> Capacity {
        self.capacity.take(self.used()).unwrap_or(Capacity::Bounded(Hardware::NONE))
    }

    /// The sum of the used and reserved hardware if it exceeds the capacity; otherwise `None`.
    fn excess(&self) -> Option<Hardware> {
        let reserved = self.reserved.values().map(|reserved| reserved.needed);
        let sum = reserved.fold(self.used(), Hardware::saturating_add);
        (!sum.fits(self.capacity)).then_some(sum)
    }

    /// Ends the custody of an instance; a running copy then stops. Returns `None` if the instance is not in custody.
    pub(super) fn end_custody(&mut self, instance: &InstanceId) -> Option<CustodyState> {
        let custody = self.custody.remove(instance)?;
        if custody.is_running {
            self.drain(&custody.owned);
        }
        Some(custody)
    }

    /// Marks the copy of an instance as stopping. Its hardware, with any surplus, counts as used until it has stopped.
    pub(super) fn drain(&mut self, owned: &OwnedState) {
        let surplus = self.shrinking.remove(&owned.workload).unwrap_or(Hardware::NONE);
        self.draining.insert(owned.workload.clone(), owned.needed.saturating_add(surplus));
    }

    /// Changes the application, flavour and hardware of an instance. Returns whether the node owns the instance. If the
    /// instance now needs less hardware than its copy uses, the surplus counts as used until [`LiveEvent::Shrunk`].
    fn change(&mut self, instance: &InstanceId, application: u32, flavour: u32, needed: Hardware) -> bool {
        let Some(owned) = self.owned.get_mut(instance) else { return false };
        let surplus = self.shrinking.remove(&owned.workload).unwrap_or(Hardware::NONE);
        let used = owned.needed.saturating_add(surplus);
        (owned.application, owned.flavour, owned.needed) = (application, flavour, needed);
        let surplus = used.saturating_sub(needed);
        if surplus != Hardware::NONE {
            self.shrinking.insert(owned.workload.clone(), surplus);
        }
        true
    }

    /// The instance in custody that this transfer handed over, if any.
    pub(super) fn custody_by(&self, transfer: &str) -> Option<InstanceId> {
        let custody = self.custody.values().find(|custody| custody.transfer == transfer);
        custody.map(|custody| custody.owned.instance.clone())
    }

    fn restart(&mut self) {
        self.reserved.clear();
        self.released.clear();
        self.preparing.clear();
        self.up.clear();
        self.introduced.clear();
        self.notices.clear();
        self.undeploying = None;
    }

    /// The first difference between the replayed and the reported state, in words; `None` if they are the same.
    fn differs(&self, state: &NodeState) -> Option<(String, String)> {
        fn difference<T: PartialEq + std::fmt::Debug>(
            what: &str,
            replayed: &[T],
            reported: &[T],
        ) -> Option<(String, String)> {
            let is_same = replayed.len() == reported.len() && replayed.iter().all(|one| reported.contains(one));
            (!is_same).then(|| (format!("{what}: {replayed:?}"), format!("{reported:?}")))
        }
        let pairs = |map: &BTreeMap<String, Hardware>| {
            map.iter().map(|(name, needed)| (name.clone(), *needed)).collect::<Vec<_>>()
        };
        let preparing = self.preparing.iter().map(|(transfer, instance)| (transfer.clone(), instance.clone()));
        difference("owned", &self.owned.values().cloned().collect::<Vec<_>>(), &state.owned)
            .or_else(|| difference("custody", &self.custody.values().cloned().collect::<Vec<_>>(), &state.custody))
            .or_else(|| difference("offers", &self.offers.values().cloned().collect::<Vec<_>>(), &state.offers))
            .or_else(|| difference("draining", &pairs(&self.draining), &state.draining))
            .or_else(|| difference("shrinking", &pairs(&self.shrinking), &state.shrinking))
            .or_else(|| difference("taken", &self.taken.iter().cloned().collect::<Vec<_>>(), &state.taken))
            .or_else(|| difference("reserved", &self.reserved.values().cloned().collect::<Vec<_>>(), &state.reserved))
            .or_else(|| difference("released", &pairs(&self.released), &state.released))
            .or_else(|| difference("preparing", &preparing.collect::<Vec<_>>(), &state.preparing))
    }

    /// Replaces the replayed state by the reported one.
    fn set(&mut self, state: &NodeState) {
        let state = state.clone();
        self.number = Some(state.records);
        self.owned = state.owned.into_iter().map(|owned| (owned.instance.clone(), owned)).collect();
        let custody = state.custody.into_iter();
        self.custody = custody.map(|custody| (custody.owned.instance.clone(), custody)).collect();
        self.offers = state.offers.into_iter().map(|offer| (offer.transfer.clone(), offer)).collect();
        self.draining = state.draining.into_iter().collect();
        self.shrinking = state.shrinking.into_iter().collect();
        self.taken = state.taken.into_iter().collect();
        self.reserved = state.reserved.into_iter().map(|reserved| (reserved.transfer.clone(), reserved)).collect();
        self.released = state.released.into_iter().collect();
        self.preparing = state.preparing.into_iter().collect();
    }
}

impl LiveWorld {
    /// Checks an event on a node, and updates the state of the node.
    pub(super) fn live(&mut self, live: &Live) {
        let node = live.node;
        if !self.nodes[node as usize].has_records {
            self.nodes[node as usize].has_records = true;
            // Unless the first record is number 1 of the journal, the trace lacks the records before it.
            self.nodes[node as usize].is_partial |= live.number != Some(1);
        }
        let is_numbered = !matches!(
            live.event,
            LiveEvent::State(_)
                | LiveEvent::Prepare { .. }
                | LiveEvent::Aborted { .. }
                | LiveEvent::Reserved(_)
                | LiveEvent::Released { .. }
                | LiveEvent::Freed { .. }
                | LiveEvent::Neighbours { .. }
                | LiveEvent::Draining { .. }
                | LiveEvent::Undeploying { .. }
                | LiveEvent::WakeRefused { .. }
        );
        self.number(live, is_numbered);
        self.follow(node, &live.event);
        if let Some(excess) = self.nodes[node as usize].excess() {
            let expected = format!("at most {} used and reserved", self.nodes[node as usize].capacity);
            self.find(FindingKind::Capacity, self.node_text(node), expected, excess.to_string());
        }
    }

    /// Checks that the record has a number if and only if the journal has events of this kind (`is_numbered`), and that
    /// the numbers of a journal are consecutive.
    fn number(&mut self, live: &Live, is_numbered: bool) {
        let state = &mut self.nodes[live.node as usize];
        let is_new_journal = match &live.event {
            LiveEvent::Boot { journal, .. } => state.journal.as_ref().is_some_and(|known| known != journal),
            _ => false,
        };
        let last = if is_new_journal { Some(0) } else { state.number };
        let fits = match (live.number, last) {
            (None, _) => !is_numbered,
            (Some(number), Some(last)) => is_numbered && number == last + 1,
            (Some(_), None) => is_numbered,
        };
        let expected = match last {
            _ if !is_numbered => "no record of the journal".to_owned(),
            Some(last) => format!("record {} of its journal", last + 1),
            None => "a record of its journal".to_owned(),
        };
        state.number = live.number.or(state.number);
        if !fits {
            let found = live.number.map_or("none".to_owned(), |number| format!("record {number}"));
            self.find(FindingKind::Journal, self.node_text(live.node), expected, found);
        }
    }

    fn follow(&mut self, node: u32, event: &LiveEvent) {
        match event {
            LiveEvent::Boot { journal, boot, capacity } => self.boot(node, journal, *boot, *capacity),
            LiveEvent::State(state) => self.state(node, state),
            LiveEvent::Own { owned, cause } => self.own(node, owned, cause),
            LiveEvent::Custody { instance, epoch, transfer, target, is_running } => {
                self.hand_over(node, instance, *epoch, transfer, *target, *is_running);
            }
            LiveEvent::CustodyEnded { instance } => self.end_while_away(node, instance),
            LiveEvent::Offer(offer) => self.offer(node, offer),
            LiveEvent::Taken { transfer } => self.is_taken(node, transfer),
            LiveEvent::NotTaken { transfer } => self.is_not_taken(node, transfer),
            LiveEvent::Undeployed { instance } => self.undeployed(node, instance),
            LiveEvent::Stopped { workload } => {
                let was_there = self.nodes[node as usize].draining.remove(workload).is_some();
                self.require(was_there, node, FindingKind::Journal, "a copy that is to stop", workload);
            }
            LiveEvent::Forgotten { transfer } => {
                let was_there = self.nodes[node as usize].taken.remove(transfer);
                self.require(was_there, node, FindingKind::Transfer, "a transfer that it took", transfer);
            }
            LiveEvent::Pinned { instance, .. } => {
                let is_there = self.nodes[node as usize].owned.contains_key(instance);
                self.require(is_there, node, FindingKind::Journal, "an instance that it owns", &instance.to_string());
            }
            LiveEvent::Anchored { instance, is_anchor } => self.set_anchor(node, instance, *is_anchor),
            LiveEvent::Undeploying { instance } => self.nodes[node as usize].undeploying = Some(instance.clone()),
            LiveEvent::Updated { instance, application, needed, flavour } => {
                // A sleeping instance does not use the hardware of its flavour.
                let keeps = self.header.applications[*application as usize].held_in(*flavour, true);
                let needed = if self.is_asleep(node, instance) { keeps } else { *needed };
                let is_there = self.nodes[node as usize].change(instance, *application, *flavour, needed);
                self.require(is_there, node, FindingKind::Journal, "an instance that it owns", &instance.to_string());
            }
            LiveEvent::Adapted { instance, flavour } => {
                let application = self.nodes[node as usize].owned.get(instance).map(|owned| owned.application);
                let is_there = application.is_some_and(|application| {
                    let is_asleep = self.is_asleep(node, instance);
                    let needed = self.header.applications[application as usize].held_in(*flavour, is_asleep);
                    self.nodes[node as usize].change(instance, application, *flavour, needed)
                });
                self.require(is_there, node, FindingKind::Journal, "an instance that it owns", &instance.to_string());
            }
            LiveEvent::Slept { instance } => self.change_sleep(node, instance, true),
            LiveEvent::Woke { instance } => self.change_sleep(node, instance, false),
            LiveEvent::WakeRefused { instance, .. } => self.require_asleep(node, instance),
            LiveEvent::Shrunk { workload } => {
                let was_there = self.nodes[node as usize].shrinking.remove(workload).is_some();
                self.require(was_there, node, FindingKind::Journal, "a shrinking copy", workload);
            }
            LiveEvent::Lost { .. } | LiveEvent::Outdated { .. } | LiveEvent::Peer { .. } => {}
            LiveEvent::Prepare { transfer, instance, operation, target } => {
                self.prepare(node, transfer, instance, *operation, *target);
            }
            LiveEvent::Aborted { transfer } => {
                let was_there = self.nodes[node as usize].preparing.remove(transfer).is_some();
                self.require(was_there, node, FindingKind::Transfer, "a transfer that it prepares", transfer);
            }
            LiveEvent::Reserved(reserved) => {
                let before = self.nodes[node as usize].reserved.insert(reserved.transfer.clone(), reserved.clone());
                let transfer = &reserved.transfer;
                self.require(before.is_none(), node, FindingKind::Transfer, "one reservation per transfer", transfer);
            }
            LiveEvent::Released { transfer, is_started } => self.release(node, transfer, *is_started),
            LiveEvent::Freed { workload } => {
                let was_there = self.nodes[node as usize].released.remove(workload).is_some();
                self.require(was_there, node, FindingKind::Transfer, "the copy of a released reservation", workload);
            }
            LiveEvent::Neighbours { up, told: introduced } => {
                self.follow_neighbours(node, up, introduced);
            }
            LiveEvent::Drained { is_draining } | LiveEvent::Draining { is_draining } => {
                self.nodes[node as usize].was_drained |= is_draining;
            }
        }
    }

    /// The node tells which of its links are up, and on which of them both ends have introduced themselves.
    fn follow_neighbours(&mut self, node: u32, up: &[u32], introduced: &[u32]) {
        let state = &mut self.nodes[node as usize];
        (state.up, state.introduced) = (up.to_vec(), introduced.to_vec());
        let links = &self.header.nodes[node as usize].neighbours;
        if let Some(stranger) = up.iter().find(|other| !links.contains(other)) {
            let found = self.node_text(*stranger);
            self.find(FindingKind::Context, self.node_text(node), "neighbours that the header has", found);
        }
    }

    fn require_asleep(&mut self, node: u32, instance: &InstanceId) {
        let is_asleep = self.is_asleep(node, instance);
        self.require(is_asleep, node, FindingKind::Sleep, "an instance that sleeps", &instance.to_string());
    }

    fn is_asleep(&self, node: u32, instance: &InstanceId) -> bool {
        self.nodes[node as usize].owned.get(instance).is_some_and(|owned| owned.is_asleep)
    }

    /// Puts an owned instance to sleep or wakes it, and changes its hardware. Reports an instance that is not owned, is
    /// already in that state, or cannot sleep.
    fn change_sleep(&mut self, node: u32, instance: &InstanceId, falls_asleep: bool) {
        let owned = self.nodes[node as usize].owned.get_mut(instance);
        let Some(owned) = owned.filter(|owned| owned.is_asleep != falls_asleep) else {
            let expected = if falls_asleep { "an instance that is awake" } else { "an instance that sleeps" };
            return self.find(FindingKind::Sleep, self.node_text(node), expected, instance.to_string());
        };
        owned.is_asleep = falls_asleep;
        let (application, flavour) = (owned.application, owned.flavour);
        let described = &self.header.applications[application as usize];
        if falls_asleep && described.sleep.is_none() {
            let found = format!("instance {instance}, which cannot");
            self.find(FindingKind::Sleep, self.node_text(node), "an instance that can sleep", found);
        }
        let held = self.header.applications[application as usize].held_in(flavour, falls_asleep);
        self.nodes[node as usize].change(instance, application, flavour, held);
    }

    pub(super) fn require(&mut self, holds: bool, node: u32, kind: FindingKind, expected: &str, found: &str) {
        if !holds {
            self.find(kind, self.node_text(node), expected, found);
        }
    }

    fn boot(&mut self, node: u32, journal: &str, boot: u32, capacity: Capacity) {
        let state = &mut self.nodes[node as usize];
        let is_same = state.journal.as_deref() == Some(journal);
        let is_next = state.boot.is_none_or(|last| boot == last + 1);
        let was_there = state.journal.is_some();
        state.restart();
        (state.journal, state.boot, state.capacity) = (Some(journal.to_owned()), Some(boot), capacity);
        if is_same || !was_there {
            self.require(is_next, node, FindingKind::Journal, "consecutive starts", &format!("start {boot}"));
            return;
        }
        // The node lost its disk and restarts with a new journal, so its instances may be lost.
        let lost: Vec<InstanceId> = state.owned.keys().chain(state.custody.keys()).cloned().collect();
        let is_partial = state.is_partial;
        let header = self.nodes[node as usize].capacity;
        self.nodes[node as usize] =
            LiveNode { is_partial, has_records: true, number: Some(1), ..LiveNode::new(header) };
        (self.nodes[node as usize].journal, self.nodes[node as usize].boot) = (Some(journal.to_owned()), Some(boot));
        for instance in lost {
            self.lost_with_disk(node, &instance);
        }
    }

    fn state(&mut self, node: u32, state: &NodeState) {
        let known = &mut self.nodes[node as usize];
        if state.follows && known.number.is_some() {
            let expected = known.number.unwrap_or(0);
            let differs = known.differs(state);
            self.require(
                state.records == expected,
                node,
                FindingKind::Journal,
                &format!("{expected} records"),
                &state.records.to_string(),
            );
            if let Some((expected, found)) = differs {
                self.find(FindingKind::Journal, self.node_text(node), expected, found);
            }
            return;
        }
        known.is_partial = true;
        let before: Vec<InstanceId> = known.owned.keys().cloned().collect();
        known.set(state);
        self.claim_all(node, &before, state);
    }

    fn release(&mut self, node: u32, transfer: &str, is_started: bool) {
        let state = &mut self.nodes[node as usize];
        let Some(reserved) = state.reserved.remove(transfer) else {
            return self.require(false, node, FindingKind::Transfer, "a reservation that it holds", transfer);
        };
        if is_started {
            state.released.insert(reserved.workload, reserved.needed);
        }
    }
}
