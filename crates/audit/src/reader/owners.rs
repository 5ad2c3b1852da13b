//! The actions of nodes' owners.

use mario_domain::{Id, InstanceId};
use serde::Deserialize;

/// See [`Record::Owner`](super::Record::Owner).
#[derive(Clone, PartialEq, Debug)]
pub struct Owner {
    /// When.
    pub time: f64,
    /// Whose owner.
    pub node: u32,
    /// What was done, in order.
    pub acts: Vec<OwnerAct>,
}

/// What an owner did to an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnerAct {
    /// Which instance.
    pub instance: InstanceId,
    /// What was done.
    pub kind: OwnerActKind,
    /// Why, as the owner's policy said it.
    pub reason: String,
}

/// What an owner can do to an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OwnerActKind {
    /// It is gone.
    Evicted,
    /// It runs in this smaller flavour.
    Shrunk(Id),
    /// It will be evicted, after this many more evaluations of its agent.
    Announced(u64),
}

/// See [`Record::Owners`](super::Record::Owners).
#[derive(Clone, PartialEq, Debug)]
pub struct Owners {
    /// When.
    pub time: f64,
    /// What the owner of a node did, for each application that it concerns.
    pub rows: Vec<OwnerCounts>,
}

/// What the owner of a node did to the instances of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct OwnerCounts {
    /// Which application.
    pub application: u32,
    /// The tier of the node.
    pub tier: u32,
    /// Evictions.
    pub evicted: u64,
    /// Shrinks.
    pub shrunk: u64,
    /// Evictions that were announced.
    pub announced: u64,
}
