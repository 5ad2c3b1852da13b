//! The limits of connections in `node.toml`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NodeConfig;
use crate::admission::Admission;
use crate::traffic::TrafficLimits;

/// The limits of connections to the node: how many it serves at once, and how long a client may take to send the head
/// of a request. With them, no client can shut out others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsFile {
    /// The maximum number of connections of clients. Fewer are served if the limit of open files of the daemon is too
    /// low for them.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub clients_max: u32,
    /// The maximum number of connections from one client address (an address of IPv4, or a network of 64 bits of
    /// IPv6); by default, a quarter of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub clients_per_address_max: Option<u32>,
    /// How long the head of a client's request may take, in milliseconds, from the first moment of the connection or
    /// from the end of the request before it.
    #[schemars(range(min = 100, max = 3_600_000))]
    pub head_ms: u64,
    /// The maximum number of connections of operators.
    #[schemars(range(min = 1, max = 100_000))]
    pub operators_max: u32,
    /// The maximum number of connections, each for operators and for neighbours, whose peers have not shown their
    /// certificates yet. A new one takes the place of the one that has waited for longest.
    #[schemars(range(min = 1, max = 100_000))]
    pub strangers_max: u32,
    /// The maximum number of such connections from one address.
    #[schemars(range(min = 1, max = 100_000))]
    pub strangers_per_address_max: u32,
}

impl Default for LimitsFile {
    fn default() -> LimitsFile {
        LimitsFile {
            clients_max: 4_096,
            clients_per_address_max: None,
            head_ms: 30_000,
            operators_max: 64,
            strangers_max: 64,
            strangers_per_address_max: 16,
        }
    }
}

/// How many days before a certificate expires a node warns, if `node.toml` does not say.
pub(super) const fn default_warn_days() -> u32 {
    30
}

impl NodeConfig {
    /// The limits of the data plane, for at most `clients_max` clients.
    pub(crate) fn traffic_limits(&self, clients_max: usize) -> TrafficLimits {
        let connections_max = clients_max.min(self.limits.clients_max as usize);
        let per_address = self.limits.clients_per_address_max.map_or(connections_max / 4, |places| places as usize);
        TrafficLimits {
            connections_max,
            connections_per_address_max: per_address.clamp(1, connections_max),
            copy_connections_max: connections_max,
            head_timeout: Duration::from_millis(self.limits.head_ms),
            ..TrafficLimits::default()
        }
    }

    /// The admission of peers of a listener that have not identified themselves yet.
    pub(crate) fn strangers(&self, listener: &'static str) -> Admission {
        let LimitsFile { strangers_max, strangers_per_address_max, .. } = self.limits;
        Admission::new(listener, strangers_max as usize, strangers_per_address_max as usize)
    }
}
