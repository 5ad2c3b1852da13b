//! The certificate and key of a node, an operator or an application, and TLS configurations that use them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme};
use webpki::{EndEntityCert, KeyUsage};

use super::{CertificateContent, Subject};
use crate::error::LiveError;

/// The ALPN protocol of a connection for messages between nodes.
pub const CONTROL_PROTOCOL: &[u8] = b"mario-control/1";
/// The ALPN protocol of client requests between nodes.
pub const DATA_PROTOCOL: &[u8] = b"mario-data/1";
/// The ALPN protocol of operators.
pub const HTTP_PROTOCOL: &[u8] = b"http/1.1";

/// A certificate with its key, and the certificate of the authority that its holder trusts.
#[derive(Debug)]
pub struct Identity {
    certified: CertificateContent,
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    authority: CertificateDer<'static>,
}

/// The peer that a client expects.
#[derive(Clone, PartialEq, Debug)]
pub enum ExpectedPeer {
    /// Exactly this subject.
    Exactly(Subject),
    /// Any node of the colony.
    AnyNode,
}

impl Identity {
    /// Reads the files of an identity, and checks that they are valid now and belong together.
    pub fn load(authority: &Path, certificate: &Path, key: &Path) -> Result<Identity, LiveError> {
        let identity = Identity::read(authority, certificate, key)?;
        identity.check(UnixTime::now()).map_err(|fault| {
            LiveError::new(format!("cannot use the certificate {}", certificate.display())).caused_by(fault)
        })?;
        Ok(identity)
    }

    /// Loads an identity as `mario ca` writes it, given the certificate's file: the authority's certificate follows in
    /// the same file, and the key is in a file beside it, with the extension `key`.
    pub fn load_bundle(certificate: &Path) -> Result<Identity, LiveError> {
        let read = fs::read(certificate)
            .map_err(|error| LiveError::new(format!("cannot read {}", certificate.display())).caused_by(error))?;
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(&read).filter_map(Result::ok).collect();
        let (Some(authority), true) = (chain.last(), chain.len() > 1) else {
            return Err(LiveError::new(format!(
                "{} is not a certificate with that of its authority",
                certificate.display()
            ))
            .hint("name the file with the ending `pem` that `mario ca` made"));
        };
        let mut identity = Identity::read(certificate, certificate, &certificate.with_extension("key"))?;
        identity.authority = authority.clone();
        identity.check(UnixTime::now()).map_err(|fault| {
            LiveError::new(format!("cannot use the certificate {}", certificate.display())).caused_by(fault)
        })?;
        Ok(identity)
    }

    /// Reads the files of an identity. Rejects a key that other users can access, but does not check the certificate.
    pub fn read(authority: &Path, certificate: &Path, key: &Path) -> Result<Identity, LiveError> {
        let read = |path: &Path| {
            fs::read(path).map_err(|error| LiveError::new(format!("cannot read {}", path.display())).caused_by(error))
        };
        let wrong = |path: &Path, error: rustls::pki_types::pem::Error, what: &str| {
            LiveError::new(format!("{} is not {what}", path.display())).caused_by(error).hint("make it with `mario ca`")
        };
        let authority_der = CertificateDer::from_pem_slice(&read(authority)?)
            .map_err(|error| wrong(authority, error, "the certificate of an authority"))?;
        let chain = CertificateDer::pem_slice_iter(&read(certificate)?)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| wrong(certificate, error, "a certificate"))?;
        let Some(first) = chain.first() else {
            return Err(
                LiveError::new(format!("{} has no certificate", certificate.display())).hint("make it with `mario ca`")
            );
        };
        let certified = CertificateContent::read(first).map_err(|fault| {
            LiveError::new(format!("cannot use the certificate {}", certificate.display())).caused_by(fault)
        })?;
        check_private(key)?;
        let key_der = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| wrong(key, error, "a private key"))?;
        Ok(Identity { certified, chain, key: key_der, authority: authority_der })
    }

    /// The content of the certificate.
    pub fn certified(&self) -> &CertificateContent {
        &self.certified
    }

    /// The certificate.
    pub fn certificate(&self) -> &CertificateDer<'static> {
        &self.chain[0]
    }

    /// The certificate of the authority.
    pub fn authority(&self) -> &CertificateDer<'static> {
        &self.authority
    }

    /// Checks that the authority issued the certificate, that the certificate is valid at a given time, and that the
    /// key belongs to it.
    pub fn check(&self, at: UnixTime) -> Result<(), LiveError> {
        let usage = match self.certified.subject {
            Subject::Node(_) => KeyUsage::server_auth(),
            _ => KeyUsage::client_auth(),
        };
        verify(&self.authority, &self.chain[0], at, usage)?;
        let provider = provider();
        let signing = provider
            .key_provider
            .load_private_key(self.key.clone_key())
            .map_err(|error| LiveError::new("cannot use the private key").caused_by(error))?;
        let parsed = EndEntityCert::try_from(&self.chain[0])
            .map_err(|error| LiveError::new("cannot read the certificate").caused_by(error))?;
        let public = signing.public_key();
        if public.is_some_and(|public| public != parsed.subject_public_key_info()) {
            return Err(LiveError::new("the private key is not that of the certificate")
                .hint("name the key file that was made with it"));
        }
        Ok(())
    }

    /// Signs bytes with the private key, for the document of an application.
    pub fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, LiveError> {
        let attempted = "cannot sign with the private key";
        let key = provider()
            .key_provider
            .load_private_key(self.key.clone_key())
            .map_err(|error| LiveError::new(attempted).caused_by(error))?;
        let signer = key.choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256]).ok_or_else(|| {
            LiveError::new(attempted).caused_by("it is not a key of P-256").hint("make it with `mario ca`")
        })?;
        signer.sign(bytes).map_err(|error| LiveError::new(attempted).caused_by(error))
    }

    fn roots(&self) -> Result<RootCertStore, LiveError> {
        let mut roots = RootCertStore::empty();
        roots
            .add(self.authority.clone())
            .map_err(|error| LiveError::new("cannot use the certificate of the authority").caused_by(error))?;
        Ok(roots)
    }

    /// Returns the TLS configuration of a server. Clients must have a certificate of the colony's authority.
    pub fn server(&self, protocols: &[&[u8]]) -> Result<Arc<ServerConfig>, LiveError> {
        let failed =
            |error: Box<dyn std::error::Error + Send + Sync>| LiveError::new("cannot set up TLS").caused_by(error);
        let provider = Arc::new(provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots()?), Arc::clone(&provider))
            .build()
            .map_err(|error| failed(error.into()))?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| failed(error.into()))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(self.chain.clone(), self.key.clone_key())
            .map_err(|error| failed(error.into()))?;
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Ok(Arc::new(config))
    }

    /// Returns the TLS configuration of a client. The server's certificate must be issued by the colony's authority for
    /// an `expected` subject.
    pub fn client(&self, expected: ExpectedPeer, protocol: &[u8]) -> Result<Arc<ClientConfig>, LiveError> {
        let failed = |error: rustls::Error| LiveError::new("cannot set up TLS").caused_by(error);
        let provider = Arc::new(provider());
        let verifier = ColonyVerifier {
            authority: self.authority.clone(),
            colony: self.certified.colony.clone(),
            expected,
            algorithms: provider.signature_verification_algorithms,
        };
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(failed)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_auth_cert(self.chain.clone(), self.key.clone_key())
            .map_err(failed)?;
        config.alpn_protocols = vec![protocol.to_vec()];
        Ok(Arc::new(config))
    }
}

