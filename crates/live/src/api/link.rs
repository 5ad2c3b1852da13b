//! The links of a node.

use mario_domain::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::AnyId;

/// The links of a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Links {
    /// One for each configured neighbour.
    pub links: Vec<Link>,
}

/// A link to a neighbour.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// The neighbour.
    #[schemars(with = "AnyId")]
    pub neighbour: NodeId,
    /// Its address.
    #[serde(default)]
    pub address: String,
    /// Whether the control connection is up.
    #[serde(default)]
    pub is_up: bool,
    /// Whether the data connection to the neighbour is up.
    #[serde(default)]
    pub has_data: bool,
    /// The smoothed round-trip time, in milliseconds; null before the first measurement.
    pub round_trip_ms: Option<f64>,
    /// Why the link is down, or the neighbour is rejected or has a second node with its id; null otherwise.
    pub fault: Option<String>,
    /// Messages queued for sending, without pings and pongs.
    #[serde(default)]
    pub sent: u64,
    /// Messages received, including pings and pongs.
    #[serde(default)]
    pub received: u64,
    /// Messages that were not sent.
    #[serde(default)]
    pub dropped: u64,
    /// How often the link came up.
    #[serde(default)]
    pub sessions: u64,
    /// Whether the node rejects the journal of the neighbour.
    #[serde(default)]
    pub is_rejected: bool,
}
