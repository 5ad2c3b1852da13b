//! Descriptions of applications. They are verified before the node receives them, and read again when copies are
//! started or names are announced.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use mario_colony::routing::Names;
use mario_colony::{Descriptor, WorkloadId};
use mario_domain::{ApplicationId, FlavourId, InstanceId};
use rustls::pki_types::UnixTime;

use super::copies::Copies;
use crate::application::{VerifiedDocument, check_names, open};
use crate::config::NodeConfig;
use crate::error::LiveError;
use crate::identity::Identity;
use crate::seams::Task;

/// The maximum number of cached descriptions. When it is reached, the cache is cleared.
const KEPT_MAX: usize = 256;

/// The maximum size of a value in a node's store, in bytes.
const VALUE_BYTES_MAX: u64 = 64 << 10;

/// The cache of verified descriptions.
pub(crate) struct Documents {
    identity: Arc<Identity>,
    opened: BTreeMap<Arc<[u8]>, Arc<VerifiedDocument>>,
}

impl Documents {
    pub(crate) fn new(identity: Arc<Identity>) -> Documents {
        Documents { identity, opened: BTreeMap::new() }
    }

    /// Verifies a document and caches its content. The owner's certificate must be valid now, even if the document is
    /// cached.
    pub(crate) fn open(&mut self, document: &Arc<[u8]>) -> Result<Arc<VerifiedDocument>, LiveError> {
        let opened = Arc::new(open(document, self.identity.authority(), UnixTime::now())?);
        if self.opened.len() >= KEPT_MAX {
            self.opened.clear();
        }
        self.opened.insert(Arc::clone(document), Arc::clone(&opened));
        Ok(opened)
    }

    /// Checks that this node can host an application: its document is signed, the descriptor matches the document, and
    /// this node has the driver.
    pub(crate) fn check(
        &mut self,
        descriptor: &Descriptor,
        copies: &Copies,
    ) -> Result<Arc<VerifiedDocument>, LiveError> {
        let opened = self.open(&descriptor.document)?;
        if *opened.descriptor != *descriptor {
            return Err(LiveError::new("the description of the application is not what its owner signed"));
        }
        if !copies.has_driver(&opened.run.driver) {
            return Err(LiveError::new(format!("this node has no driver `{}`", opened.run.driver)));
        }
        Ok(opened)
    }

    /// The host names and path prefixes of an application that this node hosts; `None` if its document cannot be read.
    pub(crate) fn names(&mut self, document: &Arc<[u8]>) -> Option<Arc<Names>> {
        Some(Arc::clone(&self.opened(document).ok()?.names))
    }

    /// Checks that the names that a neighbour announces belong to the application.
    pub(crate) fn check_names(&self, application: &ApplicationId, names: &Names) -> Result<(), LiveError> {
        check_names(application, names, self.identity.authority(), UnixTime::now())
    }

    /// Returns the content of a document that this or a previous daemon verified when it arrived, from the cache if
    /// possible.
    pub(crate) fn opened(&mut self, document: &Arc<[u8]>) -> Result<Arc<VerifiedDocument>, LiveError> {
        if let Some(opened) = self.opened.get(document) {
            return Ok(Arc::clone(opened));
        }
        let opened = Arc::new(crate::application::reopen(document)?);
        if self.opened.len() >= KEPT_MAX {
            self.opened.clear();
        }
        self.opened.insert(Arc::clone(document), Arc::clone(&opened));
        Ok(opened)
    }

    /// Returns how to run a copy. The descriptor comes from the journal or was verified when it arrived, so its
    /// certificate is not checked again: a certificate that has expired since then does not stop a running application.
    /// Fails if the document cannot be read, or if the node's store lacks a value that the document names.
    pub(crate) fn task(
        &mut self,
        config: &NodeConfig,
        workload: WorkloadId,
        instance: &InstanceId,
        (descriptor, flavour): (&Arc<Descriptor>, Option<&FlavourId>),
    ) -> Result<Task, LiveError> {
        let opened = self.opened(&descriptor.document)?;
        let application = descriptor.application.id.clone();
        let mut environment: Vec<(String, String)> =
            opened.environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        environment.extend([
            ("MARIO_INGRESS".to_owned(), reachable(config.ingress).to_string()),
            ("MARIO_NODE".to_owned(), config.node.to_string()),
            ("MARIO_INSTANCE".to_owned(), instance.to_string()),
            ("MARIO_APPLICATION".to_owned(), application.to_string()),
        ]);
        let flavour = flavour.map(ToString::to_string);
        environment.extend(flavour.clone().map(|flavour| ("MARIO_FLAVOUR".to_owned(), flavour)));
        for name in &opened.from_store {
            environment.push((name.clone(), stored(config, name)?));
        }
        Ok(Task {
            workload,
            instance: instance.clone(),
            application,
            run: Arc::clone(&opened.run),
            shape: opened.shape ^ flavour.map_or(0, |flavour| crc32fast::hash(flavour.as_bytes())),
            environment: Arc::new(environment),
        })
    }
}

/// An address to which a process on this machine can connect, if a listener has this one: listeners on all addresses
/// are reached over loopback.
fn reachable(listener: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match listener.ip() {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    };
    SocketAddr::new(loopback, listener.port())
}

/// Reads a value from the node's store, without its final newline. No error message contains the value.
fn stored(config: &NodeConfig, name: &str) -> Result<String, LiveError> {
    let missing = || LiveError::new(format!("this node's store has no value `{name}`"));
    let Some(store) = &config.workloads.store else { return Err(missing().hint("set `store` in `[workloads]`")) };
    let path = store.join(name);
    let length = fs::metadata(&path).map_err(|error| missing().caused_by(error))?.len();
    if length > VALUE_BYTES_MAX {
        return Err(LiveError::new(format!(
            "the value `{name}` of this node's store is longer than {VALUE_BYTES_MAX} bytes"
        )));
    }
    let value = fs::read_to_string(&path).map_err(|error| missing().caused_by(error))?;
    Ok(value.strip_suffix('\n').map_or(value.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::reachable;

    #[test]
    fn a_workload_gets_an_address_of_the_ingress_to_which_it_can_connect() {
        for (listener, expected) in [
            ("0.0.0.0:8080", "127.0.0.1:8080"),
            ("[::]:8080", "[::1]:8080"),
            ("10.0.0.7:8080", "10.0.0.7:8080"),
            ("[2001:db8::1]:80", "[2001:db8::1]:80"),
        ] {
            assert_eq!(reachable(listener.parse().unwrap()).to_string(), expected);
        }
    }
}
