//! What a node must not forget: the records of its journal, and what they add up to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mario_domain::{ApplicationId, FlavourIndex, Hardware, InstanceId, NodeId};
use serde::{Deserialize, Serialize};

use crate::descriptor::Descriptor;
use crate::ids::{DeployKey, Epoch, JournalId, Token, TransferId, WorkloadId};
use crate::input::Effect;
use crate::message::Luggage;

/// One record of a node's journal. It is on disk before any effect after it is performed.
///
/// Reservations and inhibitions are never written: a token that was lost in a crash can never become valid again, so that
/// `NotTaken` is final.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Record {
    /// The journal was opened.
    Boot {
        /// Whose journal it is.
        node: NodeId,
        /// Which journal.
        journal: JournalId,
        /// How often it has been opened, from 0.
        boot: u32,
    },
    /// An instance is this node's.
    Own {
        /// The instance.
        owned: Owned,
        /// How it became so.
        cause: OwnCause,
    },
    /// An instance is handed over, and kept until the target has answered.
    Custody(Custody),
    /// The copy of an instance in custody was stopped for good by an operator.
    CustodyEnded {
        /// The instance.
        instance: InstanceId,
    },
    /// A new instance is offered to a target.
    Grant(Grant),
    /// The target has taken what was handed over or offered.
    Gone {
        /// Which transfer.
        transfer: TransferId,
        /// What the target told of its journal; 0 if an operator declared it lost.
        told: u64,
    },
    /// The target will never take what was offered, or what was in custody and has been ended.
    NotTaken {
        /// Which transfer.
        transfer: TransferId,
    },
    /// An instance ended here.
    Undeployed {
        /// The instance.
        instance: InstanceId,
    },
    /// An instance runs in another flavour.
    Adapted {
        /// The instance.
        instance: InstanceId,
        /// The flavour.
        flavour: FlavourIndex,
    },
    /// A copy that was to run in a smaller flavour does.
    Shrunk {
        /// The copy.
        workload: WorkloadId,
    },
    /// A copy that was to stop has stopped.
    Stopped {
        /// The copy.
        workload: WorkloadId,
    },
    /// The source of a transfer needs no more answers.
    Forgotten {
        /// Which transfer.
        transfer: TransferId,
    },
    /// An operator pinned an instance, or let it go.
    Pinned {
        /// The instance.
        instance: InstanceId,
        /// Whether it is pinned now.
        is_pinned: bool,
    },
    /// An operator declared that a journal will never come back.
    Lost {
        /// Which journal.
        journal: JournalId,
    },
    /// A neighbour introduced itself.
    Peer {
        /// The neighbour.
        node: NodeId,
        /// Its journal.
        journal: JournalId,
        /// How many records that has.
        sequence: u64,
    },
}

/// An instance that is this node's, as far as it is written down.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Owned {
    /// The instance.
    pub instance: InstanceId,
    /// How often it has changed hands.
    pub epoch: Epoch,
    /// Its copy.
    pub workload: WorkloadId,
    /// What is run.
    pub descriptor: Arc<Descriptor>,
    /// The flavour that it runs in.
    pub flavour: FlavourIndex,
    /// What its agent knew when this was written.
    pub luggage: Arc<Luggage>,
    /// How many replications are left to it; `None` for without end.
    pub replications_left: Option<u32>,
    /// Whether an operator pinned it.
    pub is_pinned: bool,
}

/// How an instance became a node's.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum OwnCause {
    /// An operator deployed it.
    Deployed {
        /// The operator's key.
        key: DeployKey,
    },
    /// A neighbour handed it over.
    Taken {
        /// By which transfer.
        transfer: TransferId,
        /// Who.
        from: NodeId,
        /// What the source told of its journal.
        told: u64,
    },
    /// An agent on this node replicated onto it.
    Replicated {
        /// That agent's instance.
        parent: InstanceId,
        /// How many replications are left to it.
        replications_left: Option<u32>,
    },
    /// It was in custody, and the target will never take it.
    NotTaken {
        /// Which transfer.
        transfer: TransferId,
    },
    /// It is the copy of an instance in custody, under a fresh id: an operator declared the target lost.
    Adopted {
        /// Which transfer.
        transfer: TransferId,
    },
}

/// An instance that was handed over, and may or may not be the target's already.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Custody {
    /// The instance as it was.
    pub owned: Owned,
    /// By which transfer.
    pub transfer: TransferId,
    /// The token of the target's promise.
    pub token: Token,
    /// The target.
    pub target: NodeId,
    /// The target's journal.
    pub receiver: JournalId,
    /// Whether the copy here runs.
    pub is_running: bool,
    /// Whether an operator ended it meanwhile.
    pub is_ended: bool,
}

