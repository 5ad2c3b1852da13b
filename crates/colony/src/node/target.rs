//! The target of a transfer: judge, reserve, take. Taking is crash-safe, because one record makes this node the owner,
//! and idempotent: duplicate and late messages are detected by the transfer's id and the reservation's token.

use std::sync::Arc;

use mario_domain::{FlavourIndex, Inhibition, NodeId, Rule, Target};

use super::agents::agent_request;
use super::{Incoming, Step};
use crate::descriptor::Copies;
use crate::ids::{JournalId, Token, TransferId, WorkloadId};
use crate::input::{Effect, TraceEvent};
use crate::journal::{Custody, JournalRecord, OwnCause, Owned};
use crate::message::{AgentSnapshot, Message, Prepare, TransferKind};
use crate::rules::Concern;

impl Step<'_> {
    /// Handles a request for hardware, unless the transfer belongs to another journal than the sender's. Requests are
    /// judged one after another. For an accepted request, hardware is reserved and a copy is started, unless it starts
    /// only when the instance is taken. A duplicate of an accepted request gets `Ready` again, or no answer while the
    /// copy starts or after the instance was taken. A duplicate of an inhibited request, or of one whose reservation
    /// was dropped, is judged again.
    pub(super) fn prepare(&mut self, from: &NodeId, sender: JournalId, prepare: Arc<Prepare>) {
        let transfer = prepare.transfer;
        if transfer.journal != sender || self.state.ledger.taken.contains_key(&transfer) {
            return;
        }
        if let Some(place) = self.state.incoming.get(&transfer) {
            if let Some(token) = place.token {
                self.send(from, sender, Message::Ready { transfer, token });
            }
            return;
        }
        if let Err(rule) = self.judge_arrival(from, &prepare) {
            let inhibition = Inhibition { node: self.own_id(), rule };
            return self.send(from, sender, Message::Inhibit { transfer, inhibition });
        }
        let descriptor = Arc::clone(&prepare.descriptor);
        let workload = self.state.ids.workload();
        let instance = prepare.instance.clone();
        let flavour = descriptor.application.flavour(prepare.flavour).map(|flavour| flavour.id.clone());
        let needed = prepare.needed();
        self.state.manager.reserve(transfer, needed);
        let expires = self.now + self.state.config.timing.reservation_timeout;
        let place = Incoming { from: from.clone(), sender, prepare, workload, token: None, expires };
        let starts_later = place.starts_later();
        self.state.incoming.insert(transfer, place);
        let (from, kept) = (from.clone(), Arc::clone(&descriptor));
        let reserved =
            TraceEvent::Reserved { transfer, from, instance: instance.clone(), workload, descriptor: kept, needed };
        self.report(reserved);
        if starts_later {
            // The copy starts only when this node owns the instance, even for a replica: this message may be a late
            // duplicate, and the replica may already be on another node. The copy of a sleeping instance starts when
            // the instance wakes.
            self.healthy(workload);
        } else {
            self.effects.push(Effect::Start { workload, instance, descriptor, flavour });
        }
    }

    fn judge_arrival(&mut self, from: &NodeId, prepare: &Prepare) -> Result<(), Rule> {
        let (state, limits) = (&*self.state, self.state.config.limits);
        state.can_create()?;
        if prepare.snapshot_bytes > limits.snapshot_bytes_max {
            return Err(Rule::Oversized { bytes: prepare.snapshot_bytes, bytes_max: limits.snapshot_bytes_max });
        }
        if state.incoming.len() >= limits.incoming_max || state.ledger.unforgotten().count() >= limits.taken_max {
            return Err(Rule::Busy);
        }
        if !self.is_newer(prepare) {
            return Err(Rule::Unanswered);
        }
        self.reasoner.check(self.state, &prepare.descriptor)?;
        if prepare.flavour != FlavourIndex::DEFAULT && prepare.descriptor.application.flavour(prepare.flavour).is_none()
        {
            return Err(Rule::Descriptor {
                cause: "it does not have the flavour that the instance runs in".to_owned(),
            });
        }
        if prepare.wakefulness.is_asleep() && prepare.descriptor.application.sleep.is_none() {
            return Err(Rule::Sleepless);
        }
        let operation = prepare.kind.operation().towards(Target::Node(self.own_id()));
        let application = prepare.descriptor.application.id.clone();
        let Some(request) = agent_request(&prepare.asked_by, from.clone(), application, operation) else {
            return Err(Rule::Unanswered);
        };
        let needed = prepare.needed();
        self.judge_here(Concern { arrives: Some(needed), ..Concern::default() }, &request, &prepare.descriptor, needed)
    }

    /// Returns false if this node owns the instance on offer, or has it in custody at the same or a later epoch.
    fn is_newer(&self, prepare: &Prepare) -> bool {
        let ledger = &self.state.ledger;
        let custody = ledger.custody.get(&prepare.instance);
        !ledger.owned.contains_key(&prepare.instance)
            && custody.is_none_or(|custody| prepare.epoch > custody.owned.epoch)
    }

    /// Called when a copy is healthy, and at once for a reservation whose copy starts later. If the copy is that of a
    /// reservation, tells the source that this node is ready.
    pub(super) fn healthy(&mut self, workload: WorkloadId) {
        self.restarted(workload);
        let place = self.state.incoming.iter_mut().find(|(_, place)| place.workload == workload);
        let Some((transfer, place)) = place else { return };
        if place.token.is_some() {
            return;
        }
        let token = self.state.ids.token();
        place.token = Some(token);
        let (transfer, from, sender) = (*transfer, place.from.clone(), place.sender);
        self.send(&from, sender, Message::Ready { transfer, token });
    }

    /// Called when a copy did not start. If it was started for a reservation, drops the reservation and inhibits the
    /// request; the copy of an instance that is owned or in custody is restarted later.
    pub(super) fn not_started(&mut self, workload: WorkloadId, cause: String) {
        let place = self.state.incoming.iter().find(|(_, place)| place.workload == workload);
        let Some((transfer, place)) = place else { return self.restart_later(workload, cause) };
        let (transfer, from, sender) = (*transfer, place.from.clone(), place.sender);
        self.drop_reservation(transfer);
        let inhibition = Inhibition { node: self.own_id(), rule: Rule::NotStarted { cause } };
        self.send(&from, sender, Message::Inhibit { transfer, inhibition });
    }

    /// Called when the source no longer wants the reservation.
    pub(super) fn aborted(&mut self, sender: JournalId, transfer: TransferId) {
        if transfer.journal == sender {
            self.drop_reservation(transfer);
        }
    }

    /// Drops a reservation. If a copy was started for it, its hardware counts as used until the copy has stopped.
    pub(super) fn drop_reservation(&mut self, transfer: TransferId) {
        let Some(place) = self.state.incoming.remove(&transfer) else { return };
        let reserved = self.state.manager.release(&transfer);
        let is_started = !place.starts_later();
        self.report(TraceEvent::Released { transfer, workload: place.workload, is_started });
        if let Some(needed) = reserved.filter(|_| is_started) {
            let is_counted = self.state.manager.take(needed);
            debug_assert!(is_counted.is_ok(), "what was reserved fits");
            self.state.dropped.insert(place.workload, needed);
            self.effects.push(Effect::Stop(place.workload));
        }
    }

    /// Called when the source hands an instance over or offers it. Ignored if the transfer belongs to another journal
    /// than the sender's. If this node has taken the instance by this transfer before, it answers `Taken` again. If the
    /// token is that of the transfer's reservation, `is_newer` holds and the snapshot is within the limit, this node
    /// takes the instance: the transfer takes effect with the record written here. In all other cases, any reservation
    /// for the transfer is dropped, and the answer is `NotTaken`.
    pub(super) fn transfer(
        &mut self,
        from: &NodeId,
        sender: JournalId,
        (transfer, token): (TransferId, Token),
        (snapshot, is_anchor): (&Arc<AgentSnapshot>, bool),
        concerning: u64,
    ) {
        if transfer.journal != sender {
            return;
        }
        if self.state.ledger.taken.contains_key(&transfer) {
            let concerning = self.state.ledger.concerning(from);
            return self.send(from, sender, Message::Taken { transfer, concerning });
        }
        let place = self.state.incoming.get(&transfer);
        let is_valid = place.is_some_and(|place| place.token == Some(token) && self.is_newer(&place.prepare))
            && snapshot.bytes() <= self.state.config.limits.snapshot_bytes_max;
        if !is_valid {
            self.drop_reservation(transfer);
            return self.send(from, sender, Message::NotTaken { transfer });
        }
        self.take(transfer, from, (snapshot, is_anchor), concerning);
        self.retry_later(transfer);
        let concerning = self.state.ledger.concerning(from);
        self.send(from, sender, Message::Taken { transfer, concerning });
    }

    fn take(
        &mut self,
        transfer: TransferId,
        from: &NodeId,
        (snapshot, is_anchor): (&Arc<AgentSnapshot>, bool),
        concerning: u64,
    ) {
        let Some(place) = self.state.incoming.remove(&transfer) else { return };
        self.state.manager.release(&transfer);
        let starts_later = place.starts_later();
        let Incoming { prepare, workload, .. } = place;
        // The instance may return before its older custody here has ended.
        let returned = self.state.ledger.custody.get(&prepare.instance).cloned();
        let owned = Owned {
            instance: prepare.instance.clone(),
            epoch: prepare.epoch.next(),
            workload,
            descriptor: Arc::clone(&prepare.descriptor),
            flavour: prepare.flavour,
            wakefulness: prepare.wakefulness,
            snapshot: Arc::clone(snapshot),
            replications_left: prepare.replications_left,
            is_pinned: false,
            // A replica is no anchor, whatever its source claims.
            is_anchor: is_anchor && prepare.kind == TransferKind::Migrate,
        };
        let arrived =
            TraceEvent::Arrived { instance: owned.instance.clone(), epoch: owned.epoch, from: from.clone(), transfer };
        let cause = OwnCause::Taken { transfer, from: from.clone(), concerning };
        if starts_later {
            self.own(owned, cause);
        } else {
            self.start_agent(&owned);
            self.journal(JournalRecord::Own { owned, cause });
        }
        if let Some(custody) = returned {
            self.returned(&custody);
        }
        self.report(arrived);
    }

    /// Called when an instance returns before the target of its older custody has answered. Reports the older transfer
    /// as accepted: without it, the instance could not have come back.
    fn returned(&mut self, custody: &Custody) {
        self.state.retries.remove(&custody.transfer);
        if custody.is_running {
            self.effects.push(Effect::Drain(custody.owned.workload));
        }
        let Owned { instance, descriptor, .. } = &custody.owned;
        if custody.is_ended {
            // An operator ended the instance in custody, but the target had taken it or took it later.
            self.report(TraceEvent::LivesOn { instance: instance.clone(), node: self.own_id() });
        }
        self.report_taken(instance, &descriptor.application.id, &custody.target, None);
    }

    /// Called when the source needs no more answers about a transfer. A duplicate is ignored.
    pub(super) fn forget(&mut self, sender: JournalId, transfer: TransferId) {
        if transfer.journal == sender && self.state.ledger.taken.contains_key(&transfer) {
            self.state.retries.remove(&transfer);
            self.journal(JournalRecord::Forgotten { transfer });
        }
    }
}

impl Incoming {
    /// Whether no copy starts for the reservation before the instance is taken.
    fn starts_later(&self) -> bool {
        self.prepare.descriptor.copies == Copies::Exclusive || self.prepare.wakefulness.is_asleep()
    }
}
