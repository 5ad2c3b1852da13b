//! The keys of `node.toml`, with their defaults and ranges.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::limits::{self, LimitsFile};
use crate::application::PlainValue;
use crate::workloads::DriverKind;

/// The configuration file of a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeFile {
    /// The node's id, which must match its certificate.
    pub id: String,
    /// The node's units of hardware.
    pub capacity: u64,
    /// The directory of its journal, its trace and the data of its workloads, relative to the directory of this file.
    #[serde(default = "default_data")]
    pub data: PathBuf,
    /// The file with the policy of the node's owner, which says what the node accepts, evicts and shrinks; relative to
    /// the directory of this file. If absent, the node accepts every instance that fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PathBuf>,
    /// Facts about the node, visible to its agents, its neighbours' agents and its acceptance policy.
    #[serde(default)]
    pub facts: BTreeMap<String, PlainValue>,
    /// Where it listens.
    pub listen: ListenFile,
    /// Its certificate, its key, and the certificate of the colony's authority.
    pub identity: IdentityFile,
    /// The certificates that the ingress presents to clients, at most 256. If there is at least one, the ingress
    /// accepts TLS only. A client that asks for a host without a certificate gets the first one.
    #[serde(default)]
    pub tls: Vec<TlsFile>,
    /// The nodes that it talks to, at most 256.
    #[serde(default)]
    pub neighbours: Vec<NeighbourFile>,
    /// Periods and timeouts.
    #[serde(default)]
    pub timing: TimingFile,
    /// The limits of connections to the node.
    #[serde(default)]
    pub limits: LimitsFile,
    /// How workloads are run.
    #[serde(default)]
    pub workloads: WorkloadsFile,
    /// The node's part of the trace of its colony.
    #[serde(default)]
    pub trace: TraceFile,
    /// The node's journal.
    #[serde(default)]
    pub journal: JournalFile,
}

/// The journal of a node, in the data directory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JournalFile {
    /// After how many records the journal is compacted into a ledger.
    #[schemars(range(min = 16, max = 1_000_000_000))]
    pub shorten_after: u64,
    /// What the node serves after a restart until a neighbour has confirmed that its journal is not an old copy.
    pub unconfirmed: UnconfirmedFile,
}

/// What a node serves until a neighbour has confirmed its journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnconfirmedFile {
    /// All its instances, except for those of exclusive applications; it accepts no new instances.
    #[default]
    AllButExclusive,
    /// All its instances, and it accepts new ones.
    All,
}

impl Default for JournalFile {
    fn default() -> JournalFile {
        JournalFile { shorten_after: 8_192, unconfirmed: UnconfirmedFile::default() }
    }
}

/// The node's part of the trace of its colony, in `trace` in the data directory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TraceFile {
    /// The maximum size of all its files together, in bytes: at least 65,536, or 0 to write nothing. The oldest files
    /// are removed first.
    #[schemars(range(max = 1_099_511_627_776_u64))]
    pub bytes_max: u64,
}

impl Default for TraceFile {
    fn default() -> TraceFile {
        TraceFile { bytes_max: 64 << 20 }
    }
}

/// Where a node listens.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListenFile {
    /// An IP address and a port for its neighbours, e.g. `127.0.0.1:7440`.
    pub links: String,
    /// An IP address and a port for clients of applications.
    pub ingress: String,
    /// An IP address and a port for operators and monitoring.
    pub operators: String,
}

/// The files of a node's identity. Paths are relative to the directory of `node.toml`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityFile {
    /// The certificate of the colony's authority.
    pub authority: PathBuf,
    /// The certificate of the node.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// How many days before a certificate expires the log and the status warn.
    #[serde(default = "limits::default_warn_days")]
    #[schemars(range(max = 36_500))]
    pub warn_days: u32,
}

/// A certificate that the ingress presents to clients, from an authority that they trust. Paths are relative to the
/// directory of `node.toml`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlsFile {
    /// The certificate in PEM, followed by the chain to its authority.
    pub certificate: PathBuf,
    /// Its private key in PEM, which no other user may read.
    pub key: PathBuf,
}

