//! The durable state of a node: the records of its write-ahead journal, and the ledger that results from applying them.

mod entries;
mod neighbours;
mod stored;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mario_domain::{FlavourIndex, Hardware, InstanceId, NodeId, Wakefulness};
use serde::{Deserialize, Serialize};

use crate::descriptor::Descriptor;
use crate::ids::{DeployKey, JournalId, TransferId, WorkloadId};

pub use entries::{Custody, Draining, Evidence, Grant, Outdated, OwnCause, Owned, PeerRecord};
pub use stored::{
    StoredBoot, StoredConcern, StoredDeploy, StoredDraining, StoredFormer, StoredLedger, StoredPeer, StoredPrevious,
    StoredShrinking, StoredTaken,
};

/// One record of a node's journal. It is on disk before any later effect is performed.
///
/// Reservations are not recorded: a token that was lost in a crash never becomes valid again, so `NotTaken` is final.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum JournalRecord {
    /// The journal was opened.
    Boot {
        /// The node of the journal.
        node: NodeId,
        /// The id of the journal.
        journal: JournalId,
        /// The number of this boot, from 0.
        boot: u32,
    },
    /// This node became the owner of an instance.
    Own {
        /// The instance.
        owned: Owned,
        /// How the node came to own it.
        cause: OwnCause,
    },
    /// An instance is handed over, and kept in custody until the target has answered.
    Custody(Custody),
    /// An operator ended an instance in custody: its copy here stops for good.
    CustodyEnded {
        /// The instance.
        instance: InstanceId,
    },
    /// A new instance is offered to a target.
    Grant(Grant),
    /// The target has taken the instance that was handed over or offered, or an operator declared the target of an
    /// offer lost.
    Gone {
        /// The transfer.
        transfer: TransferId,
        /// The number that the target sent, see [`Hello::concerning`](crate::Hello::concerning); 0 if an operator
        /// declared the target lost.
        concerning: u64,
    },
    /// The transfer of an instance that was offered, or ended in custody, is closed: the target will never take it or,
    /// in the second case, was declared lost.
    NotTaken {
        /// The transfer.
        transfer: TransferId,
    },
    /// An instance ended here.
    Undeployed {
        /// The instance.
        instance: InstanceId,
    },
    /// An operator updated an instance to another description of its application.
    Updated {
        /// The instance.
        instance: InstanceId,
        /// The new description of the application.
        descriptor: Arc<Descriptor>,
        /// The flavour in which the instance is to run.
        flavour: FlavourIndex,
    },
    /// An instance is to run in another flavour.
    Adapted {
        /// The instance.
        instance: InstanceId,
        /// The flavour.
        flavour: FlavourIndex,
    },
    /// An instance fell asleep.
    Slept {
        /// The instance.
        instance: InstanceId,
    },
    /// An instance woke.
    Woke {
        /// The instance.
        instance: InstanceId,
    },
    /// A copy no longer uses its surplus hardware: it no longer runs with its larger flavour or description, or it
    /// stopped because its instance sleeps.
    Shrunk {
        /// The copy.
        workload: WorkloadId,
    },
    /// A draining copy has stopped.
    Stopped {
        /// The copy.
        workload: WorkloadId,
    },
    /// The source of a transfer needs no more answers: this node forgets the transfer.
    Forgotten {
        /// The transfer.
        transfer: TransferId,
    },
    /// An operator pinned an instance, or unpinned it.
    Pinned {
        /// The instance.
        instance: InstanceId,
        /// Whether it is pinned now.
        is_pinned: bool,
    },
    /// An operator made an instance an anchor, or ended that.
    Anchored {
        /// The instance.
        instance: InstanceId,
        /// Whether it is an anchor now.
        is_anchor: bool,
    },
    /// An operator started to drain the node, or ended that.
    Drained {
        /// Whether the node is draining now.
        is_draining: bool,
    },
    /// An operator declared that a journal will never come back.
    Lost {
        /// The id of the journal.
        journal: JournalId,
    },
    /// A neighbour introduced itself.
    Peer {
        /// The neighbour.
        node: NodeId,
        /// Its journal.
        journal: JournalId,
        /// The number of records in that journal; `u64::MAX` if the neighbour is rejected because records are missing.
        sequence: u64,
    },
    /// A neighbour knows a later state of this journal: its file is an old copy. The node stops all copies, and does
    /// nothing more with this journal.
    Outdated(Outdated),
}

/// The maximum number of idempotency keys of deploys that are kept. A new key replaces the oldest.
const KEYS_MAX: usize = 1024;

