//! The authority of a colony, which issues keys and certificates.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use time::{Duration, OffsetDateTime};

use super::{CertificateContent, Role, Subject, check_host, check_name, check_prefix};
use crate::error::LiveError;

/// The file names in the directory of an authority.
const CERTIFICATE: &str = "ca.pem";
const KEY: &str = "ca.key";

/// The authority of a colony.
pub struct Authority {
    colony: String,
    certificate_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM. The certificate is followed by that of the authority.
pub struct IssuedCertificate {
    /// The certificate.
    pub certificate_pem: String,
    /// Its private key.
    pub key_pem: String,
    /// The SPIFFE id of its subject.
    pub uri: String,
}

impl Authority {
    /// Creates an authority for a colony. Its certificate is valid for `days` days.
    pub fn new(colony: &str, days: u32) -> Result<Authority, LiveError> {
        check_name("a colony", colony)?;
        let key = new_key()?;
        let params = authority_params(colony, days)?;
        let certificate = params.self_signed(&key).map_err(made("an authority"))?;
        let issuer = Issuer::new(authority_params(colony, days)?, key);
        Ok(Authority { colony: colony.to_owned(), certificate_pem: certificate.pem(), issuer })
    }

    /// Loads the authority from a directory.
    pub fn load(directory: &Path) -> Result<Authority, LiveError> {
        let (certificate, key) = (directory.join(CERTIFICATE), directory.join(KEY));
        let hint = "make an authority with `mario ca init`";
        let certificate_pem = read(&certificate).map_err(|fault| fault.hint(hint))?;
        let key_pem = read(&key).map_err(|fault| fault.hint(hint))?;
        let attempted = || format!("cannot use the authority in {}", directory.display());
        let der = CertificateDer::from_pem_slice(certificate_pem.as_bytes())
            .map_err(|error| LiveError::new(attempted()).caused_by(error))?;
        let certified = CertificateContent::read(&der)?;
        if certified.subject != Subject::Authority {
            return Err(
                LiveError::new(attempted()).caused_by(format!("the certificate is that of {}", certified.uri()))
            );
        }
        let key = KeyPair::from_pem(&key_pem).map_err(|error| LiveError::new(attempted()).caused_by(error))?;
        // Issued certificates use the authority's name and key, but not its validity period.
        let issuer = Issuer::new(authority_params(&certified.colony, 1)?, key);
        Ok(Authority { colony: certified.colony, certificate_pem, issuer })
    }

    /// Writes the authority into a directory, which is created if needed and must not contain an authority. On Unix,
    /// only the owner of the key's file can read it.
    pub fn save(&self, directory: &Path) -> Result<(), LiveError> {
        fs::create_dir_all(directory).map_err(|error| {
            LiveError::new(format!("cannot make the directory {}", directory.display())).caused_by(error)
        })?;
        write_private(&directory.join(KEY), &self.issuer.key().serialize_pem())?;
        write_public(&directory.join(CERTIFICATE), &self.certificate_pem)
    }

    /// The colony.
    pub fn colony(&self) -> &str {
        &self.colony
    }

    /// Its certificate, which is public.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// Issues a key and a certificate that is valid for `days` days. With a negative number, it has already expired.
    pub fn issue(&self, certified: &CertificateContent, days: i64) -> Result<IssuedCertificate, LiveError> {
        self.issue_between(certified, days.min(0), days)
    }

