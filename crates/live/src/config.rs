//! The configuration of a node: `node.toml`.
//!
//! [`NodeConfig::read`] parses the text, and reports all invalid values with their positions. Before a node starts,
//! [`check`](check::check) verifies that the machine has what the text names.

mod check;
mod limits;
mod positions;
mod ranges;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mario_colony::{NodeLimits, Timing, Unconfirmed};
use mario_domain::{Capacity, Fact, NodeId};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};

use crate::application::{PlainValue, facts};
use crate::identity::node_id;
use crate::workloads::DriverKind;

pub use crate::journal::JournalState;
pub use check::{LoadedFiles, check};
pub use limits::LimitsFile;
pub(crate) use positions::Positions;
pub use positions::{ConfigError, Mistake};

use ranges::check_ranges;

/// The maximum number of certificates for clients.
pub const CERTIFICATES_MAX: usize = 256;

/// The maximum number of neighbours.
pub const NEIGHBOURS_MAX: usize = 256;

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
    /// How many connections the node serves at once.
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

/// The validated configuration of a node.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// The text of the file, for positions in error messages.
    pub text: Arc<str>,
    /// The name of the text.
    pub name: String,
    /// Its id.
    pub node: NodeId,
    /// Its hardware.
    pub capacity: Capacity,
    /// Facts about it.
    pub facts: Vec<Fact>,
    /// Its data directory.
    pub data: PathBuf,
    /// The file with its acceptance policy.
    pub policy: Option<PathBuf>,
    /// Where it listens for neighbours.
    pub links: SocketAddr,
    /// Where it listens for clients.
    pub ingress: SocketAddr,
    /// Where it listens for operators.
    pub operators: SocketAddr,
    /// The files of its identity.
    pub identity: IdentityFile,
    /// The certificates for clients.
    pub tls: Vec<TlsFile>,
    /// Its neighbours, in the order in which its agents see them.
    pub neighbours: Vec<Neighbour>,
    /// Periods and timeouts.
    pub timing: TimingFile,
    /// How many connections it serves at once.
    pub limits: LimitsFile,
    /// How workloads are run.
    pub workloads: WorkloadsFile,
    /// The node's part of the trace of its colony.
    pub trace: TraceFile,
    /// The node's journal.
    pub journal: JournalFile,
}

/// A node that this one talks to.
#[derive(Clone, PartialEq, Debug)]
pub struct Neighbour {
    /// Its id.
    pub id: NodeId,
    /// Its address for links.
    pub address: String,
}

