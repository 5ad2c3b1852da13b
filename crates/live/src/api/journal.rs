//! The journal of a node.

use mario_domain::{InstanceId, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{AnyId, Word, words};

/// The journal of a node, and the transfers that are open in it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct JournalStatus {
    /// The id of the journal: 32 hexadecimal digits.
    #[serde(default)]
    pub journal: String,
    /// The number of its records.
    #[serde(default)]
    pub records: u64,
    /// The number of its records since it was last shortened.
    #[serde(default)]
    pub records_since_ledger: u64,
    /// The number of the last record.
    #[serde(default)]
    pub sequence: u64,
    /// Why it cannot be written; null if it can.
    pub fault: Option<String>,
    /// The instances that were handed over, and whose arrival is not confirmed yet.
    #[serde(default)]
    pub custody: Vec<CustodyStatus>,
    /// The replicas that are offered to neighbours.
    #[serde(default)]
    pub grants: Vec<GrantStatus>,
    /// The journals of neighbours.
    #[serde(default)]
    pub peers: Vec<Peer>,
}

/// An instance that was handed over.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CustodyStatus {
    /// The instance.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// The neighbour that it was handed over to.
    #[schemars(with = "AnyId")]
    pub target: NodeId,
    /// The transfer.
    #[serde(default)]
    pub transfer: String,
}

/// A replica that is offered to a neighbour.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GrantStatus {
    /// The replica.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// The instance that replicates.
    #[schemars(with = "AnyId")]
    pub parent: InstanceId,
    /// The neighbour.
    #[schemars(with = "AnyId")]
    pub target: NodeId,
}

/// The journal of a neighbour.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// The neighbour.
    #[schemars(with = "AnyId")]
    pub node: NodeId,
    /// The id of its journal.
    #[serde(default)]
    pub journal: String,
    /// The number of its last known record; null if the journal is not in use any more.
    pub sequence: Option<u64>,
    /// Its state.
    #[serde(default)]
    pub state: Word<PeerState>,
}

words! {
    /// The state of the journal of a neighbour.
    #[derive(Default)]
    PeerState {
        /// It is in use.
        #[default]
        Known = "known",
        /// It lacks records that it had before.
        Rejected = "rejected",
        /// The neighbour has another one now.
        Replaced = "replaced",
        /// An operator declared it lost.
        Lost = "lost",
    }
}