/// A new instance that was offered to a target.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// By which transfer.
    pub transfer: TransferId,
    /// The token of the target's promise.
    pub token: Token,
    /// The target.
    pub target: NodeId,
    /// The target's journal.
    pub receiver: JournalId,
    /// The new instance.
    pub instance: InstanceId,
    /// Its application.
    pub application: ApplicationId,
    /// The instance whose agent replicates.
    pub parent: InstanceId,
    /// How many replications are left to the parent, and how many go with the new instance.
    pub replications_left: Option<[u32; 2]>,
}

/// A copy that is to stop and counts as hardware until it has.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Draining {
    /// The instance that it was a copy of.
    pub instance: InstanceId,
    /// The application.
    pub application: ApplicationId,
    /// What it uses.
    pub needed: Hardware,
}

/// A neighbour as it last introduced itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct PeerRecord {
    /// Its journal.
    pub journal: JournalId,
    /// The most records that it was seen to have.
    pub sequence: u64,
    /// The highest number of a record that it told; see [`Hello::told`](crate::Hello::told).
    pub told: u64,
}

/// How many of the operators' keys are kept, the newest.
const KEYS_MAX: usize = 1024;

/// What the records of a journal add up to. Nothing else survives a crash.
///
/// [`Ledger::apply`] is the only way to change it, in normal operation and after a restart. A journal that has grown long can
/// be replaced by its ledger.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    pub(crate) sequence: u64,
    pub(crate) boot: Option<(NodeId, JournalId, u32)>,
    pub(crate) owned: BTreeMap<InstanceId, Owned>,
    pub(crate) custody: BTreeMap<InstanceId, Custody>,
    pub(crate) grants: BTreeMap<TransferId, Grant>,
    /// Transfers that were taken and not forgotten yet, with their sources.
    pub(crate) taken: BTreeMap<TransferId, NodeId>,
    pub(crate) draining: BTreeMap<WorkloadId, Draining>,
    /// Copies that are to run in a smaller flavour, and what they use until then beyond what it needs.
    pub(crate) shrinking: BTreeMap<WorkloadId, Hardware>,
    pub(crate) deploys: Vec<(DeployKey, InstanceId)>,
    pub(crate) peers: BTreeMap<NodeId, PeerRecord>,
    /// The number of the last record that concerns each neighbour.
    pub(crate) concerning: BTreeMap<NodeId, u64>,
    /// Journals that will never come back, as operators declared.
    pub(crate) lost: BTreeSet<JournalId>,
}

