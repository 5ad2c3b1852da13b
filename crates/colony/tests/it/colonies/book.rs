//! Replays a journal independently of the node's own ledger, which the checker does not trust.

use std::collections::{BTreeMap, BTreeSet};

use mario_colony::{JournalId, JournalRecord, OwnCause, Owned, TransferId, WorkloadId};
use mario_domain::{ApplicationId, InstanceId};

/// Numbers instances in the order in which they are first seen.
#[derive(Default)]
pub struct Numbers {
    numbers: BTreeMap<InstanceId, usize>,
}

impl Numbers {
    pub fn of(&mut self, instance: &InstanceId) -> usize {
        if let Some(number) = self.numbers.get(instance) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(instance.clone(), number);
        number
    }

    pub fn instance(&self, number: usize) -> Option<&InstanceId> {
        self.numbers.iter().find(|(_, known)| **known == number).map(|(instance, _)| instance)
    }
}

/// The state of one node according to its journal up to some record.
#[derive(Clone, Default)]
pub struct Book {
    pub owned: BTreeMap<usize, Held>,
    pub custody: BTreeMap<usize, Kept>,
    pub draining: BTreeMap<WorkloadId, u64>,
    pub grants: BTreeMap<TransferId, (ApplicationId, JournalId)>,
    pub lost: BTreeSet<JournalId>,
}

/// An instance that the node owns or has in custody.
#[derive(Clone)]
pub struct Held {
    pub epoch: u32,
    pub workload: WorkloadId,
    pub hardware: u64,
    pub is_anchor: bool,
}

/// An instance in custody for a transfer.
#[derive(Clone)]
pub struct Kept {
    pub held: Held,
    pub transfer: TransferId,
    pub receiver: JournalId,
    pub is_running: bool,
    pub is_ended: bool,
}

impl Book {
    pub fn apply(&mut self, record: &JournalRecord, numbers: &mut Numbers) {
        match record {
            JournalRecord::Boot { .. }
            | JournalRecord::Forgotten { .. }
            | JournalRecord::Pinned { .. }
            | JournalRecord::Drained { .. }
            | JournalRecord::Peer { .. }
            | JournalRecord::Outdated(_)
            | JournalRecord::Adapted { .. }
            | JournalRecord::Slept { .. }
            | JournalRecord::Woke { .. }
            | JournalRecord::Shrunk { .. } => {}
            JournalRecord::Anchored { instance, is_anchor } => {
                if let Some(held) = self.owned.get_mut(&numbers.of(instance)) {
                    held.is_anchor = *is_anchor;
                }
            }
            JournalRecord::Own { owned, cause } => self.own(owned, cause, numbers),
            JournalRecord::Custody(custody) => {
                let instance = numbers.of(&custody.owned.instance);
                let held = Held::of(&custody.owned);
                self.owned.remove(&instance);
                let (transfer, receiver) = (custody.transfer, custody.receiver);
                let (is_running, is_ended) = (custody.is_running, custody.is_ended);
                self.custody.insert(instance, Kept { held, transfer, receiver, is_running, is_ended });
            }
            JournalRecord::CustodyEnded { instance } => {
                if let Some(kept) = self.custody.get_mut(&numbers.of(instance)) {
                    if kept.is_running {
                        self.draining.insert(kept.held.workload, kept.held.hardware);
                    }
                    (kept.is_running, kept.is_ended) = (false, true);
                }
            }
            JournalRecord::Grant(grant) => {
                self.grants.insert(grant.transfer, (grant.application.clone(), grant.receiver));
            }
            JournalRecord::Gone { transfer, .. } | JournalRecord::NotTaken { transfer } => {
                self.grants.remove(transfer);
                if let Some(instance) = self.kept_by(*transfer) {
                    self.leave_custody(instance);
                }
            }
            JournalRecord::Lost { journal } => {
                self.lost.insert(*journal);
            }
            JournalRecord::Undeployed { instance } => {
                if let Some(held) = self.owned.remove(&numbers.of(instance)) {
                    self.draining.insert(held.workload, held.hardware);
                }
            }
            JournalRecord::Updated { instance, descriptor, flavour } => {
                if let Some(held) = self.owned.get_mut(&numbers.of(instance)) {
                    held.hardware = descriptor.application.needed_in(*flavour).as_units();
                }
            }
            JournalRecord::Stopped { workload } => {
                self.draining.remove(workload);
            }
        }
    }

    fn own(&mut self, owned: &Owned, cause: &OwnCause, numbers: &mut Numbers) {
        let instance = numbers.of(&owned.instance);
        match cause {
            OwnCause::Deployed { .. } | OwnCause::Replicated { .. } => {}
            OwnCause::Taken { .. } => self.leave_custody(instance),
            OwnCause::NotTaken { transfer } | OwnCause::Adopted { transfer } => {
                if let Some(kept) = self.kept_by(*transfer) {
                    self.custody.remove(&kept);
                }
            }
        }
        self.owned.insert(instance, Held::of(owned));
    }

    /// The instance in custody for a transfer.
    pub fn kept_by(&self, transfer: TransferId) -> Option<usize> {
        self.custody.iter().find(|(_, kept)| kept.transfer == transfer).map(|(instance, _)| *instance)
    }

    fn leave_custody(&mut self, instance: usize) {
        if let Some(kept) = self.custody.remove(&instance).filter(|kept| kept.is_running) {
            self.draining.insert(kept.held.workload, kept.held.hardware);
        }
    }

    /// The copies that use hardware of the node, and the hardware of each. A copy that was stopped before its instance
    /// was handed over still counts, because the instance may come back.
    pub fn copies(&self) -> impl Iterator<Item = (WorkloadId, u64)> {
        let custody = self.custody.values().filter(|kept| !kept.is_ended).map(|kept| &kept.held);
        let held = self.owned.values().chain(custody).map(|held| (held.workload, held.hardware));
        held.chain(self.draining.iter().map(|(workload, hardware)| (*workload, *hardware)))
    }
}

impl Held {
    fn of(owned: &Owned) -> Held {
        Held {
            epoch: owned.epoch.0,
            workload: owned.workload,
            hardware: owned.descriptor.application.hardware.as_units(),
            is_anchor: owned.is_anchor,
        }
    }
}