/// The state that results from the records of a journal. Nothing else survives a crash.
///
/// [`Ledger::apply`] is the only way to change it, in normal operation and after a restart. A long journal can be
/// compacted: its ledger replaces its records.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    pub(crate) sequence: u64,
    pub(crate) boot: Option<(NodeId, JournalId, u32)>,
    pub(crate) owned: BTreeMap<InstanceId, Owned>,
    /// For each owned instance that was updated since this node last became its owner, the description before the last
    /// update.
    pub(crate) previous: BTreeMap<InstanceId, Arc<Descriptor>>,
    pub(crate) custody: BTreeMap<InstanceId, Custody>,
    pub(crate) grants: BTreeMap<TransferId, Grant>,
    /// Transfers whose instances this node has taken, with their sources, until it forgets them.
    pub(crate) taken: BTreeMap<TransferId, NodeId>,
    pub(crate) draining: BTreeMap<WorkloadId, Draining>,
    /// Copies that are to run with less hardware, or to stop because their instances sleep, and the surplus hardware
    /// that they use until then.
    pub(crate) shrinking: BTreeMap<WorkloadId, Hardware>,
    pub(crate) deploys: Vec<(DeployKey, InstanceId)>,
    pub(crate) peers: BTreeMap<NodeId, PeerRecord>,
    /// For each neighbour, the number of the last record in which an instance was handed over or offered to it, or
    /// taken from it.
    pub(crate) concerning: BTreeMap<NodeId, u64>,
    /// Journals that operators declared lost.
    pub(crate) lost: BTreeSet<JournalId>,
    /// Journals that neighbours had before their present ones, the oldest first.
    pub(crate) former: Vec<(NodeId, JournalId)>,
    /// Why this journal must not be used any more; `None` unless it is an old copy.
    pub(crate) outdated: Option<Outdated>,
    /// Whether an operator drains the node.
    #[serde(default)]
    pub(crate) is_draining: bool,
}

impl Ledger {
    /// Applies a record. Never fails: a change to an entry that does not exist is skipped.
    pub fn apply(&mut self, record: &JournalRecord) {
        self.sequence += 1;
        match record {
            JournalRecord::Boot { node, journal, boot } => self.boot = Some((node.clone(), *journal, *boot)),
            JournalRecord::Own { owned, cause } => self.own(owned, cause),
            JournalRecord::Custody(custody) => {
                self.concerning.insert(custody.target.clone(), self.sequence);
                self.owned.remove(&custody.owned.instance);
                self.previous.remove(&custody.owned.instance);
                self.custody.insert(custody.owned.instance.clone(), custody.clone());
            }
            JournalRecord::CustodyEnded { instance } => {
                if let Some(mut custody) = self.custody.remove(instance) {
                    self.drain_copy(&custody);
                    (custody.is_running, custody.is_ended) = (false, true);
                    self.custody.insert(instance.clone(), custody);
                }
            }
            JournalRecord::Grant(grant) => {
                if let (Some(parent), Some([left, _])) = (self.owned.get_mut(&grant.parent), grant.replications_left) {
                    parent.replications_left = Some(left);
                }
                self.concerning.insert(grant.target.clone(), self.sequence);
                self.grants.insert(grant.transfer, grant.clone());
            }
            JournalRecord::Gone { transfer, concerning } => {
                if let Some(grant) = self.grants.remove(transfer) {
                    self.note_concerning(&grant.target, grant.receiver, *concerning);
                }
                if let Some(custody) = self.end_custody(*transfer) {
                    self.note_concerning(&custody.target, custody.receiver, *concerning);
                    self.drain_copy(&custody);
                }
            }
            JournalRecord::NotTaken { transfer } => {
                if let Some(grant) = self.grants.remove(transfer)
                    && let (Some(parent), Some([_, back])) =
                        (self.owned.get_mut(&grant.parent), grant.replications_left)
                {
                    let left = parent.replications_left.unwrap_or(0);
                    parent.replications_left = Some(left.saturating_add(back).saturating_add(1));
                }
                if let Some(custody) = self.end_custody(*transfer) {
                    self.drain_copy(&custody);
                }
            }
            JournalRecord::Undeployed { instance } => {
                self.previous.remove(instance);
                if let Some(owned) = self.owned.remove(instance) {
                    self.drain(&owned);
                }
            }
            JournalRecord::Updated { instance, descriptor, flavour } => self.update(instance, descriptor, *flavour),
            JournalRecord::Adapted { instance, flavour } => self.adapt(instance, *flavour),
            JournalRecord::Slept { instance } => self.change(instance, |owned| owned.wakefulness = Wakefulness::Asleep),
            JournalRecord::Woke { instance } => self.change(instance, |owned| owned.wakefulness = Wakefulness::Awake),
            JournalRecord::Shrunk { workload } => {
                self.shrinking.remove(workload);
            }
            JournalRecord::Stopped { workload } => {
                self.draining.remove(workload);
            }
            JournalRecord::Forgotten { transfer } => {
                self.taken.remove(transfer);
            }
            JournalRecord::Pinned { instance, is_pinned } => self.pin(instance, *is_pinned),
            JournalRecord::Anchored { instance, is_anchor } => self.anchor(instance, *is_anchor),
            JournalRecord::Drained { is_draining } => self.is_draining = *is_draining,
            JournalRecord::Lost { journal } => {
                self.lost.insert(*journal);
            }
            JournalRecord::Outdated(outdated) => self.outdated = Some(outdated.clone()),
            JournalRecord::Peer { node, journal, sequence } => self.introduce(node, *journal, *sequence),
        }
    }

