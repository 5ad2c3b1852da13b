//! The messages between nodes.

use std::sync::Arc;

use mario_domain::{AgentOperation, Fact, FlavourIndex, Hardware, Inhibition, InstanceId, Target, Wakefulness};
use serde::{Deserialize, Serialize};

use crate::descriptor::Descriptor;
use crate::ids::{Epoch, JournalId, Token, TransferId};
use crate::input::RequestFact;
use crate::journal::PeerRecord;
use crate::rules::{History, RememberedOperation};

/// A message between neighbours. Messages may be lost, duplicated, reordered or late. The receiver detects duplicate
/// and late ones by the transfer's id, the reservation's token and the journals; it ignores them, or repeats its
/// answer. The exception is a [`Message::Prepare`] of a transfer that is neither reserved nor taken: it is judged
/// again. Only [`Message::Hello`], which opens a session, never arrives in a later session.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Message {
    /// The first message of a session.
    Hello(Hello),
    /// The source asks the target to reserve hardware.
    Prepare(Arc<Prepare>),
    /// The target has reserved hardware. A healthy copy runs there, unless the application is exclusive or the instance
    /// sleeps: then no copy starts before the instance is taken.
    Ready {
        /// The transfer.
        transfer: TransferId,
        /// The nonce of this reservation.
        token: Token,
    },
    /// The target inhibits the request.
    Inhibit {
        /// The transfer.
        transfer: TransferId,
        /// The reason.
        inhibition: Inhibition,
    },
    /// The source no longer wants the reservation.
    Abort {
        /// The transfer.
        transfer: TransferId,
    },
    /// The source hands the instance over, or offers the new one of a replication. Resent until it is answered.
    Transfer {
        /// The transfer.
        transfer: TransferId,
        /// The token of the reservation.
        token: Token,
        /// The snapshot of the agent.
        snapshot: Arc<AgentSnapshot>,
        /// Whether the instance is an anchor; never of a replica.
        is_anchor: bool,
        /// As in [`Hello::concerning`].
        concerning: u64,
    },
    /// The target has taken the instance. Resent until the source answers [`Message::Forget`].
    Taken {
        /// The transfer.
        transfer: TransferId,
        /// As in [`Hello::concerning`].
        concerning: u64,
    },
    /// The target has not taken the instance and never will by this transfer.
    NotTaken {
        /// The transfer.
        transfer: TransferId,
    },
    /// The source has recorded that the instance is gone: it will not ask about the transfer any more.
    Forget {
        /// The transfer.
        transfer: TransferId,
    },
}

/// The introduction of a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// Its journal.
    pub journal: JournalId,
    /// How many records its journal has. Fewer than before means that its disk was restored from a backup, and the node
    /// is rejected.
    pub sequence: u64,
    /// The number of the last record of its journal in which an instance was handed over or offered to the receiver, or
    /// taken from it; 0 if there is no such record. `Transfer` and `Taken` carry it too. A smaller number than before
    /// means that its disk was restored from a backup, however many records were added since.
    pub concerning: u64,
    /// The open transfers of which it is the source.
    pub open: Vec<TransferId>,
    /// Facts about it for its neighbours' agents.
    pub facts: Vec<Fact>,
    /// What it has recorded about the receiver; `None` if they have not met. A receiver whose journal went back learns
    /// that from it.
    pub knows: Option<PeerRecord>,
    /// The instances that it owns or has in custody, at most [`HELD_MAX`]. A receiver that owns one of them in a lower
    /// epoch has a journal that went back.
    pub held: Vec<HeldInstance>,
}

/// The maximum number of instances in a [`Hello`].
pub const HELD_MAX: usize = 1024;

/// An instance that a node owns or has in custody.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct HeldInstance {
    /// The instance.
    pub instance: InstanceId,
    /// Its epoch on that node.
    pub epoch: Epoch,
}

/// Everything that a target needs to judge a request and to start a copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Prepare {
    /// The transfer.
    pub transfer: TransferId,
    /// Migrate or replicate.
    pub kind: TransferKind,
    /// The instance that the target would own: the one that migrates, or the new one.
    pub instance: InstanceId,
    /// The instance of the proposing agent.
    pub asked_by: InstanceId,
    /// The epoch of the instance on the source; 0 for a new instance.
    pub epoch: Epoch,
    /// The description of the application.
    pub descriptor: Arc<Descriptor>,
    /// The flavour that the instance runs in.
    pub flavour: FlavourIndex,
    /// Whether the instance is awake. A sleeping instance that migrates stays asleep, and its replicas start asleep.
    pub wakefulness: Wakefulness,
    /// How many replications the instance has left on the target; `None` for unlimited.
    pub replications_left: Option<u32>,
    /// The approximate size in bytes of the snapshot that the source will send.
    pub snapshot_bytes: u64,
}

/// The kind of a transfer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum TransferKind {
    /// The instance moves to the target.
    Migrate,
    /// The instance stays, and the target gets a new one.
    Replicate,
}

/// The state that a migrating agent takes along to another node; empty for a replica.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct AgentSnapshot {
    /// How often the agent has evaluated its policy.
    pub evaluations: u32,
    /// The inhibited operations that it remembers.
    pub memory: Vec<RememberedOperation<Target>>,
    /// The history that its policy reads. Requests and operations are kept only if the policy declares that it
    /// remembers them.
    pub history: History<RequestFact, Target>,
}

impl AgentSnapshot {
    /// Its approximate size in bytes. A target takes no instance with a snapshot that is larger than
    /// [`NodeLimits::snapshot_bytes_max`](crate::NodeLimits::snapshot_bytes_max).
    pub fn bytes(&self) -> u64 {
        let target = |target: &Target| match target {
            Target::Own => 0,
            Target::Node(node) => node.to_string().len() as u64,
            Target::Flavour(flavour) => flavour.to_string().len() as u64,
        };
        let memory: u64 = self.memory.iter().chain(&self.history.done).map(|one| 16 + target(&one.target)).sum();
        let request = |fact: &RequestFact| 24 + target(&fact.neighbour);
        let earlier = self.history.requests.iter().map(|facts| 8 + facts.iter().map(request).sum::<u64>());
        memory + earlier.sum::<u64>()
    }
}

impl Prepare {
    /// The hardware that the instance needs on the target.
    pub fn needed(&self) -> Hardware {
        self.descriptor.application.held_in(self.flavour, self.wakefulness)
    }
}

impl TransferKind {
    /// The operation that it carries out.
    pub fn operation(self) -> AgentOperation {
        match self {
            TransferKind::Migrate => AgentOperation::Migrate,
            TransferKind::Replicate => AgentOperation::Replicate,
        }
    }
}

impl Message {
    /// The transfer that it is about; `None` for a hello.
    pub fn transfer(&self) -> Option<TransferId> {
        match self {
            Message::Hello(_) => None,
            Message::Prepare(prepare) => Some(prepare.transfer),
            Message::Ready { transfer, .. }
            | Message::Inhibit { transfer, .. }
            | Message::Abort { transfer }
            | Message::Transfer { transfer, .. }
            | Message::Taken { transfer, .. }
            | Message::NotTaken { transfer }
            | Message::Forget { transfer } => Some(*transfer),
        }
    }
}

// Facts have finite numbers only, so equality is total.
impl Eq for Hello {}

impl std::hash::Hash for Hello {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (self.journal, self.sequence, self.concerning, &self.open).hash(hasher);
    }
}
