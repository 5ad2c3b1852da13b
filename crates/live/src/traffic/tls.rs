//! TLS for clients, with certificates that the operator configures.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use webpki::EndEntityCert;

use crate::error::LiveError;
use crate::identity::check_private;

/// A certificate with its key, and its host names.
#[derive(Debug)]
pub struct ServerCertificate {
    key: Arc<CertifiedKey>,
    hosts: Vec<String>,
}

impl ServerCertificate {
    /// Reads a file with a certificate and its chain, and a file with its private key. Fails if the key does not match
    /// the certificate, or if other users can access the file of the key.
    pub fn load(certificate: &Path, key: &Path) -> Result<ServerCertificate, LiveError> {
        let read = |path: &Path| {
            fs::read(path).map_err(|error| LiveError::new(format!("cannot read {}", path.display())).caused_by(error))
        };
        let unusable = |path: &Path, what: &str| LiveError::new(format!("{} is not {what}", path.display()));
        let chain = CertificateDer::pem_slice_iter(&read(certificate)?)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| unusable(certificate, "a certificate in PEM").caused_by(error))?;
        let parsed = chain.first().and_then(|first| EndEntityCert::try_from(first).ok());
        let Some(parsed) = parsed else { return Err(unusable(certificate, "a certificate in PEM")) };
        let hosts: Vec<String> = parsed.valid_dns_names().map(str::to_ascii_lowercase).collect();
        check_private(key)?;
        let key_der = PrivateKeyDer::from_pem_slice(&read(key)?)
            .map_err(|error| unusable(key, "a private key in PEM").caused_by(error))?;
        let signing = ring::sign::any_supported_type(&key_der)
            .map_err(|error| unusable(key, "a key of a kind that is known").caused_by(error))?;
        let certified = CertifiedKey::new(chain, signing);
        certified.keys_match().map_err(|_| {
            LiveError::new(format!(
                "the key {} is not that of the certificate {}",
                key.display(),
                certificate.display()
            ))
            .hint("name the key that was made with it")
        })?;
        Ok(ServerCertificate { key: Arc::new(certified), hosts })
    }

    fn is_for(&self, host: &str) -> bool {
        self.hosts.iter().any(|known| match known.strip_prefix("*.") {
            Some(below) => host.split_once('.').is_some_and(|(_, rest)| rest == below),
            None => known == host,
        })
    }
}

/// The certificates of an ingress. A client that names no host, or a host without a certificate, gets the first
/// certificate.
#[derive(Debug)]
struct Sites(Vec<ServerCertificate>);

impl ResolvesServerCert for Sites {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let host = hello.server_name().map(str::to_ascii_lowercase);
        let site = host.and_then(|host| self.0.iter().find(|site| site.is_for(&host)));
        site.or(self.0.first()).map(|site| Arc::clone(&site.key))
    }
}

/// The TLS configuration for clients: TLS 1.2 and 1.3, with HTTP/2 and HTTP/1.1; `None` without a certificate.
pub fn client_tls_config(sites: Vec<ServerCertificate>) -> Result<Option<Arc<ServerConfig>>, LiveError> {
    if sites.is_empty() {
        return Ok(None);
    }
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| LiveError::new("cannot set up TLS for clients").caused_by(error))?;
    let mut config = config.with_no_client_auth().with_cert_resolver(Arc::new(Sites(sites)));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(Arc::new(config)))
}