impl NodeConfig {
    /// Reads the text of `node.toml`. Paths in it are relative to `directory`.
    pub fn read(name: &str, text: &str, directory: &Path) -> Result<NodeConfig, ConfigError> {
        let positions = Positions::new(text);
        let hint = "docs/live.md and `mario node schema` describe the keys of this file";
        let file: NodeFile = toml::from_str(text).map_err(|error| positions.unreadable(name, &error, hint))?;
        let mut mistakes = Vec::new();
        let node = positions.keep(&mut mistakes, &["id"], node_id(&file.id));
        let own_facts = match &node {
            Some(node) => positions.keep(&mut mistakes, &["facts"], facts(node.id(), &file.facts)),
            None => None,
        };
        let mut listens = [None; 3];
        let listen =
            [("links", &file.listen.links), ("ingress", &file.listen.ingress), ("operators", &file.listen.operators)];
        for (slot, (key, address)) in listens.iter_mut().zip(listen) {
            match address.parse::<SocketAddr>() {
                Ok(address) => *slot = Some(address),
                Err(_) => {
                    let message = format!("{address:?} is not an address with a port");
                    mistakes.push(
                        positions
                            .mistake(&["listen", key], message)
                            .hint("write one such as 127.0.0.1:7440 or [::1]:7440"),
                    );
                }
            }
        }
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            if listens[first].is_some_and(|address| address.port() != 0 && listens[second] == Some(address)) {
                let (one, other) = (listen[first].0, listen[second].0);
                let message = format!("`{one}` and `{other}` are the same address");
                mistakes.push(positions.mistake(&["listen", other], message).hint("give each its own port"));
            }
        }
        let neighbours = read_neighbours(&file, &positions, &mut mistakes);
        check_ranges(&file, &positions, &mut mistakes);
        let (Some(node), Some(facts), [Some(links), Some(ingress), Some(operators)], true) =
            (node, own_facts, listens, mistakes.is_empty())
        else {
            return Err(positions.error(name, mistakes));
        };
        let beside = |path: &Path| directory.join(path);
        let IdentityFile { authority, certificate, key, warn_days } = &file.identity;
        let identity = IdentityFile {
            authority: beside(authority),
            certificate: beside(certificate),
            key: beside(key),
            warn_days: *warn_days,
        };
        let mut workloads = file.workloads;
        workloads.store = workloads.store.as_deref().map(beside);
        Ok(NodeConfig {
            text: text.into(),
            name: name.to_owned(),
            node,
            capacity: Capacity::units(file.capacity),
            facts,
            data: beside(&file.data),
            policy: file.policy.as_deref().map(beside),
            links,
            ingress,
            operators,
            identity,
            tls: file
                .tls
                .iter()
                .map(|TlsFile { certificate, key }| TlsFile { certificate: beside(certificate), key: beside(key) })
                .collect(),
            neighbours,
            timing: file.timing,
            limits: file.limits,
            workloads,
            trace: file.trace,
            journal: file.journal,
        })
    }

    /// How often each agent evaluates its policy.
    pub fn evaluation_period(&self) -> Duration {
        Duration::from_millis(self.timing.evaluation_ms)
    }

    /// How often the owner's policy is evaluated for evictions and shrinks.
    pub fn owner_period(&self) -> Duration {
        Duration::from_millis(self.timing.owner_ms.unwrap_or(self.timing.evaluation_ms))
    }

    /// How long a link may be silent before it counts as down.
    pub fn silence(&self) -> Duration {
        Duration::from_millis(self.timing.silence_ms)
    }

    /// The timing for [`mario_colony::Node`]. It has no evaluation period: the daemon triggers evaluations, because it
    /// knows when an observation window ends.
    pub(crate) fn colony_timing(&self) -> Timing {
        let of = |ms: u64| mario_domain::Duration::of(ms as f64);
        Timing {
            evaluation_period: None,
            prepare_timeout: of(self.timing.prepare_ms),
            reservation_timeout: of(self.timing.reservation_ms),
            resend_after: of(self.timing.resend_ms),
            resend_after_max: of(self.timing.resend_ms_max),
            restart_after: of(self.timing.restart_ms),
            restart_after_max: of(self.timing.restart_ms_max),
            restart_reset_after: of(self.timing.restart_reset_ms),
            notice: self.timing.notice,
        }
    }

    /// What the node serves after a restart until a neighbour has confirmed its journal. A node without neighbours has
    /// none to ask.
    pub(crate) fn unconfirmed(&self) -> Unconfirmed {
        match self.journal.unconfirmed {
            _ if self.neighbours.is_empty() => Unconfirmed::NotAsked,
            UnconfirmedFile::AllButExclusive => Unconfirmed::AllButExclusive,
            UnconfirmedFile::All => Unconfirmed::All,
        }
    }

    /// The limits of the state of [`mario_colony::Node`].
    pub(crate) fn colony_limits() -> NodeLimits {
        NodeLimits::default()
    }
}

fn read_neighbours(file: &NodeFile, positions: &Positions<'_>, mistakes: &mut Vec<Mistake>) -> Vec<Neighbour> {
    let mut neighbours: Vec<Neighbour> = Vec::new();
    if file.neighbours.len() > NEIGHBOURS_MAX {
        let message = format!("{} neighbours are too many", file.neighbours.len());
        mistakes.push(
            positions
                .mistake(&["neighbours"], message)
                .hint(format!("a node talks to at most {NEIGHBOURS_MAX} others")),
        );
    }
    for (index, neighbour) in file.neighbours.iter().enumerate().take(NEIGHBOURS_MAX) {
        let at = index.to_string();
        let Some(id) = positions.keep(mistakes, &["neighbours", &at, "id"], node_id(&neighbour.id)) else { continue };
        if neighbour.id == file.id {
            mistakes.push(positions.mistake(&["neighbours", &at, "id"], "a node is not its own neighbour".to_owned()));
        }
        if neighbours.iter().any(|known| known.id == id) {
            let message = format!("`{}` is a neighbour already", neighbour.id);
            mistakes
                .push(positions.mistake(&["neighbours", &at, "id"], message).hint("each neighbour stands here once"));
        }
        let has_port = neighbour
            .address
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0));
        if !has_port {
            let message = format!("{:?} is not a host and a port", neighbour.address);
            let hint = "write them as edge-2.example.org:7440 or 10.0.0.2:7440";
            mistakes.push(positions.mistake(&["neighbours", &at, "address"], message).hint(hint));
        }
        neighbours.push(Neighbour { id, address: neighbour.address.clone() });
    }
    neighbours
}

/// The JSON schema of `node.toml`, for editors and for programs that write such files.
pub fn schema_text() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<NodeFile>();
    let mut text = serde_json::to_string_pretty(&schema.to_value()).expect("a schema is plain data");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
