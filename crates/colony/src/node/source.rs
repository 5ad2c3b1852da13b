//! The source of a transfer: prepare, custody, gone. Handing over is crash-safe, because custody is on disk before the
//! instance is sent, and idempotent: duplicate and late answers are detected by the state of the transfer.

use std::sync::Arc;

use mario_domain::{ApplicationId, Inhibition, InstanceId, NodeId, Rule, Target, Verdict};

use super::agents::split_replications;
use super::{Confirmation, Outgoing, Retry, Step};
use crate::descriptor::Copies;
use crate::ids::{Epoch, JournalId, Token, TransferId, WorkloadId};
use crate::input::{Effect, Proposal, TraceEvent};
use crate::journal::{Custody, Grant, JournalRecord, OwnCause};
use crate::message::{AgentSnapshot, Message, Prepare, TransferKind};

impl Step<'_> {
    /// Starts a transfer after this node's manager has accepted the request: freezes the agent, and asks the target.
    /// Inhibits the request instead if the target has not introduced itself, was declared lost or is rejected, if this
    /// node's own journal is not confirmed or, for a replication, if another instance of the application is already offered to the target.
    pub(super) fn begin(&mut self, instance: &InstanceId, proposal: &Proposal, target: &NodeId, kind: TransferKind) {
        let Some(owned) = self.state.ledger.owned.get(instance).cloned() else { return };
        let Some(peer) = self.state.ledger.peers.get(target).copied() else {
            // The link works, but the neighbour has not introduced itself.
            return self.inhibit(instance, proposal, target.clone(), Rule::Unanswered);
        };
        if self.state.confirmation() == Confirmation::Unconfirmed {
            return self.inhibit(instance, proposal, self.own_id(), Rule::Unconfirmed);
        }
        if self.state.ledger.lost.contains(&peer.journal) || self.state.refused.contains(target) {
            return self.inhibit(instance, proposal, target.clone(), Rule::Unanswered);
        }
        if kind == TransferKind::Replicate && self.has_open_grant(target, &owned.descriptor.application.id) {
            return self.inhibit(instance, proposal, self.own_id(), Rule::OpenGrant);
        }
        let transfer = self.state.ids.transfer();
        let Some(agent) = self.state.agents.get_mut(instance) else { return };
        agent.frozen_by = Some(transfer);
        let snapshot_bytes = kind.snapshot(agent).bytes();
        let (moved, epoch, replications_left) = match kind {
            TransferKind::Migrate => (instance.clone(), owned.epoch, owned.replications_left),
            TransferKind::Replicate => {
                let child = owned.replications_left.map(|left| split_replications(left)[1]);
                (self.state.ids.instance(), Epoch::default(), child)
            }
        };
        let prepare = Arc::new(Prepare {
            transfer,
            kind,
            instance: moved,
            asked_by: instance.clone(),
            epoch,
            descriptor: Arc::clone(&owned.descriptor),
            flavour: owned.flavour,
            wakefulness: owned.wakefulness,
            replications_left,
            snapshot_bytes,
        });
        let timing = self.state.config.timing;
        let outgoing = Outgoing {
            asked_by: instance.clone(),
            proposal: proposal.clone(),
            target: target.clone(),
            receiver: peer.journal,
            prepare: Arc::clone(&prepare),
            stopping: None,
            deadline: self.now + timing.prepare_timeout,
        };
        self.state.outgoing.insert(transfer, outgoing);
        self.retry_later(transfer);
        self.report(TraceEvent::Preparing { transfer, instance: instance.clone(), kind, target: target.clone() });
        self.send(target, peer.journal, Message::Prepare(prepare));
    }

    /// Whether an instance of the application is already offered to the target.
    fn has_open_grant(&self, target: &NodeId, application: &ApplicationId) -> bool {
        let is_offered = |grant: &Grant| grant.target == *target && grant.application == *application;
        self.state.ledger.grants.values().any(is_offered)
    }

    /// Schedules a resend of a transfer's message.
    pub(super) fn retry_later(&mut self, transfer: TransferId) {
        let after = self.state.config.timing.resend_after;
        self.state.retries.insert(transfer, Retry { at: self.now + after, after });
    }

    /// Called when the target is ready: hands the instance over, or offers the replica. Before a migration, the copy of
    /// an exclusive application is stopped here. A replication is inhibited if another instance of the application was
    /// offered to the target in the meantime. A duplicate is ignored; for a transfer that has already ended, an abort
    /// is sent.
    pub(super) fn ready(&mut self, from: &NodeId, sender: JournalId, transfer: TransferId, token: Token) {
        if transfer.journal != self.state.ids.journal {
            return;
        }
        let ledger = &self.state.ledger;
        if ledger.grants.contains_key(&transfer) || ledger.custody_of(transfer).is_some() {
            return;
        }
        let Some(outgoing) = self.state.outgoing.get_mut(&transfer) else {
            // The transfer was aborted, or the target has already taken the instance and ignores the abort.
            return self.send(from, sender, Message::Abort { transfer });
        };
        if outgoing.receiver != sender || outgoing.stopping.is_some() {
            return;
        }
        let Some(owned) = ledger.owned.get(&outgoing.asked_by) else { return };
        // The copy of a sleeping instance may still be stopping.
        let may_run = !owned.is_asleep() || ledger.shrinking.contains_key(&owned.workload);
        let is_exclusive = owned.descriptor.copies == Copies::Exclusive && may_run;
        if outgoing.prepare.kind == TransferKind::Migrate && is_exclusive {
            outgoing.stopping = Some(token);
            let workload = owned.workload;
            // The copy may still be stopping for an aborted transfer.
            if self.state.stopping.insert(workload) {
                self.effects.push(Effect::Stop(workload));
            }
            return;
        }
        let (target, application) = (outgoing.target.clone(), owned.descriptor.application.id.clone());
        if outgoing.prepare.kind == TransferKind::Replicate && self.has_open_grant(&target, &application) {
            // Another agent of the application was faster.
            let inhibition = Inhibition { node: self.own_id(), rule: Rule::OpenGrant };
            return self.give_up(transfer, inhibition);
        }
        let is_running = !owned.is_asleep();
        self.hand_over(transfer, token, is_running);
    }

    /// Called when a copy has stopped here. If it was stopped before a transfer, because its application is exclusive,
    /// hands the instance over, or restarts the copy if the transfer was aborted in the meantime.
    pub(super) fn own_copy_stopped(&mut self, workload: WorkloadId) {
        if !self.state.stopping.remove(&workload) {
            return;
        }
        let owned = &self.state.ledger.owned;
        let is_of = |outgoing: &Outgoing| owned.get(&outgoing.asked_by).is_some_and(|owned| owned.workload == workload);
        let stopped = self.state.outgoing.iter().find(|(_, outgoing)| is_of(outgoing));
        if let Some((transfer, token)) = stopped.and_then(|(transfer, outgoing)| Some((*transfer, outgoing.stopping?)))
        {
            return self.hand_over(transfer, token, false);
        }
        if let Some(owned) = owned.values().find(|owned| owned.workload == workload && !owned.is_asleep()) {
            self.effects.push(owned.resume());
        }
    }

    /// Records that an instance is handed over or offered, and sends it to the target.
    fn hand_over(&mut self, transfer: TransferId, token: Token, is_running: bool) {
        let Some(outgoing) = self.state.outgoing.remove(&transfer) else { return };
        let Outgoing { asked_by, proposal, target, receiver, prepare, .. } = outgoing;
        let Some(mut owned) = self.state.ledger.owned.get(&asked_by).cloned() else { return };
        // Both managers have accepted, so the operation enters the agent's history, which a migrating agent takes
        // along.
        self.note_done(&asked_by, &proposal);
        match prepare.kind {
            TransferKind::Migrate => {
                if let Some(agent) = self.state.agents.remove(&asked_by) {
                    let mut snapshot = agent.snapshot();
                    // The agent's age restarts on the target, or here if the instance is not taken.
                    snapshot.history.arrived = snapshot.evaluations;
                    owned.snapshot = Arc::new(snapshot);
                }
                let (target, is_ended) = (target.clone(), false);
                self.journal(JournalRecord::Custody(Custody {
                    owned,
                    transfer,
                    token,
                    target,
                    receiver,
                    is_running,
                    is_ended,
                }));
            }
            TransferKind::Replicate => {
                if let Some(agent) = self.state.agents.get_mut(&asked_by) {
                    agent.frozen_by = None;
                }
                // The replica gets the share of the replication budget that was sent to the target, even if a share of
                // another replica has returned to the parent in the meantime.
                let given = prepare.replications_left.unwrap_or(0);
                let left = owned.replications_left.map(|left| [left.saturating_sub(1).saturating_sub(given), given]);
                self.journal(JournalRecord::Grant(Grant {
                    transfer,
                    token,
                    target: target.clone(),
                    receiver,
                    instance: prepare.instance.clone(),
                    application: owned.descriptor.application.id.clone(),
                    parent: asked_by,
                    replications_left: left,
                }));
            }
        }
        self.retry_later(transfer);
        self.send_transfer(transfer);
    }

    /// Sends the target an instance that is handed over or offered. If an operator has ended the instance in the
    /// meantime, sends an abort first: the target drops its reservation, and so answers the transfer with `NotTaken`,
    /// unless it has already taken the instance.
    pub(super) fn send_transfer(&mut self, transfer: TransferId) {
        if let Some(custody) = self.state.ledger.custody_of(transfer).filter(|custody| custody.is_ended) {
            let (target, receiver) = (custody.target.clone(), custody.receiver);
            self.send(&target, receiver, Message::Abort { transfer });
        }
        let ledger = &self.state.ledger;
        let (target, receiver, token, snapshot, is_anchor) =
            match (ledger.custody_of(transfer), ledger.grants.get(&transfer)) {
                (Some(custody), _) => {
                    let owned = &custody.owned;
                    let snapshot = Arc::clone(&owned.snapshot);
                    (custody.target.clone(), custody.receiver, custody.token, snapshot, owned.is_anchor)
                }
                (None, Some(grant)) => {
                    (grant.target.clone(), grant.receiver, grant.token, Arc::new(AgentSnapshot::default()), false)
                }
                (None, None) => return,
            };
        let concerning = ledger.concerning(&target);
        self.send(&target, receiver, Message::Transfer { transfer, token, snapshot, is_anchor, concerning });
    }

    /// Called when the target inhibits the request. The target may have made a reservation for a duplicate of the
    /// request, so it is sent an abort.
    pub(super) fn inhibited(&mut self, sender: JournalId, transfer: TransferId, inhibition: Inhibition) {
        if self.state.outgoing.get(&transfer).is_some_and(|outgoing| outgoing.receiver == sender) {
            self.give_up(transfer, inhibition);
        }
    }

    /// Aborts a transfer that is being prepared: the agent is unfrozen, and remembers that its proposal was inhibited.
    pub(super) fn give_up(&mut self, transfer: TransferId, inhibition: Inhibition) {
        let Some((asked_by, proposal)) = self.abort(transfer) else { return };
        self.inhibit(&asked_by, &proposal, inhibition.node, inhibition.rule);
    }

    /// Ends a transfer that is being prepared: sends an abort to the target, and unfreezes the agent. Returns the
    /// agent's instance and its proposal; `None` if the transfer is not being prepared.
    pub(super) fn abort(&mut self, transfer: TransferId) -> Option<(InstanceId, Proposal)> {
        let outgoing = self.state.outgoing.remove(&transfer)?;
        self.state.retries.remove(&transfer);
        self.report(TraceEvent::Aborted { transfer });
        self.send(&outgoing.target, outgoing.receiver, Message::Abort { transfer });
        if let Some(agent) = self.state.agents.get_mut(&outgoing.asked_by) {
            agent.frozen_by = None;
        }
        Some((outgoing.asked_by, outgoing.proposal))
    }

    /// Called when the target reports that it has taken the instance: closes the custody or the grant, unless that
    /// happened earlier, and sends `Forget` to the target. Ignored if the custody or grant is for another journal than
    /// the sender's.
    pub(super) fn taken(&mut self, from: &NodeId, sender: JournalId, transfer: TransferId, concerning: u64) {
        if transfer.journal != self.state.ids.journal {
            return;
        }
        let ledger = &self.state.ledger;
        if let Some(custody) = ledger.custody_of(transfer).cloned() {
            if custody.receiver != sender {
                return;
            }
            self.journal(JournalRecord::Gone { transfer, concerning });
            if custody.is_running {
                self.effects.push(Effect::Drain(custody.owned.workload));
            }
            if custody.is_ended {
                let instance = custody.owned.instance.clone();
                self.report(TraceEvent::LivesOn { instance, node: from.clone() });
            }
            self.report_taken(&custody.owned.instance, &custody.owned.descriptor.application.id, from, None);
        } else if let Some(grant) = ledger.grants.get(&transfer).cloned() {
            if grant.receiver != sender {
                return;
            }
            self.journal(JournalRecord::Gone { transfer, concerning });
            self.report_taken(&grant.parent, &grant.application, from, Some(grant.instance));
        }
        self.state.retries.remove(&transfer);
        self.send(from, sender, Message::Forget { transfer });
    }

    pub(super) fn report_taken(
        &mut self,
        asked_by: &InstanceId,
        application: &ApplicationId,
        target: &NodeId,
        created: Option<InstanceId>,
    ) {
        let kind = if created.is_some() { TransferKind::Replicate } else { TransferKind::Migrate };
        let operation = kind.operation().towards(Target::Node(target.clone()));
        let request = super::agents::agent_request(asked_by, self.own_id(), application.clone(), operation);
        if let Some(request) = request {
            self.report(TraceEvent::Judged { request, verdict: Verdict::Accepted, created });
        }
    }

    /// Called when the target will never take the instance. An instance in custody is owned again, and its agent
    /// continues from its snapshot, unless an operator has ended the instance; a grant is closed, and its replications
    /// return to the parent. The agent that proposed the transfer remembers the proposal as inhibited. A duplicate
    /// finds neither custody nor grant, and is ignored.
    pub(super) fn not_taken(&mut self, sender: JournalId, transfer: TransferId) {
        let ledger = &self.state.ledger;
        if let Some(custody) = ledger.custody_of(transfer).cloned() {
            if custody.receiver != sender {
                return;
            }
            self.state.retries.remove(&transfer);
            if custody.is_ended {
                self.journal(JournalRecord::NotTaken { transfer });
                return self.report(TraceEvent::Undeployed(custody.owned.instance));
            }
            self.own_again(custody);
        } else if let Some(grant) = ledger.grants.get(&transfer).cloned()
            && grant.receiver == sender
        {
            self.state.retries.remove(&transfer);
            self.journal(JournalRecord::NotTaken { transfer });
            let target = Target::Node(grant.target.clone());
            let proposal = Proposal { operation: TransferKind::Replicate.operation(), target };
            self.note_undone(&grant.parent, &proposal);
            self.inhibit(&grant.parent, &proposal, grant.target, Rule::Unanswered);
        }
    }

    fn own_again(&mut self, custody: Custody) {
        let Custody { owned, transfer, target, is_running, .. } = custody;
        self.start_agent(&owned);
        let resume = (!is_running && !owned.is_asleep()).then(|| owned.resume());
        let instance = owned.instance.clone();
        self.journal(JournalRecord::Own { owned, cause: OwnCause::NotTaken { transfer } });
        self.effects.extend(resume);
        let wanted = Target::Node(target.clone());
        let proposal = Proposal { operation: TransferKind::Migrate.operation(), target: wanted };
        self.note_undone(&instance, &proposal);
        self.inhibit(&instance, &proposal, target, Rule::Unanswered);
    }
}
