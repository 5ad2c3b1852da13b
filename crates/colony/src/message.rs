//! What nodes say to each other.

use std::sync::Arc;

use mario_domain::{AgentOperation, Fact, FlavourIndex, Hardware, Inhibition, InstanceId, Target, Wakefulness};
use serde::{Deserialize, Serialize};

use crate::descriptor::Descriptor;
use crate::ids::{Epoch, JournalId, Token, TransferId};
use crate::input::RequestFact;
use crate::rules::{History, Remembered};

/// A message between neighbours. Any of them may be lost, repeated or late; [`Message::Hello`] opens a session and is never
/// older than it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Message {
    /// The first message of a session.
    Hello(Hello),
    /// The source asks for a place.
    Prepare(Arc<Prepare>),
    /// The target has reserved hardware. Unless copies may not overlap, a healthy copy runs there.
    Ready {
        /// Which transfer.
        transfer: TransferId,
        /// The nonce of this promise.
        token: Token,
    },
    /// The target has no place.
    Inhibit {
        /// Which transfer.
        transfer: TransferId,
        /// Why.
        inhibition: Inhibition,
    },
    /// The source no longer wants the reservation.
    Abort {
        /// Which transfer.
        transfer: TransferId,
    },
    /// The source hands the instance over. Sent until it is answered.
    Transfer {
        /// Which transfer.
        transfer: TransferId,
        /// That of the promise.
        token: Token,
        /// What the agent takes along.
        luggage: Arc<Luggage>,
        /// As in [`Hello::told`].
        told: u64,
    },
    /// The instance is the target's. Sent until the source says [`Message::Forget`].
    Taken {
        /// Which transfer.
        transfer: TransferId,
        /// As in [`Hello::told`].
        told: u64,
    },
    /// The target has not taken the instance and never will by this transfer.
    NotTaken {
        /// Which transfer.
        transfer: TransferId,
    },
    /// The source has recorded that the instance is gone: it will not ask about the transfer any more.
    Forget {
        /// Which transfer.
        transfer: TransferId,
    },
}

/// How a node introduces itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// Its journal.
    pub journal: JournalId,
    /// How many records its journal has. Fewer than before means that a disk was restored from a backup, and the node
    /// is rejected.
    pub sequence: u64,
    /// The number of the last record of its journal that concerns the receiver. `Transfer` and `Taken` carry it, too: a
    /// smaller one than before means that a disk was restored from a backup, however many records it has got since.
    pub told: u64,
    /// The transfers that it is the source of and that are open.
    pub open: Vec<TransferId>,
    /// Facts about it for its neighbours' agents.
    pub facts: Vec<Fact>,
}

/// What a target needs to judge a request and to start a copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Prepare {
    /// Which transfer.
    pub transfer: TransferId,
    /// Migrate or replicate.
    pub kind: TransferKind,
    /// The instance that the target would own: the one that migrates, or the new one.
    pub instance: InstanceId,
    /// The instance whose agent asks.
    pub asked_by: InstanceId,
    /// The epoch of the instance on the source.
    pub epoch: Epoch,
    /// What is run.
    pub descriptor: Arc<Descriptor>,
    /// The flavour that it runs in.
    pub flavour: FlavourIndex,
    /// Whether it is awake. A sleeper that migrates stays asleep, and the replica of a sleeper sleeps.
    pub wakefulness: Wakefulness,
    /// How many replications the instance takes along; `None` for unlimited.
    pub replications_left: Option<u32>,
    /// The size of the agent's luggage.
    pub luggage_bytes: u64,
}

/// What happens to the instance on the source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum TransferKind {
    /// It moves to the target.
    Migrate,
    /// It stays, and the target gets a new one.
    Replicate,
}

/// What an agent takes along: empty for a replica.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Luggage {
    /// How often it has evaluated its policy.
    pub evaluations: u32,
    /// What it remembers as inhibited.
    pub memory: Vec<Remembered<Target>>,
    /// Its past; empty unless its policy looks back.
    pub history: History<RequestFact, Target>,
}

impl Luggage {
    /// Its size, as bounds count it.
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
    /// What the instance needs.
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

// Facts hold finite numbers only, so that equality is total.
impl Eq for Hello {}

impl std::hash::Hash for Hello {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        (self.journal, self.sequence, self.told, &self.open).hash(hasher);
    }
}