impl Ledger {
    /// Takes in a record. Total: a record that does not fit what came before changes as much as it can.
    pub fn apply(&mut self, record: &Record) {
        self.sequence += 1;
        match record {
            Record::Boot { node, journal, boot } => self.boot = Some((node.clone(), *journal, *boot)),
            Record::Own { owned, cause } => self.own(owned, cause),
            Record::Custody(custody) => {
                self.concerning.insert(custody.target.clone(), self.sequence);
                self.owned.remove(&custody.owned.instance);
                self.custody.insert(custody.owned.instance.clone(), custody.clone());
            }
            Record::CustodyEnded { instance } => {
                if let Some(mut custody) = self.custody.remove(instance) {
                    self.drain_copy(&custody);
                    (custody.is_running, custody.is_ended) = (false, true);
                    self.custody.insert(instance.clone(), custody);
                }
            }
            Record::Grant(grant) => {
                if let (Some(parent), Some([left, _])) = (self.owned.get_mut(&grant.parent), grant.replications_left) {
                    parent.replications_left = Some(left);
                }
                self.concerning.insert(grant.target.clone(), self.sequence);
                self.grants.insert(grant.transfer, grant.clone());
            }
            Record::Gone { transfer, told } => {
                if let Some(grant) = self.grants.remove(transfer) {
                    self.was_told(&grant.target, grant.receiver, *told);
                }
                if let Some(custody) = self.end_custody(*transfer) {
                    self.was_told(&custody.target, custody.receiver, *told);
                    self.drain_copy(&custody);
                }
            }
            Record::NotTaken { transfer } => {
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
            Record::Undeployed { instance } => {
                if let Some(owned) = self.owned.remove(instance) {
                    self.drain(&owned);
                }
            }
            Record::Adapted { instance, flavour } => self.adapt(instance, *flavour),
            Record::Shrunk { workload } => {
                self.shrinking.remove(workload);
            }
            Record::Stopped { workload } => {
                self.draining.remove(workload);
            }
            Record::Forgotten { transfer } => {
                self.taken.remove(transfer);
            }
            Record::Pinned { instance, is_pinned } => {
                if let Some(owned) = self.owned.get_mut(instance) {
                    owned.is_pinned = *is_pinned;
                }
            }
            Record::Lost { journal } => {
                self.lost.insert(*journal);
            }
            Record::Peer { node, journal, sequence } => {
                let before = self.peers.get(node).filter(|peer| peer.journal == *journal);
                let told = before.map_or(0, |peer| peer.told);
                self.peers.insert(node.clone(), PeerRecord { journal: *journal, sequence: *sequence, told });
            }
        }
    }

    /// A neighbour told the number of a record of its journal.
    fn was_told(&mut self, node: &NodeId, journal: JournalId, told: u64) {
        if let Some(peer) = self.peers.get_mut(node).filter(|peer| peer.journal == journal) {
            peer.told = peer.told.max(told);
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
            OwnCause::Taken { transfer, from, told } => {
                self.concerning.insert(from.clone(), self.sequence);
                self.was_told(from, transfer.journal, *told);
                self.taken.insert(*transfer, from.clone());
                // The instance came back before its old custody ended: the old copy goes.
                if let Some(custody) = self.custody.remove(&owned.instance) {
                    self.drain_copy(&custody);
                }
            }
            OwnCause::Replicated { parent, replications_left } => {
                if let Some(parent) = self.owned.get_mut(parent) {
                    parent.replications_left = *replications_left;
                }
            }
            // Here, and where it is adopted, the copy in custody is the copy of what is owned now.
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

    /// The custody that a transfer began.
    pub(crate) fn custody_of(&self, transfer: TransferId) -> Option<&Custody> {
        self.custody.values().find(|custody| custody.transfer == transfer)
    }

    fn drain_copy(&mut self, custody: &Custody) {
        if custody.is_running {
            self.drain(&custody.owned);
        }
    }

    fn adapt(&mut self, instance: &InstanceId, flavour: FlavourIndex) {
        let Some(owned) = self.owned.get_mut(instance) else { return };
        let surplus = self.shrinking.remove(&owned.workload).unwrap_or(Hardware::NONE);
        let used = owned.needed().saturating_add(surplus);
        owned.flavour = flavour;
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

    /// What all copies on the node use: of what it owns, of what it has in custody, and of what is to stop. A copy in custody
    /// that was stopped before it was handed over keeps its place: the instance is owned again if the target does not take it.
    pub fn used(&self) -> Hardware {
        let owned = self.owned.values().map(Owned::needed);
        let custody = self.custody.values().filter(|custody| !custody.is_ended).map(|custody| custody.owned.needed());
        let draining = self.draining.values().map(|draining| draining.needed);
        let shrinking = self.shrinking.values().copied();
        owned.chain(custody).chain(draining).chain(shrinking).fold(Hardware::NONE, Hardware::saturating_add)
    }

    /// How many records it adds up.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The instances that are the node's, in the order of their ids.
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

    /// The copies that are to stop, in the order of their ids.
    pub fn draining(&self) -> impl Iterator<Item = (&WorkloadId, &Draining)> {
        self.draining.iter()
    }

    /// The neighbours as they last introduced themselves, in the order of their ids.
    pub fn peers(&self) -> impl Iterator<Item = (&NodeId, &PeerRecord)> {
        self.peers.iter()
    }

    /// The number of the last record that concerns a neighbour.
    pub(crate) fn concerning(&self, neighbour: &NodeId) -> u64 {
        self.concerning.get(neighbour).copied().unwrap_or(0)
    }

    /// Transfers that were taken and not forgotten yet, with their sources.
    pub fn taken(&self) -> impl Iterator<Item = (&TransferId, &NodeId)> {
        self.taken.iter()
    }

    /// Transfers that were taken and whose sources may still ask about them.
    pub(crate) fn unforgotten(&self) -> impl Iterator<Item = TransferId> {
        self.taken.keys().copied().filter(|transfer| !self.lost.contains(&transfer.journal))
    }

    /// The copies that are to run on the node, or to stop: what else runs there is nobody's.
    pub fn workloads(&self) -> impl Iterator<Item = WorkloadId> {
        let owned = self.owned.values().map(|owned| owned.workload);
        let custody = self.custody.values().map(|custody| custody.owned.workload);
        owned.chain(custody).chain(self.draining.keys().copied())
    }
}

impl Owned {
    /// The effect that starts its copy.
    pub(crate) fn start(&self) -> Effect {
        let (instance, descriptor) = (self.instance.clone(), Arc::clone(&self.descriptor));
        Effect::Start { workload: self.workload, instance, descriptor }
    }

    /// The effect that adopts its copy if that runs, or starts it.
    pub(crate) fn resume(&self) -> Effect {
        let (instance, descriptor) = (self.instance.clone(), Arc::clone(&self.descriptor));
        Effect::Resume { workload: self.workload, instance, descriptor }
    }

    /// The effect that has its copy run in its flavour; `None` if that is the default of an application without flavours.
    pub(crate) fn adapt(&self) -> Option<Effect> {
        let flavour = self.descriptor.application.flavour(self.flavour)?.id.clone();
        Some(Effect::Adapt { workload: self.workload, instance: self.instance.clone(), flavour })
    }

    /// What its copy uses, once it runs in its flavour.
    pub fn needed(&self) -> Hardware {
        self.descriptor.application.needed_in(self.flavour)
    }
}
