//! A ledger as plain lists: the form in which a compacted journal stores it, instead of the records that led to it.

use std::sync::Arc;

use mario_domain::{Hardware, InstanceId, NodeId};

use super::{Custody, Draining, Grant, Ledger, Outdated, Owned, PeerRecord};
use crate::descriptor::Descriptor;
use crate::ids::{DeployKey, JournalId, TransferId, WorkloadId};

/// The whole content of a ledger. Lists are in the order of their keys, unless their documentation says otherwise.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StoredLedger {
    /// How many records it replaces.
    pub sequence: u64,
    /// The node of the journal, and its last boot; `None` before the first record.
    pub boot: Option<StoredBoot>,
    /// The instances that the node owns.
    pub owned: Vec<Owned>,
    /// The instances that were handed over and whose targets have not answered.
    pub custody: Vec<Custody>,
    /// The new instances that were offered and whose targets have not answered.
    pub grants: Vec<Grant>,
    /// Transfers whose instances the node has taken and that it has not forgotten, with their sources.
    pub taken: Vec<StoredTaken>,
    /// Copies that are to stop.
    pub draining: Vec<StoredDraining>,
    /// Shrinking copies, and their surplus hardware.
    pub shrinking: Vec<StoredShrinking>,
    /// The kept idempotency keys of deploys, the oldest first.
    pub deploys: Vec<StoredDeploy>,
    /// What is recorded about neighbours.
    pub peers: Vec<StoredPeer>,
    /// For each neighbour, the last record in which an instance was handed over or offered to it, or taken from it.
    pub concerning: Vec<StoredConcern>,
    /// Journals that operators declared lost.
    pub lost: Vec<JournalId>,
    /// For each owned instance that was updated since the node last became its owner, the description before the last
    /// update.
    pub previous: Vec<StoredPrevious>,
    /// Journals that neighbours had before their present ones, the oldest first.
    pub former: Vec<StoredFormer>,
    /// Why the journal must not be used any more; `None` unless it is an old copy.
    pub outdated: Option<Outdated>,
    /// Whether an operator drains the node.
    pub is_draining: bool,
}

/// A journal that a neighbour had before its present one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredFormer {
    /// The neighbour.
    pub node: NodeId,
    /// The journal.
    pub journal: JournalId,
}

/// The node of a journal, and its last boot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredBoot {
    /// The node.
    pub node: NodeId,
    /// The journal.
    pub journal: JournalId,
    /// The number of the last boot, from 0.
    pub boot: u32,
}

/// A transfer whose instance the node has taken and that it has not forgotten.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredTaken {
    /// The transfer.
    pub transfer: TransferId,
    /// The source.
    pub from: NodeId,
}

/// A copy that is to stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredDraining {
    /// The copy.
    pub workload: WorkloadId,
    /// Its instance, and the hardware that it uses.
    pub draining: Draining,
}

/// A shrinking copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredShrinking {
    /// The copy.
    pub workload: WorkloadId,
    /// The hardware that it uses beyond its needs.
    pub surplus: Hardware,
}

/// The idempotency key of a deploy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredDeploy {
    /// The key.
    pub key: DeployKey,
    /// The deployed instance.
    pub instance: InstanceId,
}

/// What is recorded about a neighbour.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredPeer {
    /// The neighbour.
    pub node: NodeId,
    /// Its last introduction or rejection, and the number in its messages on transfers.
    pub peer: PeerRecord,
}

/// The last record in which an instance was handed over or offered to a neighbour, or taken from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredConcern {
    /// The neighbour.
    pub node: NodeId,
    /// The number of the record.
    pub sequence: u64,
}

/// The description of an owned instance before its last update.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredPrevious {
    /// The instance.
    pub instance: InstanceId,
    /// The previous description.
    pub descriptor: Arc<Descriptor>,
}

impl Ledger {
    /// The whole content as plain lists.
    pub fn keep(&self) -> StoredLedger {
        let boot = self.boot.clone().map(|(node, journal, boot)| StoredBoot { node, journal, boot });
        let taken = self.taken.iter().map(|(transfer, from)| StoredTaken { transfer: *transfer, from: from.clone() });
        let draining = self.draining.iter().map(|(workload, draining)| {
            let draining = draining.clone();
            StoredDraining { workload: *workload, draining }
        });
        let shrinking =
            self.shrinking.iter().map(|(workload, surplus)| StoredShrinking { workload: *workload, surplus: *surplus });
        let deploys = self.deploys.iter().map(|(key, instance)| StoredDeploy { key: *key, instance: instance.clone() });
        let peers = self.peers.iter().map(|(node, peer)| StoredPeer { node: node.clone(), peer: *peer });
        let concerning =
            self.concerning.iter().map(|(node, sequence)| StoredConcern { node: node.clone(), sequence: *sequence });
        let previous = self.previous.iter().map(|(instance, descriptor)| {
            let descriptor = Arc::clone(descriptor);
            StoredPrevious { instance: instance.clone(), descriptor }
        });
        let former = self.former.iter().map(|(node, journal)| StoredFormer { node: node.clone(), journal: *journal });
        StoredLedger {
            sequence: self.sequence,
            boot,
            owned: self.owned.values().cloned().collect(),
            custody: self.custody.values().cloned().collect(),
            grants: self.grants.values().cloned().collect(),
            taken: taken.collect(),
            draining: draining.collect(),
            shrinking: shrinking.collect(),
            deploys: deploys.collect(),
            peers: peers.collect(),
            concerning: concerning.collect(),
            lost: self.lost.iter().copied().collect(),
            previous: previous.collect(),
            former: former.collect(),
            outdated: self.outdated.clone(),
            is_draining: self.is_draining,
        }
    }
}

impl From<StoredLedger> for Ledger {
    fn from(stored: StoredLedger) -> Ledger {
        Ledger {
            sequence: stored.sequence,
            boot: stored.boot.map(|StoredBoot { node, journal, boot }| (node, journal, boot)),
            owned: stored.owned.into_iter().map(|owned| (owned.instance.clone(), owned)).collect(),
            custody: stored.custody.into_iter().map(|custody| (custody.owned.instance.clone(), custody)).collect(),
            grants: stored.grants.into_iter().map(|grant| (grant.transfer, grant)).collect(),
            taken: stored.taken.into_iter().map(|taken| (taken.transfer, taken.from)).collect(),
            draining: stored.draining.into_iter().map(|stored| (stored.workload, stored.draining)).collect(),
            shrinking: stored.shrinking.into_iter().map(|stored| (stored.workload, stored.surplus)).collect(),
            deploys: stored.deploys.into_iter().map(|deploy| (deploy.key, deploy.instance)).collect(),
            peers: stored.peers.into_iter().map(|stored| (stored.node, stored.peer)).collect(),
            concerning: stored.concerning.into_iter().map(|stored| (stored.node, stored.sequence)).collect(),
            lost: stored.lost.into_iter().collect(),
            is_draining: stored.is_draining,
            previous: stored.previous.into_iter().map(|stored| (stored.instance, stored.descriptor)).collect(),
            former: stored.former.into_iter().map(|stored| (stored.node, stored.journal)).collect(),
            outdated: stored.outdated,
        }
    }
}