    /// Whether an operator drains the node: it accepts no new instances, also after a restart.
    pub fn is_draining(&self) -> bool {
        self.is_draining
    }

    fn introduce(&mut self, node: &NodeId, journal: JournalId, sequence: u64) {
        let before = self.peers.get(node).copied();
        self.note_former(node, before.map(|peer| peer.journal), journal);
        let concerning = before.filter(|peer| peer.journal == journal).map_or(0, |peer| peer.concerning);
        self.peers.insert(node.clone(), PeerRecord { journal, sequence, concerning });
    }

    /// Stores the number that a neighbour sent with a transfer, see [`PeerRecord::concerning`], if it is higher than
    /// before and the neighbour still has that journal.
    fn note_concerning(&mut self, node: &NodeId, journal: JournalId, concerning: u64) {
        if let Some(peer) = self.peers.get_mut(node).filter(|peer| peer.journal == journal) {
            peer.concerning = peer.concerning.max(concerning);
        }
    }

    fn own(&mut self, owned: &Owned, cause: &OwnCause) {
        match cause {
            OwnCause::Deployed { key } => {
                if self.deploys.len() == KEYS_MAX {
                    self.deploys.remove(0);
                }
                self.deploys.push((*key, owned.instance.clone()));
            }
            OwnCause::Taken { transfer, from, concerning } => {
                self.concerning.insert(from.clone(), self.sequence);
                self.note_concerning(from, transfer.journal, *concerning);
                self.taken.insert(*transfer, from.clone());
                // The instance returned before its old custody ended, so the old copy is drained if it runs.
                if let Some(custody) = self.custody.remove(&owned.instance) {
                    self.drain_copy(&custody);
                }
            }
            OwnCause::Replicated { parent, replications_left } => {
                if let Some(parent) = self.owned.get_mut(parent) {
                    parent.replications_left = *replications_left;
                }
            }
            // In both cases, the copy in custody becomes the copy of the owned instance.
            OwnCause::NotTaken { transfer } | OwnCause::Adopted { transfer } => {
                self.end_custody(*transfer);
            }
        }
        self.owned.insert(owned.instance.clone(), owned.clone());
    }

    fn end_custody(&mut self, transfer: TransferId) -> Option<Custody> {
        let instance = self.custody_of(transfer)?.owned.instance.clone();
        self.custody.remove(&instance)
    }

    /// The custody that a transfer began; `None` if there is none, or it has ended.
    pub(crate) fn custody_of(&self, transfer: TransferId) -> Option<&Custody> {
        self.custody.values().find(|custody| custody.transfer == transfer)
    }

    fn drain_copy(&mut self, custody: &Custody) {
        if custody.is_running {
            self.drain(&custody.owned);
        }
    }

    fn pin(&mut self, instance: &InstanceId, is_pinned: bool) {
        self.change(instance, |owned| owned.is_pinned = is_pinned);
    }

    fn anchor(&mut self, instance: &InstanceId, is_anchor: bool) {
        self.change(instance, |owned| owned.is_anchor = is_anchor);
    }

    fn adapt(&mut self, instance: &InstanceId, flavour: FlavourIndex) {
        self.change(instance, |owned| owned.flavour = flavour);
    }

    fn update(&mut self, instance: &InstanceId, descriptor: &Arc<Descriptor>, flavour: FlavourIndex) {
        let Some(owned) = self.owned.get(instance) else { return };
        // A rollback is not an update that another rollback could undo: a repeated rollback must change nothing.
        if descriptor.version > owned.descriptor.version {
            self.previous.insert(instance.clone(), Arc::clone(&owned.descriptor));
        } else {
            self.previous.remove(instance);
        }
        self.change(instance, |owned| {
            owned.flavour = flavour;
            let left = |most: u32| owned.replications_left.map_or(most, |left| left.min(most));
            owned.replications_left = descriptor.replications_max.map(left);
            owned.descriptor = Arc::clone(descriptor);
        });
    }