    /// Issues a key and a certificate. The certificate is valid from `from_days` days after now, less one hour, until
    /// `to_days` days after now.
    pub fn issue_between(
        &self,
        certified: &CertificateContent,
        from_days: i64,
        to_days: i64,
    ) -> Result<IssuedCertificate, LiveError> {
        let what = "a certificate";
        let mut params = CertificateParams::default();
        params.distinguished_name = distinguished(&certified.uri());
        let mut names = vec![SanType::URI(ia5(&certified.uri())?)];
        for role in &certified.roles {
            names.push(SanType::URI(ia5(&format!("{}{role}", super::ROLE_PREFIX))?));
        }
        for prefix in &certified.prefixes {
            names.push(SanType::URI(ia5(&format!("{}{}", super::PATH_PREFIX, check_prefix(prefix)?))?));
        }
        for host in &certified.hosts {
            names.push(match host.parse() {
                Ok(address) if matches!(certified.subject, Subject::Node(_)) => SanType::IpAddress(address),
                _ => SanType::DnsName(ia5(&check_host(host)?)?),
            });
        }
        params.subject_alt_names = names;
        let now = OffsetDateTime::now_utc();
        // Clocks of machines differ, so the certificate is valid from an hour earlier.
        params.not_before = now + Duration::days(from_days) - Duration::hours(1);
        params.not_after = now + Duration::days(to_days);
        params.is_ca = IsCa::ExplicitNoCa;
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = match certified.subject {
            Subject::Node(_) => vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth],
            _ => vec![ExtendedKeyUsagePurpose::ClientAuth],
        };
        let key = new_key()?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(made(what))?;
        Ok(IssuedCertificate {
            certificate_pem: format!("{}{}", certificate.pem(), self.certificate_pem),
            key_pem: key.serialize_pem(),
            uri: certified.uri(),
        })
    }

    /// The content of a node's certificate.
    pub fn node(&self, node: mario_domain::NodeId, hosts: Vec<String>) -> CertificateContent {
        self.certified(Subject::Node(node), Vec::new(), hosts, Vec::new())
    }

    /// The content of an operator's certificate.
    pub fn operator(&self, name: &str, roles: Vec<Role>) -> Result<CertificateContent, LiveError> {
        let subject = Subject::Operator(check_name("an operator", name)?.to_owned());
        Ok(self.certified(subject, roles, Vec::new(), Vec::new()))
    }

    /// The content of an application's certificate.
    pub fn application(
        &self,
        application: mario_domain::ApplicationId,
        hosts: Vec<String>,
        prefixes: Vec<String>,
    ) -> CertificateContent {
        self.certified(Subject::Application(application), Vec::new(), hosts, prefixes)
    }

    fn certified(
        &self,
        subject: Subject,
        roles: Vec<Role>,
        hosts: Vec<String>,
        prefixes: Vec<String>,
    ) -> CertificateContent {
        CertificateContent { colony: self.colony.clone(), subject, roles, hosts, prefixes }
    }
}

/// Creates a P-256 key, because P-256 is supported more widely than Ed25519, for example by browsers.
fn new_key() -> Result<KeyPair, LiveError> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(made("a key"))
}

fn authority_params(colony: &str, days: u32) -> Result<CertificateParams, LiveError> {
    let mut params = CertificateParams::default();
    let uri = Subject::Authority.uri(colony);
    params.distinguished_name = distinguished(&uri);
    params.subject_alt_names = vec![SanType::URI(ia5(&uri)?)];
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::hours(1);
    params.not_after = now + Duration::days(i64::from(days));
    Ok(params)
}

fn distinguished(uri: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::OrganizationName, "mario");
    name.push(DnType::CommonName, uri);
    name
}

fn ia5(text: &str) -> Result<Ia5String, LiveError> {
    Ia5String::try_from(text)
        .map_err(|error| LiveError::new(format!("{text:?} cannot stand in a certificate")).caused_by(error))
}

fn made(what: &str) -> impl FnOnce(rcgen::Error) -> LiveError {
    let attempted = format!("cannot make {what}");
    move |error| LiveError::new(attempted).caused_by(error)
}

fn read(path: &Path) -> Result<String, LiveError> {
    fs::read_to_string(path).map_err(|error| LiveError::new(format!("cannot read {}", path.display())).caused_by(error))
}

/// Writes a new file that, on Unix, only its owner can read. An existing file is never overwritten: it may be a key
/// that is needed.
pub fn write_private(path: &Path, text: &str) -> Result<(), LiveError> {
    write_new(path, text, 0o600)
}

/// Writes a file that all users may read. An existing file is never overwritten.
pub fn write_public(path: &Path, text: &str) -> Result<(), LiveError> {
    write_new(path, text, 0o644)
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), LiveError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let attempted = || format!("cannot write {}", path.display());
    let mut file = options.open(path).map_err(|error| {
        let is_there = error.kind() == std::io::ErrorKind::AlreadyExists;
        let fault = LiveError::new(attempted()).caused_by(error);
        if is_there {
            fault.hint("keys are never overwritten: name another place, or remove the file first")
        } else {
            fault
        }
    })?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|error| LiveError::new(attempted()).caused_by(error))
}
