//! The entries of a ledger: owned instances, custody, grants, draining copies, and neighbours.

use std::sync::Arc;

use mario_domain::{ApplicationId, FlavourId, FlavourIndex, Hardware, InstanceId, NodeId, Wakefulness};
use serde::{Deserialize, Serialize};

use crate::descriptor::Descriptor;
use crate::ids::{DeployKey, Epoch, JournalId, Token, TransferId, WorkloadId};
use crate::input::Effect;
use crate::message::AgentSnapshot;

/// An instance that this node owns, as recorded.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Owned {
    /// The instance.
    pub instance: InstanceId,
    /// Its epoch on this node.
    pub epoch: Epoch,
    /// Its copy.
    pub workload: WorkloadId,
    /// The description of the application.
    pub descriptor: Arc<Descriptor>,
    /// The flavour that it runs in.
    pub flavour: FlavourIndex,
    /// Whether the instance is awake.
    pub wakefulness: Wakefulness,
    /// The agent's snapshot at the time of the record.
    pub snapshot: Arc<AgentSnapshot>,
    /// How many replications it has left; `None` for unlimited.
    pub replications_left: Option<u32>,
    /// Whether an operator pinned it.
    pub is_pinned: bool,
    /// Whether it is an anchor: an operator deployed it, and its agent cannot undeploy it. A replica is none.
    pub is_anchor: bool,
}

/// How a node came to own an instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum OwnCause {
    /// An operator deployed it.
    Deployed {
        /// The idempotency key of the deploy.
        key: DeployKey,
    },
    /// A neighbour handed it over, or offered it as a new instance.
    Taken {
        /// The transfer.
        transfer: TransferId,
        /// The neighbour.
        from: NodeId,
        /// The number that the source sent, see [`Hello::concerning`](crate::Hello::concerning).
        concerning: u64,
    },
    /// An agent on this node created a replica on the same node.
    Replicated {
        /// The instance of that agent.
        parent: InstanceId,
        /// How many replications the parent has left; `None` for unlimited.
        replications_left: Option<u32>,
    },
    /// The instance was in custody, and the target will never take it.
    NotTaken {
        /// The transfer.
        transfer: TransferId,
    },
    /// The instance was in custody under another id; an operator declared the target lost.
    Adopted {
        /// The transfer.
        transfer: TransferId,
    },
}

/// An instance that was handed over, and that the target may already own.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Custody {
    /// The instance, with the snapshot of its agent at the hand-over.
    pub owned: Owned,
    /// The transfer.
    pub transfer: TransferId,
    /// The token of the target's reservation.
    pub token: Token,
    /// The target.
    pub target: NodeId,
    /// The target's journal.
    pub receiver: JournalId,
    /// Whether the copy here is to run: false if the application is exclusive, or if the instance sleeps or was ended.
    pub is_running: bool,
    /// Whether an operator ended it in the meantime.
    pub is_ended: bool,
}

/// A new instance that was offered to a target.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// The transfer.
    pub transfer: TransferId,
    /// The token of the target's reservation.
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
    /// How many replications the parent has left, and how many the new instance gets; `None` for unlimited.
    pub replications_left: Option<[u32; 2]>,
}

/// A copy that is stopping; its hardware counts as used until it has stopped.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Draining {
    /// The instance that it was a copy of.
    pub instance: InstanceId,
    /// The application.
    pub application: ApplicationId,
    /// The hardware that it uses.
    pub needed: Hardware,
}

/// What is recorded about a neighbour: its last introduction or rejection, and the number in its messages on transfers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct PeerRecord {
    /// Its journal.
    pub journal: JournalId,
    /// The number of records that it last reported; `u64::MAX` if it is rejected.
    pub sequence: u64,
    /// The highest [`Hello::concerning`](crate::Hello::concerning) that it has sent in a `Transfer` or `Taken`.
    pub concerning: u64,
}

