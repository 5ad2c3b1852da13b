//! The actions of nodes' owners.

use mario_domain::{Id, InstanceId};
use serde::Deserialize;

/// See [`TraceRecord::Owner`](super::TraceRecord::Owner).
#[derive(Clone, PartialEq, Debug)]
pub struct Owner {
    /// The time of the event.
    pub time: f64,
    /// The node.
    pub node: u32,
    /// The actions, in order.
    pub acts: Vec<OwnerAct>,
}

/// The action of an owner on an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnerAct {
    /// The instance.
    pub instance: InstanceId,
    /// The action.
    pub kind: OwnerActKind,
    /// The reason, as stated by the owner's policy.
    pub reason: String,
}

/// The kind of an owner's action on an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwnerActKind {
    /// The instance was evicted.
    Evicted,
    /// The instance now runs in this flavour, which needs no more hardware than the previous one.
    Shrunk(Id),
    /// The instance will be evicted after this many further evaluations of its agent.
    Announced(u64),
}

/// See [`TraceRecord::Owners`](super::TraceRecord::Owners).
#[derive(Clone, PartialEq, Debug)]
pub struct Owners {
    /// The time of the event.
    pub time: f64,
    /// The numbers of actions of one node's owner, for each application concerned.
    pub rows: Vec<OwnerCounts>,
}

/// The numbers of actions of a node's owner on the instances of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct OwnerCounts {
    /// The application.
    pub application: u32,
    /// The tier of the node.
    pub tier: u32,
    /// Evictions.
    pub evicted: u64,
    /// Shrinks.
    pub shrunk: u64,
    /// Announced evictions.
    pub announced: u64,
}