    /// Applies a change to an owned instance. If its copy then needs less hardware, the surplus counts as used until
    /// the copy has been restarted or stopped.
    fn change(&mut self, instance: &InstanceId, change: impl FnOnce(&mut Owned)) {
        let Some(owned) = self.owned.get_mut(instance) else { return };
        let surplus = self.shrinking.remove(&owned.workload).unwrap_or(Hardware::NONE);
        let used = owned.needed().saturating_add(surplus);
        change(owned);
        let surplus = used.saturating_sub(owned.needed());
        if surplus != Hardware::NONE {
            self.shrinking.insert(owned.workload, surplus);
        }
    }

    fn drain(&mut self, owned: &Owned) {
        let application = &owned.descriptor.application;
        let surplus = self.shrinking.remove(&owned.workload).unwrap_or(Hardware::NONE);
        let draining = Draining {
            instance: owned.instance.clone(),
            application: application.id.clone(),
            needed: owned.needed().saturating_add(surplus),
        };
        self.draining.insert(owned.workload, draining);
    }

    /// The hardware of all copies in the ledger: owned, in custody, and draining, with the surplus of shrinking copies.
    /// An instance that was ended in custody counts only while its copy is draining. A copy that was stopped before its
    /// instance was handed over keeps its hardware: the node owns the instance again if the target does not take it.
    pub fn used(&self) -> Hardware {
        let owned = self.owned.values().map(Owned::needed);
        let custody = self.custody.values().filter(|custody| !custody.is_ended).map(|custody| custody.owned.needed());
        let draining = self.draining.values().map(|draining| draining.needed);
        let shrinking = self.shrinking.values().copied();
        owned.chain(custody).chain(draining).chain(shrinking).fold(Hardware::NONE, Hardware::saturating_add)
    }

    /// The node of the journal; `None` before the first record.
    pub fn node(&self) -> Option<&NodeId> {
        self.boot.as_ref().map(|(node, ..)| node)
    }

    /// How many records were applied.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The instances that the node owns, in the order of their ids.
    pub fn owned(&self) -> impl Iterator<Item = &Owned> {
        self.owned.values()
    }

    /// The instances that were handed over and whose targets have not answered, in the order of their ids.
    pub fn custody(&self) -> impl Iterator<Item = &Custody> {
        self.custody.values()
    }

    /// The new instances that were offered and whose targets have not answered, in the order of their transfers.
    pub fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.grants.values()
    }

    /// The instance that was deployed with an idempotency key; `None` if the key is unknown or no longer kept.
    pub fn deployed_by(&self, key: DeployKey) -> Option<&InstanceId> {
        self.deploys.iter().find(|(known, _)| *known == key).map(|(_, instance)| instance)
    }

    /// The description of an owned instance before its last update; `None` if the instance was not updated since this
    /// node last became its owner, or if the update was rolled back.
    pub fn previous(&self, instance: &InstanceId) -> Option<&Arc<Descriptor>> {
        // Ledgers of earlier versions hold the description that a rollback undid, which is newer than the one in use.
        let version = self.owned.get(instance)?.descriptor.version;
        self.previous.get(instance).filter(|previous| previous.version < version)
    }

    /// The draining copies, in the order of their ids.
    pub fn draining(&self) -> impl Iterator<Item = (&WorkloadId, &Draining)> {
        self.draining.iter()
    }

    /// The shrinking copies, and their surplus hardware, in the order of their ids.
    pub fn shrinking(&self) -> impl Iterator<Item = (&WorkloadId, &Hardware)> {
        self.shrinking.iter()
    }

    /// Transfers whose instances this node has taken, with their sources, until it forgets them.
    pub fn taken(&self) -> impl Iterator<Item = (&TransferId, &NodeId)> {
        self.taken.iter()
    }

    /// Transfers whose instances were taken and whose sources may still ask about them.
    pub(crate) fn unforgotten(&self) -> impl Iterator<Item = TransferId> {
        self.taken.keys().copied().filter(|transfer| !self.lost.contains(&transfer.journal))
    }

    /// The copies that the ledger knows: owned, in custody, or draining. After a restart of the node, any other copy is
    /// an orphan.
    pub fn workloads(&self) -> impl Iterator<Item = WorkloadId> {
        let owned = self.owned.values().map(|owned| owned.workload);
        let custody = self.custody.values().map(|custody| custody.owned.workload);
        owned.chain(custody).chain(self.draining.keys().copied())
    }
}