/// Why a journal must not be used any more: its file is an old copy. What happened since is not in it, so the instances
/// in it may be on other nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Outdated {
    /// The neighbour from which the node learned it.
    pub by: NodeId,
    /// How it shows.
    pub evidence: Evidence,
}

/// How it shows that a journal is an old copy.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Evidence {
    /// The neighbour has rejected it, or an operator has declared it lost.
    Rejected,
    /// It had more records before.
    Records {
        /// How many the neighbour knows of.
        known: u64,
        /// How many it has.
        own: u64,
    },
    /// It lacks a record in which an instance was handed over or offered to the neighbour, or taken from it.
    Exchange {
        /// The number of the last such record, according to the neighbour.
        known: u64,
        /// The number of the last one that it has.
        own: u64,
    },
    /// An instance that it owns was on the neighbour later.
    Epoch {
        /// The instance.
        instance: InstanceId,
        /// Its epoch on the neighbour.
        known: Epoch,
        /// Its epoch in the journal.
        own: Epoch,
    },
}

impl std::fmt::Display for Outdated {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by = &self.by;
        formatter.write_str("the journal of this node is an old copy: ")?;
        match &self.evidence {
            Evidence::Rejected => write!(formatter, "neighbour {by} rejects it"),
            Evidence::Records { known, own } => {
                write!(formatter, "it had {known} records when neighbour {by} last heard of it, and has {own}")
            }
            Evidence::Exchange { known, own: 0 } => {
                write!(formatter, "it lacks record {known}, which is of a transfer with neighbour {by}")
            }
            Evidence::Exchange { known, own } => write!(
                formatter,
                "it lacks record {known}, which is of a transfer with neighbour {by}: its last one is record {own}"
            ),
            Evidence::Epoch { instance, known, own } => write!(
                formatter,
                "instance {instance} was on neighbour {by} in epoch {known}, and is in epoch {own} here",
                known = known.0,
                own = own.0
            ),
        }
    }
}

impl PeerRecord {
    /// Whether the neighbour is rejected.
    pub fn is_rejected(&self) -> bool {
        self.sequence == u64::MAX
    }
}

impl Owned {
    /// The effect that starts its copy.
    pub(crate) fn start(&self) -> Effect {
        let (instance, descriptor) = (self.instance.clone(), Arc::clone(&self.descriptor));
        Effect::Start { workload: self.workload, instance, descriptor, flavour: self.flavour_id() }
    }

    /// The effect that adopts its copy if it runs, or else starts it.
    pub(crate) fn resume(&self) -> Effect {
        let (instance, descriptor) = (self.instance.clone(), Arc::clone(&self.descriptor));
        Effect::Resume { workload: self.workload, instance, descriptor, flavour: self.flavour_id() }
    }

    /// The effect that makes its copy run according to its description, in its flavour.
    pub(crate) fn adapt(&self) -> Effect {
        let (instance, descriptor) = (self.instance.clone(), Arc::clone(&self.descriptor));
        Effect::Adapt { workload: self.workload, instance, descriptor, flavour: self.flavour_id() }
    }

    fn flavour_id(&self) -> Option<FlavourId> {
        Some(self.descriptor.application.flavour(self.flavour)?.id.clone())
    }

    /// The flavour in which it runs under another description: the one of the same name, or else the default.
    pub(crate) fn flavour_in(&self, descriptor: &Descriptor) -> FlavourIndex {
        let same = self.flavour_id().and_then(|flavour| descriptor.application.find_flavour(&flavour));
        same.unwrap_or(FlavourIndex::DEFAULT)
    }

    /// The hardware that its copy needs in its flavour, or keeps while the instance sleeps. A copy that has not changed
    /// to that state yet may use more.
    pub fn needed(&self) -> Hardware {
        self.descriptor.application.held_in(self.flavour, self.wakefulness)
    }

    /// Whether it sleeps, so that its copy must not run.
    pub fn is_asleep(&self) -> bool {
        self.wakefulness.is_asleep()
    }
}