/// A node that this one talks to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeighbourFile {
    /// Its id.
    pub id: String,
    /// Its address for links: a host name or an address, and a port.
    pub address: String,
}

/// Periods and timeouts, in milliseconds except for `notice`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimingFile {
    /// How often each agent evaluates its policy.
    #[schemars(range(min = 50, max = 86_400_000))]
    pub evaluation_ms: u64,
    /// How often the node's policy is evaluated for evictions and shrinks; by default, as often as agents evaluate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 50, max = 86_400_000))]
    pub owner_ms: Option<u64>,
    /// How many evaluations an agent has left when the eviction of its instance is announced.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub notice: u32,
    /// How long this node waits for the target of a transfer to be ready before it aborts the transfer.
    #[schemars(range(min = 100, max = 3_600_000))]
    pub prepare_ms: u64,
    /// How long this node keeps the reservation for an instance that is to arrive; at least `prepare_ms`.
    #[schemars(range(min = 100, max = 3_600_000))]
    pub reservation_ms: u64,
    /// The delay before an unanswered message is first resent; it doubles each time, up to `resend_ms_max`.
    #[schemars(range(min = 10, max = 60_000))]
    pub resend_ms: u64,
    /// The maximum delay between resends of a message.
    #[schemars(range(min = 10, max = 3_600_000))]
    pub resend_ms_max: u64,
    /// How long a copy that has ended or not started for the second time waits for its restart; after the first time, it
    /// is restarted at once. The delay doubles each time, up to `restart_ms_max`.
    #[schemars(range(min = 10, max = 3_600_000))]
    pub restart_ms: u64,
    /// The maximum delay of a restart.
    #[schemars(range(min = 10, max = 3_600_000))]
    pub restart_ms_max: u64,
    /// How long a copy must be healthy until its next restart is at once again.
    #[schemars(range(min = 100, max = 86_400_000))]
    pub restart_reset_ms: u64,
    /// How long a link may be silent before it counts as down.
    #[schemars(range(min = 300, max = 60_000))]
    pub silence_ms: u64,
    /// The unit to which latencies are rounded.
    #[schemars(range(min = 0.001, max = 1_000.0))]
    pub latency_quantum_ms: f64,
}

impl Default for TimingFile {
    fn default() -> TimingFile {
        TimingFile {
            evaluation_ms: 5_000,
            owner_ms: None,
            notice: 3,
            prepare_ms: 30_000,
            reservation_ms: 60_000,
            resend_ms: 200,
            resend_ms_max: 30_000,
            restart_ms: 500,
            restart_ms_max: 10_000,
            restart_reset_ms: 60_000,
            silence_ms: 3_000,
            latency_quantum_ms: 1.0,
        }
    }
}

/// How workloads are run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkloadsFile {
    /// The drivers that this node offers: `process`, `sample` or both. Applications that need another driver are
    /// rejected.
    pub drivers: Vec<String>,
    /// The maximum size of the log of one copy, in bytes.
    #[schemars(range(min = 4_096, max = 1_073_741_824))]
    pub log_bytes_max: u64,
    /// The first port that copies may listen on.
    #[schemars(range(min = 1_024))]
    pub ports_min: u16,
    /// The last port that copies may listen on.
    #[schemars(range(min = 1_024))]
    pub ports_max: u16,
    /// A directory with one file for each value that workloads may ask for by name, such as secrets; relative to the
    /// directory of `node.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<PathBuf>,
}

impl Default for WorkloadsFile {
    fn default() -> WorkloadsFile {
        WorkloadsFile {
            drivers: DriverKind::ALL.map(|driver| driver.name().to_owned()).into(),
            log_bytes_max: 1 << 20,
            ports_min: 20_000,
            ports_max: 29_999,
            store: None,
        }
    }
}

fn default_data() -> PathBuf {
    PathBuf::from("data")
}

/// The JSON schema of `node.toml`, made at the first call.
pub(super) fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<NodeFile>().to_value())
}

/// The JSON schema of `node.toml` as text, for editors and for programs that write such files.
pub fn schema_text() -> String {
    let mut text = serde_json::to_string_pretty(schema()).expect("a schema is plain data");
    text.push('\n');
    text
}
