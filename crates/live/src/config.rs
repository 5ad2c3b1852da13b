//! The configuration of a node: `node.toml`.
//!
//! [`NodeConfig::read`] parses the text, and reports all invalid values with their positions. Before a node starts,
//! [`check`](check::check) verifies that the machine has what the text names.

mod check;
mod error;
mod file;
mod limits;
mod ranges;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mario_colony::{NodeLimits, Timing, Unconfirmed};
use mario_domain::{Capacity, Fact, NodeId};
use mario_settings::{At, File, Mistake};

use crate::application::facts;
use crate::identity::node_id;

pub use crate::journal::JournalState;
pub use check::{LoadedFiles, check};
pub use error::ConfigError;
pub(crate) use error::keep;
pub use file::{
    IdentityFile, JournalFile, ListenFile, NeighbourFile, NodeFile, TimingFile, TlsFile, TraceFile, UnconfirmedFile,
    WorkloadsFile, schema_text,
};
pub use limits::LimitsFile;

use ranges::check_together;

/// The maximum number of certificates for clients.
pub const CERTIFICATES_MAX: usize = 256;

/// The maximum number of neighbours.
pub const NEIGHBOURS_MAX: usize = 256;

/// The validated configuration of a node.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// The name of the file.
    pub name: String,
    /// The text of the file, for the places of errors that are found later.
    pub source: File,
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
        let source = File::parse(name, text, directory);
        let file: NodeFile = source.read(file::schema()).map_err(|mistakes| ConfigError::new(name, mistakes))?;
        let mut mistakes = Vec::new();
        let node = keep(&source, &["id".into()], node_id(&file.id), &mut mistakes);
        let own_facts = match &node {
            Some(node) => keep(&source, &["facts".into()], facts(node.id(), &file.facts), &mut mistakes),
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
                    let hint = "write one such as 127.0.0.1:7440 or [::1]:7440";
                    mistakes.push(source.mistake(&["listen".into(), key.into()], message).hint(hint));
                }
            }
        }
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            if listens[first].is_some_and(|address| address.port() != 0 && listens[second] == Some(address)) {
                let (one, other) = (listen[first].0, listen[second].0);
                let message = format!("`{one}` and `{other}` are the same address");
                mistakes.push(source.mistake(&["listen".into(), other.into()], message).hint("give each its own port"));
            }
        }
        let neighbours = read_neighbours(&file, &source, &mut mistakes);
        check_together(&file, &source, &mut mistakes);
        let (Some(node), Some(facts), [Some(links), Some(ingress), Some(operators)], true) =
            (node, own_facts, listens, mistakes.is_empty())
        else {
            return Err(ConfigError::new(name, mistakes));
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
            name: name.to_owned(),
            source,
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

fn read_neighbours(file: &NodeFile, source: &File, mistakes: &mut Vec<Mistake>) -> Vec<Neighbour> {
    let mut neighbours: Vec<Neighbour> = Vec::new();
    if file.neighbours.len() > NEIGHBOURS_MAX {
        let message = format!("{} neighbours are too many", file.neighbours.len());
        let hint = format!("a node talks to at most {NEIGHBOURS_MAX} others");
        mistakes.push(source.mistake(&["neighbours".into()], message).hint(hint));
    }
    for (index, neighbour) in file.neighbours.iter().enumerate().take(NEIGHBOURS_MAX) {
        let at = |key: &'static str| [At::Key("neighbours"), At::Index(index), At::Key(key)];
        let Some(id) = keep(source, &at("id"), node_id(&neighbour.id), mistakes) else { continue };
        if neighbour.id == file.id {
            let hint = "remove it here, or correct the `id` of this node";
            mistakes.push(source.mistake(&at("id"), "a node is not its own neighbour").hint(hint));
        }
        if neighbours.iter().any(|known| known.id == id) {
            let message = format!("`{}` is a neighbour already", neighbour.id);
            mistakes.push(source.mistake(&at("id"), message).hint("each neighbour stands here once"));
        }
        let has_port = neighbour
            .address
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0));
        if !has_port {
            let message = format!("{:?} is not a host and a port", neighbour.address);
            let hint = "write them as edge-2.example.org:7440 or 10.0.0.2:7440";
            mistakes.push(source.mistake(&at("address"), message).hint(hint));
        }
        neighbours.push(Neighbour { id, address: neighbour.address.clone() });
    }
    neighbours
}

#[cfg(test)]
mod tests;
