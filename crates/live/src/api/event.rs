//! The events of a node.

use mario_domain::{ApplicationId, InstanceId, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CopyState;
use super::report::Report;
use super::words::{AnyId, Word};

/// An event with its number and its time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// The sequence number, from 1.
    #[serde(default)]
    pub number: u64,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub time_ms: u64,
    /// The event.
    #[serde(flatten)]
    #[schemars(with = "NodeEvent")]
    pub event: Happening,
    /// For an event that repeats: how many were not published since the last one, including this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<u64>,
}

/// An event, of this version or a newer one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Happening {
    /// An event of this version.
    Known(NodeEvent),
    /// An event that this version does not know, or a known one that has changed.
    Unknown(UnknownEvent),
}

/// An event that this version does not know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UnknownEvent {
    /// Its name.
    pub event: String,
    /// Its fields.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// An event on a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum NodeEvent {
    /// The daemon has started.
    Started {
        /// The node.
        #[schemars(with = "AnyId")]
        node: Option<NodeId>,
        /// The id of its journal.
        #[serde(default)]
        journal: String,
        /// The number of records in it.
        #[serde(default)]
        records: u64,
    },
    /// The node has restarted, and no neighbour has confirmed its journal yet.
    Unconfirmed,
    /// Processes of workloads of a former journal in the same data directory were ended.
    OrphansEnded {
        /// How many.
        processes: usize,
    },
    /// The limit of open files.
    OpenFiles {
        /// The limit after the daemon raised it; null for no limit.
        limit: Option<u64>,
        /// The limit before.
        limit_before: Option<u64>,
        /// How many clients the daemon serves at once.
        #[serde(default)]
        clients_max: usize,
        /// How many of them may have the same address.
        #[serde(default)]
        clients_per_address_max: usize,
        /// Whether the limit suffices for as many clients as are configured.
        is_enough: bool,
    },
    /// What the limits of a listener did since the last event of this kind.
    ConnectionsLimited {
        /// The listener.
        listener: String,
        /// Connections that were closed at once, because the places of their address were taken.
        #[serde(default)]
        refused: u64,
        /// Connections that were closed because they were silent and a new one needed the place.
        #[serde(default)]
        replaced: u64,
        /// Connections that were closed because they sent nothing in time.
        #[serde(default)]
        silent: u64,
        /// How often all places were taken, so that a new connection had to wait or was closed.
        #[serde(default)]
        full: u64,
        /// Connections that the system could not accept.
        #[serde(default)]
        failed: u64,
        /// What happened last: the address concerned, or the error of the system.
        #[serde(default)]
        last: String,
    },
    /// A signal that does not end the daemon.
    SignalIgnored {
        /// The signal.
        signal: String,
        /// Why it is ignored.
        #[serde(default)]
        message: String,
    },
    /// A certificate has expired, or expires soon.
    CertificateExpires {
        /// `node` or `authority`.
        certificate: String,
        /// In how many seconds; negative if it has expired.
        #[serde(default)]
        expires_in_s: i64,
        /// What an operator should do.
        message: String,
    },
    /// The daemon shuts down; workloads keep running.
    Stopping,
    /// An error.
    Fault {
        /// What happened.
        message: String,
    },
    /// The link to a neighbour is up.
    LinkUp {
        /// The neighbour.
        #[schemars(with = "AnyId")]
        neighbour: NodeId,
    },
    /// The link to a neighbour is down.
    LinkDown {
        /// The neighbour.
        #[schemars(with = "AnyId")]
        neighbour: NodeId,
    },
    /// A connection to or from a neighbour ended, or failed.
    LinkFailed {
        /// The neighbour.
        #[schemars(with = "AnyId")]
        neighbour: NodeId,
        /// Why.
        #[serde(default)]
        cause: String,
    },
    /// A connection to this node's address for neighbours was rejected.
    Refused {
        /// The address that it came from.
        address: String,
        /// Why.
        #[serde(default)]
        cause: String,
    },
    /// A copy of an application changed its state.
    Copy {
        /// The id of the copy.
        workload: String,
        /// Its instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// Its state.
        state: Word<CopyState>,
    },
    /// An application claims a name that another one holds. The holder keeps it.
    NameClaimedTwice {
        /// The name.
        name: String,
        /// The application that holds it.
        #[schemars(with = "AnyId")]
        holder: ApplicationId,
        /// The application that claims it.
        #[schemars(with = "AnyId")]
        claimed_by: ApplicationId,
    },
    /// A neighbour announced names of an application without a valid proof.
    NamesRefused {
        /// The neighbour.
        #[schemars(with = "AnyId")]
        neighbour: NodeId,
        /// What is wrong with the proof.
        #[serde(default)]
        cause: String,
    },
    /// The journal cannot be written: nothing new is reserved.
    JournalFails {
        /// Why.
        cause: String,
    },
    /// The journal can be written again.
    JournalWorks,
    /// The node's part of the trace cannot be written. Nothing else is affected.
    TraceFails {
        /// Why.
        cause: String,
    },
    /// The trace can be written again.
    TraceWorks,
    /// A shadow policy proposed something other than the policy in use.
    ShadowDiffers {
        /// The instance.
        #[schemars(with = "AnyId")]
        instance: InstanceId,
        /// The proposal of the policy in use.
        policy: String,
        /// The proposal of the shadow.
        shadow: String,
    },
    /// A report of the node.
    Report {
        /// The report.
        report: Report,
    },
}
