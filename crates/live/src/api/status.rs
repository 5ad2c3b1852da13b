//! The status of a node.

use mario_domain::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{AnyId, Capacity, Word, words};

/// The status of a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Its id.
    #[schemars(with = "AnyId")]
    pub node: NodeId,
    /// The version of its daemon.
    #[serde(default)]
    pub version: String,
    /// The time since the daemon started.
    #[serde(default)]
    pub uptime_ms: u64,
    /// The id of its journal: 32 hexadecimal digits.
    #[serde(default)]
    pub journal: String,
    /// Why the journal cannot be written; null if it can.
    pub journal_fault: Option<String>,
    /// Whether neighbours have confirmed the journal.
    #[serde(default)]
    pub confirmation: Word<Confirmation>,
    /// Why the journal must not be used any more; null unless it is an old copy.
    pub outdated: Option<String>,
    /// Why the trace cannot be written; null if it can.
    pub trace_fault: Option<String>,
    /// Why workloads cannot be started; null if they can.
    pub workload_fault: Option<String>,
    /// Why another node seems to have the same id; null if none does.
    pub id_fault: Option<String>,
    /// Its certificates.
    #[serde(default)]
    pub certificates: Vec<CertificateStatus>,
    /// Whether it is draining: it accepts no new instances, and hands its own over.
    #[serde(default)]
    pub is_draining: bool,
    /// How often agents evaluate their policies.
    #[schemars(with = "u64")]
    pub evaluation_ms: Option<u64>,
    /// The file of its acceptance policy; null if it accepts what fits.
    pub acceptance_policy: Option<String>,
    /// Its hardware.
    #[schemars(with = "Capacity")]
    pub capacity: Option<Capacity>,
    /// The hardware that no instance here uses.
    #[schemars(with = "Capacity")]
    pub free: Option<Capacity>,
    /// The hardware that is neither used nor reserved.
    #[schemars(with = "Capacity")]
    pub unreserved: Option<Capacity>,
    /// The instances here, including those in custody.
    #[serde(default)]
    pub instances: usize,
    /// The instances that were handed over, and whose arrival is not confirmed yet.
    #[serde(default)]
    pub in_custody: usize,
    /// The replicas that are offered to neighbours.
    #[serde(default)]
    pub offered: usize,
    /// The copies that finish their open requests before they stop.
    #[serde(default)]
    pub draining_copies: usize,
    /// The copies that are down, and are started again.
    #[serde(default)]
    pub copies_down: usize,
    /// Whether no transfer is open.
    #[serde(default)]
    pub is_quiet: bool,
    /// The links that are up.
    #[serde(default)]
    pub links_up: usize,
    /// The configured neighbours.
    #[serde(default)]
    pub neighbours: usize,
}

words! {
    /// Whether neighbours have confirmed the journal of a node since it started.
    #[derive(Default)]
    Confirmation {
        /// A neighbour has, or none has to.
        #[default]
        Confirmed = "confirmed",
        /// No neighbour has yet.
        Unconfirmed = "unconfirmed",
        /// The journal is an old copy.
        Outdated = "outdated",
    }
}

/// A certificate of a node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CertificateStatus {
    /// `node` or `authority`.
    pub certificate: String,
    /// In how many seconds it expires; negative if it has expired.
    pub expires_in_s: i64,
    /// What an operator should do; null if the certificate is valid for long enough.
    pub warning: Option<String>,
}

/// The answer to a health check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Whether the node can write its journal and start workloads.
    pub is_healthy: bool,
    /// Why it cannot; null if it can.
    pub fault: Option<String>,
}
