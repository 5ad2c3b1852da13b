//! The files of a colony on one machine, except the results of a run.
//!
//! ```text
//! DIR/colony/ca.pem ca.key operator.pem operator.key   the authority, and the operator who deploys
//! DIR/applications/ID.signed ID.pem ID.key             one application: the signed document, its certificate and key
//! DIR/nodes/ID/node.toml node.pem node.key             one node
//! DIR/nodes/ID/acceptance.pl                           its acceptance policy, if it has one
//! DIR/nodes/ID/data/                                   its journal, its trace and the files of its workloads
//! DIR/nodes/ID/log.jsonl                               the log of its daemon
//! ```

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mario_live::LiveError;
use mario_live::application::{ApplicationFile, RunFile, sign};
use mario_live::config::{
    IdentityFile, JournalFile, LimitsFile, ListenFile, NeighbourFile, NodeFile, TimingFile, TraceFile, WorkloadsFile,
};
use mario_live::identity::{
    Authority, CertificateContent, Identity, Role, application_id, node_id, write_private, write_public,
};

use crate::plan::{Plan, PlannedApplication};

/// The name of the colony in certificates and host names.
pub(crate) const COLONY: &str = "testbed";

/// The validity of certificates, in days.
const DAYS: u32 = 30;

/// The ports for copies of applications, split evenly among the nodes.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// The files of a colony.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    root: PathBuf,
}

impl Directory {
    pub(crate) fn new(root: &Path) -> Directory {
        Directory { root: root.to_owned() }
    }

    pub(crate) fn node(&self, id: &str) -> PathBuf {
        self.root.join("nodes").join(id)
    }

    pub(crate) fn log(&self, id: &str) -> PathBuf {
        self.node(id).join("log.jsonl")
    }

    pub(crate) fn operator(&self) -> PathBuf {
        self.root.join("colony").join("operator.pem")
    }

    /// Writes the files of the authority, the operator and all nodes. `address` returns the address at which a node
    /// reaches a neighbour, by their indices in the plan.
    pub(crate) fn write(&self, plan: &Plan, address: impl Fn(usize, usize) -> SocketAddr) -> Result<(), LiveError> {
        let colony = self.root.join("colony");
        let authority = Authority::new(COLONY, DAYS)?;
        authority.save(&colony)?;
        let operator = authority.operator("testbed", Role::ALL.to_vec())?;
        issue(&authority, &operator, &colony, "operator")?;
        make(&self.root.join("applications"))?;
        for (place, node) in plan.nodes.iter().enumerate() {
            let directory = self.node(&node.id);
            make(&directory)?;
            issue(&authority, &authority.node(node_id(&node.id)?, Vec::new()), &directory, "node")?;
            if let Some(text) = &node.acceptance {
                write(&directory.join("acceptance.pl"), text.as_bytes())?;
            }
            let text = toml::to_string(&node_file(plan, place, &address))
                .map_err(|error| LiveError::new(format!("cannot write down node {}", node.id)).caused_by(error))?;
            write(&directory.join("node.toml"), text.as_bytes())?;
        }
        Ok(())
    }

    /// Returns an application as a signed document. The first call issues a certificate for the application and writes
    /// the files.
    pub(crate) fn sign(&self, application: &PlannedApplication) -> Result<Vec<u8>, LiveError> {
        let directory = self.root.join("applications");
        let signed = directory.join(format!("{}.signed", application.id));
        // An application that is deployed more than once is signed only once.
        if let Ok(document) = fs::read(&signed) {
            return Ok(document);
        }
        let authority = Authority::load(&self.root.join("colony"))?;
        let certified = authority.application(application_id(&application.id)?, Vec::new(), Vec::new());
        issue(&authority, &certified, &directory, &application.id)?;
        let identity = Identity::load_bundle(&directory.join(format!("{}.pem", application.id)))?;
        let document = sign(&application_file(application), &application.policy, &identity)?;
        write(&signed, &document)?;
        Ok(document)
    }
}

fn node_file(plan: &Plan, place: usize, address: &impl Fn(usize, usize) -> SocketAddr) -> NodeFile {
    let node = &plan.nodes[place];
    let any_port = || "127.0.0.1:0".to_owned();
    let neighbours = plan.links.iter().filter_map(|link| match (link.a == place, link.b == place) {
        (true, _) => Some(link.b),
        (_, true) => Some(link.a),
        _ => None,
    });
    let ports = (PORTS.len() / plan.nodes.len().max(1)) as u16;
    let ports_min = PORTS.start + ports * place as u16;
    NodeFile {
        id: node.id.clone(),
        capacity: node.capacity,
        data: "data".into(),
        policy: node.acceptance.as_ref().map(|_| "acceptance.pl".into()),
        facts: node.facts.clone(),
        listen: ListenFile { links: any_port(), ingress: any_port(), operators: any_port() },
        identity: IdentityFile {
            authority: "../../colony/ca.pem".into(),
            certificate: "node.pem".into(),
            key: "node.key".into(),
            // The colony does not live long enough to renew them.
            warn_days: 0,
        },
        tls: Vec::new(),
        neighbours: neighbours
            .map(|neighbour| NeighbourFile {
                id: plan.nodes[neighbour].id.clone(),
                address: address(place, neighbour).to_string(),
            })
            .collect(),
        timing: TimingFile {
            evaluation_ms: plan.evaluation.as_millis() as u64,
            owner_ms: Some(plan.management.as_millis() as u64),
            notice: plan.notice,
            resend_ms_max: Duration::from_secs(5).as_millis() as u64,
            ..TimingFile::default()
        },
        limits: LimitsFile::default(),
        workloads: WorkloadsFile { ports_min, ports_max: ports_min + ports - 1, ..WorkloadsFile::default() },
        trace: TraceFile::default(),
        journal: JournalFile::default(),
    }
}

fn application_file(application: &PlannedApplication) -> ApplicationFile {
    ApplicationFile {
        id: application.id.clone(),
        version: 1,
        owner: None,
        hardware: application.hardware,
        max_rate: application.max_rate,
        max_latency: application.max_latency,
        policy: format!("{}.pl", application.policy.name),
        memory: Some(application.policy.memory),
        replications_max: None,
        exclusive: false,
        anchor: application.is_anchor,
        hosts: Vec::new(),
        prefixes: Vec::new(),
        flavours: application.flavours.clone(),
        sleep: application.sleep,
        facts: application.facts.clone(),
        run: RunFile {
            driver: "sample".to_owned(),
            command: Vec::new(),
            health_path: Some("/healthz".to_owned()),
            start_timeout_ms: 20_000,
            drain_timeout_ms: 5_000,
            memory_bytes_max: None,
            cpu_millis_max: None,
            environment: std::collections::BTreeMap::new(),
            from_store: Vec::new(),
            settings: std::collections::BTreeMap::new(),
        },
    }
}

fn issue(authority: &Authority, certified: &CertificateContent, directory: &Path, name: &str) -> Result<(), LiveError> {
    let issued = authority.issue(certified, i64::from(DAYS))?;
    write_public(&directory.join(format!("{name}.pem")), &issued.certificate_pem)?;
    write_private(&directory.join(format!("{name}.key")), &issued.key_pem)
}

pub(crate) fn make(directory: &Path) -> Result<(), LiveError> {
    fs::create_dir_all(directory)
        .map_err(|error| LiveError::new(format!("cannot make the directory {}", directory.display())).caused_by(error))
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), LiveError> {
    fs::write(path, bytes).map_err(|error| LiveError::new(format!("cannot write {}", path.display())).caused_by(error))
}
