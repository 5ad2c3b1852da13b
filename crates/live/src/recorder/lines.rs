//! Converts records of the journal, and the state of the node, to records of the node's part of the trace.

use std::sync::Arc;

use mario_colony::{Custody, Descriptor, Grant, JournalId, JournalRecord, Ledger, OwnCause, Owned, TransferId};
use mario_domain::NodeId;
use mario_trace::live::{
    Cause, CustodyState, LiveEvent, NodeState, OfferState, OwnedState, PartApplication, PartLine, ReservedState,
};

use super::Recorder;
use crate::daemon::workload_text;

pub(crate) fn journal_text(journal: JournalId) -> String {
    format!("{:032x}", journal.0)
}

pub(super) fn transfer_text(transfer: TransferId) -> String {
    format!("{}.{}.{}", journal_text(transfer.journal), transfer.boot, transfer.counter)
}

impl Recorder {
    /// Returns the index of an application in the current part, and adds its description if it is new there. Without a
    /// trace, there is no part to describe it in.
    pub(super) fn application(&mut self, descriptor: &Arc<Descriptor>) -> u32 {
        if self.parts.is_none() {
            return 0;
        }
        let is_same = |known: &Arc<Descriptor>| Arc::ptr_eq(known, descriptor) || **known == **descriptor;
        if let Some(place) = self.applications.iter().position(is_same) {
            return place as u32;
        }
        let policy = &descriptor.policy;
        let application = PartApplication {
            application: descriptor.application.clone(),
            facts: descriptor.facts.clone(),
            policy: policy.name.clone(),
            memory: policy.memory,
            files: policy.files.clone(),
        };
        self.line(None, PartLine::Application(Box::new(application)));
        self.applications.push(Arc::clone(descriptor));
        (self.applications.len() - 1) as u32
    }

    fn owned(&mut self, owned: &Owned) -> OwnedState {
        OwnedState {
            instance: owned.instance.clone(),
            epoch: owned.epoch.0,
            application: self.application(&owned.descriptor),
            needed: owned.needed(),
            workload: workload_text(owned.workload),
            flavour: u32::from(owned.flavour.0),
            is_asleep: owned.is_asleep(),
            is_anchor: owned.is_anchor,
        }
    }

    /// The record of the trace for a record of the journal.
    pub(super) fn event(&mut self, record: &JournalRecord) -> LiveEvent<NodeId> {
        let transfer_of = |transfer: &TransferId| transfer_text(*transfer);
        match record {
            JournalRecord::Boot { journal, boot, .. } => {
                LiveEvent::Boot { journal: journal_text(*journal), boot: *boot, capacity: self.header.capacity }
            }
            JournalRecord::Own { owned, cause } => LiveEvent::Own { owned: self.owned(owned), cause: cause_of(cause) },
            JournalRecord::Custody(custody) => LiveEvent::Custody {
                instance: custody.owned.instance.clone(),
                epoch: custody.owned.epoch.0,
                transfer: transfer_text(custody.transfer),
                target: custody.target.clone(),
                is_running: custody.is_running,
            },
            JournalRecord::CustodyEnded { instance } => LiveEvent::CustodyEnded { instance: instance.clone() },
            JournalRecord::Grant(grant) => LiveEvent::Offer(offer(grant)),
            JournalRecord::Gone { transfer, .. } => LiveEvent::Taken { transfer: transfer_of(transfer) },
            JournalRecord::NotTaken { transfer } => LiveEvent::NotTaken { transfer: transfer_of(transfer) },
            JournalRecord::Undeployed { instance } => LiveEvent::Undeployed { instance: instance.clone() },
            JournalRecord::Stopped { workload } => LiveEvent::Stopped { workload: workload_text(*workload) },
            JournalRecord::Forgotten { transfer } => LiveEvent::Forgotten { transfer: transfer_of(transfer) },
            JournalRecord::Pinned { instance, is_pinned } => {
                LiveEvent::Pinned { instance: instance.clone(), is_pinned: *is_pinned }
            }
            JournalRecord::Anchored { instance, is_anchor } => {
                LiveEvent::Anchored { instance: instance.clone(), is_anchor: *is_anchor }
            }
            JournalRecord::Updated { instance, descriptor, flavour } => {
                let needed = descriptor.application.needed_in(*flavour);
                let (application, flavour) = (self.application(descriptor), u32::from(flavour.0));
                LiveEvent::Updated { instance: instance.clone(), application, needed, flavour }
            }
            JournalRecord::Adapted { instance, flavour } => {
                LiveEvent::Adapted { instance: instance.clone(), flavour: u32::from(flavour.0) }
            }
            JournalRecord::Slept { instance } => LiveEvent::Slept { instance: instance.clone() },
            JournalRecord::Woke { instance } => LiveEvent::Woke { instance: instance.clone() },
            JournalRecord::Shrunk { workload } => LiveEvent::Shrunk { workload: workload_text(*workload) },
            JournalRecord::Drained { is_draining } => LiveEvent::Drained { is_draining: *is_draining },
            JournalRecord::Lost { journal } => LiveEvent::Lost { journal: journal_text(*journal) },
            JournalRecord::Outdated(outdated) => {
                LiveEvent::Outdated { by: outdated.by.clone(), evidence: outdated.to_string() }
            }
            JournalRecord::Peer { node, journal, .. } => {
                LiveEvent::Peer { node: node.clone(), journal: journal_text(*journal) }
            }
        }
    }