/// The content of a peer's certificate, whose chain TLS has verified.
pub fn peer(certificates: Option<&[CertificateDer<'_>]>) -> Result<CertificateContent, LiveError> {
    match certificates.and_then(<[_]>::first) {
        Some(first) => CertificateContent::read(first),
        None => Err(LiveError::new("the peer has no certificate")),
    }
}

/// Checks that an authority issued a certificate, and that the certificate is valid at a given time and for a given
/// use.
pub(crate) fn verify(
    authority: &CertificateDer<'_>,
    certificate: &CertificateDer<'_>,
    at: UnixTime,
    usage: KeyUsage,
) -> Result<(), LiveError> {
    let parsed = EndEntityCert::try_from(certificate)
        .map_err(|error| LiveError::new("cannot read the certificate").caused_by(error))?;
    let anchor = webpki::anchor_from_trusted_cert(authority)
        .map_err(|error| LiveError::new("cannot read the certificate of the authority").caused_by(error))?;
    let algorithms = provider().signature_verification_algorithms.all;
    match parsed.verify_for_usage(algorithms, &[anchor], &[], at, usage, None, None) {
        Ok(_) => Ok(()),
        Err(webpki::Error::CertExpired { time, not_after }) => {
            let days = (time.as_secs() - not_after.as_secs().min(time.as_secs())) / 86_400;
            Err(LiveError::new(format!("the certificate expired {days} days ago"))
                .hint("make a new one with `mario ca`"))
        }
        Err(webpki::Error::CertNotValidYet { .. }) => {
            Err(LiveError::new("the certificate is not valid yet").hint("see that the clock of this machine is right"))
        }
        Err(webpki::Error::UnknownIssuer | webpki::Error::InvalidSignatureForPublicKey) => {
            Err(LiveError::new("the certificate is not one of this colony's authority")
                .hint("take certificate and authority from the same `mario ca`"))
        }
        Err(error) => Err(LiveError::new("the certificate is not valid here").caused_by(error)),
    }
}

/// Rejects a key file that other users can access, as `ssh` does. Accepts every file if the system is not Unix.
pub(crate) fn check_private(path: &Path) -> Result<(), LiveError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let metadata = fs::metadata(path)
            .map_err(|error| LiveError::new(format!("cannot read {}", path.display())).caused_by(error))?;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(LiveError::new(format!(
                "others can read the private key {}: its mode is {mode:o}",
                path.display()
            ))
            .hint(format!("chmod 600 {}", path.display())));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

fn provider() -> CryptoProvider {
    ring::default_provider()
}

/// Verifies servers by their SPIFFE ids, not by their addresses.
#[derive(Debug)]
struct ColonyVerifier {
    authority: CertificateDer<'static>,
    colony: String,
    expected: ExpectedPeer,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for ColonyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let refused = |fault: LiveError| rustls::Error::General(fault.line());
        verify(&self.authority, end_entity, now, KeyUsage::server_auth()).map_err(refused)?;
        let certified = CertificateContent::read(end_entity).map_err(refused)?;
        let is_expected = certified.colony == self.colony
            && match &self.expected {
                ExpectedPeer::Exactly(subject) => certified.subject == *subject,
                ExpectedPeer::AnyNode => matches!(certified.subject, Subject::Node(_)),
            };
        if is_expected {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::Error::InvalidCertificate(CertificateError::NotValidForName))
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("only TLS 1.3 is spoken here".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
