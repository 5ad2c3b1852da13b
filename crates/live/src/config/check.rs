//! Loads the files that a configuration names, and checks the machine before a node starts on it.

use std::fs;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;

use mario_policy::{Acceptance, AcceptanceError};
use mario_prolog::Engine;
use rustls::ServerConfig;

use super::{ConfigError, NodeConfig, TlsFile, keep};
use crate::error::LiveError;
use crate::identity::{Identity, Subject};
use crate::journal::{DiskJournal, JournalState};
use crate::traffic::{ServerCertificate, client_tls_config};

/// The loaded files that a configuration names.
#[derive(Debug)]
pub struct LoadedFiles {
    /// The identity of the node.
    pub identity: Arc<Identity>,
    /// The acceptance policy of the node; `None` if none is configured.
    pub acceptance: Option<Arc<Acceptance>>,
    /// TLS for clients; `None` if no certificates are configured.
    pub tls: Option<Arc<ServerConfig>>,
    /// The state in which the journal was found.
    pub journal: JournalState,
}

/// Checks that the machine has what a configuration names: a key and a certificate of this node, certificates for
/// clients, policy, free ports, neighbours whose host names resolve, and a data directory whose journal is intact,
/// belongs to this node and is not used by another daemon. Creates nothing: the data directory may be missing if it can
/// be created. Reports all errors.
pub fn check(config: &NodeConfig, engine: &Engine) -> Result<LoadedFiles, ConfigError> {
    let source = &config.source;
    let mut mistakes = Vec::new();
    let identity = keep(source, &["identity".into()], identity(config), &mut mistakes);
    let acceptance = keep(source, &["policy".into()], acceptance(config, engine), &mut mistakes);
    let mut sites = Vec::new();
    for (index, TlsFile { certificate, key }) in config.tls.iter().enumerate() {
        let site = ServerCertificate::load(certificate, key);
        sites.extend(keep(source, &["tls".into(), index.into()], site, &mut mistakes));
    }
    let tls = keep(source, &["tls".into()], client_tls_config(sites), &mut mistakes);
    let listens = [("links", config.links), ("ingress", config.ingress), ("operators", config.operators)];
    for (key, address) in listens {
        keep(source, &["listen".into(), key.into()], free(address), &mut mistakes);
    }
    // Opening the journal detects whether it is damaged, belongs to another node, or is in use.
    let journal = keep(source, &["data".into()], DiskJournal::check(&config.data, &config.node), &mut mistakes);
    for (index, neighbour) in config.neighbours.iter().enumerate() {
        let result = neighbour.address.to_socket_addrs().map_err(|error| {
            LiveError::new(format!("the address {} of neighbour {} is not known", neighbour.address, neighbour.id))
                .caused_by(error)
        });
        keep(source, &["neighbours".into(), index.into(), "address".into()], result, &mut mistakes);
    }
    match (identity, acceptance, tls, journal, mistakes.is_empty()) {
        (Some(identity), Some(acceptance), Some(tls), Some(journal), true) => {
            Ok(LoadedFiles { identity: Arc::new(identity), acceptance, tls, journal })
        }
        _ => Err(ConfigError::new(&config.name, mistakes)),
    }
}

fn identity(config: &NodeConfig) -> Result<Identity, LiveError> {
    let files = &config.identity;
    let identity = Identity::load(&files.authority, &files.certificate, &files.key)?;
    match &identity.certified().subject {
        Subject::Node(node) if *node == config.node => Ok(identity),
        _ => {
            let certified = identity.certified().uri();
            Err(LiveError::new(format!("the certificate is that of {certified}, and this is node {}", config.node))
                .hint(format!("make one with `mario ca node {}`", config.node)))
        }
    }
}

/// Loads the acceptance policy that a configuration names; `None` if it names none.
fn acceptance(config: &NodeConfig, engine: &Engine) -> Result<Option<Arc<Acceptance>>, LiveError> {
    let Some(path) = &config.policy else { return Ok(None) };
    let text = fs::read_to_string(path).map_err(|error| {
        LiveError::new(format!("cannot read the acceptance policy {}", path.display())).caused_by(error)
    })?;
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or("acceptance");
    load_acceptance(engine, name, &text, &path.display().to_string()).map(|acceptance| Some(Arc::new(acceptance)))
}

fn load_acceptance(engine: &Engine, name: &str, text: &str, shown: &str) -> Result<Acceptance, LiveError> {
    Acceptance::load(engine, name, text, None, crate::BUDGET).map_err(|error| {
        let problems = match &error {
            AcceptanceError::Load { problems, .. } => {
                problems.errors.iter().map(|problem| problem.message.clone()).collect()
            }
            other => vec![other.to_string()],
        };
        let fault =
            LiveError::new(format!("the acceptance policy {shown} cannot be used")).caused_by(problems.join("; "));
        fault.hint(format!("`mario policy check {shown}` shows the places"))
    })
}

fn free(address: SocketAddr) -> Result<(), LiveError> {
    TcpListener::bind(address).map(|_| ()).map_err(|error| {
        let fault = LiveError::new(format!("cannot listen on {address}"));
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => "another program listens there: stop it, or take another port",
            std::io::ErrorKind::AddrNotAvailable => "take an address of this machine",
            std::io::ErrorKind::PermissionDenied => "take a port from 1024 on, or let the daemon use lower ones",
            _ => "take another address",
        };
        fault.caused_by(error).hint(hint)
    })
}