    /// Adds a line with the whole state of the node.
    pub(super) fn state(&mut self, ledger: &Ledger) {
        let owned: Vec<OwnedState> = ledger.owned().map(|owned| self.owned(owned)).collect();
        let custody: Vec<CustodyState<NodeId>> = ledger.custody().map(|custody| self.custody(custody)).collect();
        let draining = ledger.draining().map(|(workload, draining)| (workload_text(*workload), draining.needed));
        let mut reserved: Vec<ReservedState> =
            self.reservations.reserved.values().map(|(kept, _)| kept.clone()).collect();
        let places: Vec<Arc<Descriptor>> =
            self.reservations.reserved.values().map(|(_, descriptor)| Arc::clone(descriptor)).collect();
        for (kept, descriptor) in reserved.iter_mut().zip(&places) {
            kept.application = self.application(descriptor);
        }
        let shrinking = ledger.shrinking().map(|(workload, surplus)| (workload_text(*workload), *surplus));
        let released = self.reservations.released.iter().map(|(workload, needed)| (workload_text(*workload), *needed));
        let preparing = &self.reservations.preparing;
        let state = NodeState {
            records: ledger.sequence(),
            follows: !self.has_gap,
            owned,
            custody,
            offers: ledger.grants().map(offer).collect(),
            draining: draining.collect(),
            shrinking: shrinking.collect(),
            taken: ledger.taken().map(|(transfer, _)| transfer_text(*transfer)).collect(),
            reserved,
            released: released.collect(),
            preparing: preparing
                .iter()
                .map(|(transfer, instance)| (transfer_text(*transfer), instance.clone()))
                .collect(),
        };
        self.has_gap = false;
        self.line(None, PartLine::Event(LiveEvent::State(Box::new(state))));
    }

    fn custody(&mut self, custody: &Custody) -> CustodyState<NodeId> {
        CustodyState {
            owned: self.owned(&custody.owned),
            transfer: transfer_text(custody.transfer),
            target: custody.target.clone(),
            is_running: custody.is_running,
            is_ended: custody.is_ended,
        }
    }

    /// Applies a record to the state that is not in the journal.
    pub(super) fn note_record(&mut self, record: &JournalRecord) {
        let reservations = &mut self.reservations;
        match record {
            JournalRecord::Own { cause: OwnCause::Taken { transfer, .. }, .. } => {
                reservations.reserved.remove(transfer);
            }
            JournalRecord::Custody(custody) => {
                reservations.preparing.remove(&custody.transfer);
            }
            JournalRecord::Grant(grant) => {
                reservations.preparing.remove(&grant.transfer);
            }
            JournalRecord::Boot { .. } => *reservations = super::UnjournaledReservations::default(),
            JournalRecord::Own { .. }
            | JournalRecord::CustodyEnded { .. }
            | JournalRecord::Gone { .. }
            | JournalRecord::NotTaken { .. }
            | JournalRecord::Undeployed { .. }
            | JournalRecord::Stopped { .. }
            | JournalRecord::Forgotten { .. }
            | JournalRecord::Pinned { .. }
            | JournalRecord::Anchored { .. }
            | JournalRecord::Updated { .. }
            | JournalRecord::Adapted { .. }
            | JournalRecord::Slept { .. }
            | JournalRecord::Woke { .. }
            | JournalRecord::Shrunk { .. }
            | JournalRecord::Drained { .. }
            | JournalRecord::Lost { .. }
            | JournalRecord::Outdated(_)
            | JournalRecord::Peer { .. } => {}
        }
    }
}

fn cause_of(cause: &OwnCause) -> Cause<NodeId> {
    match cause {
        OwnCause::Deployed { .. } => Cause::Deployed,
        OwnCause::Taken { transfer, from, .. } => {
            Cause::Taken { transfer: transfer_text(*transfer), from: from.clone() }
        }
        OwnCause::Replicated { parent, .. } => Cause::Replicated { parent: parent.clone() },
        OwnCause::NotTaken { transfer } => Cause::NotTaken { transfer: transfer_text(*transfer) },
        OwnCause::Adopted { transfer } => Cause::Adopted { transfer: transfer_text(*transfer) },
    }
}

fn offer(grant: &Grant) -> OfferState<NodeId> {
    OfferState {
        transfer: transfer_text(grant.transfer),
        instance: grant.instance.clone(),
        parent: grant.parent.clone(),
        target: grant.target.clone(),
    }
}
