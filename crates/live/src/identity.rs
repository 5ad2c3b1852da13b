//! Identities: the authority of a colony, and the certificates of nodes, operators and applications.
//!
//! Names are SPIFFE ids: `spiffe://COLONY` for the authority, `spiffe://COLONY/node/ID`,
//! `spiffe://COLONY/operator/NAME`, and `spiffe://COLONY/application/ID`. Further permissions are in additional names
//! of the certificate: `urn:mario:role:ROLE` for an operator, `urn:mario:prefix:/PATH` and DNS names for an
//! application. A node's certificate may list the DNS names and IP addresses under which operators reach it.

mod authority;
mod expiry;
mod tls;

use std::fmt;

use mario_domain::{ApplicationId, Id, NodeId};
use rustls::pki_types::CertificateDer;
use webpki::EndEntityCert;

use crate::error::LiveError;

pub use authority::{Authority, IssuedCertificate, write_private, write_public};
pub(crate) use expiry::expiry;
pub use tls::{CONTROL_PROTOCOL, DATA_PROTOCOL, ExpectedPeer, HTTP_PROTOCOL, Identity, peer};
pub(crate) use tls::{check_private, verify};

/// The maximum length of the name of a colony, a node, an operator or an application, in characters.
pub const NAME_LENGTH_MAX: usize = 64;

/// The subject of a certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The authority of the colony.
    Authority,
    /// A node.
    Node(NodeId),
    /// An operator of nodes.
    Operator(String),
    /// An application. The holder of the certificate's key owns it.
    Application(ApplicationId),
}

/// What an operator may do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Read the state of nodes.
    Look,
    /// Deploy, update, roll back, undeploy, pin and unpin instances, and set and end shadow policies.
    Deploy,
    /// Drain nodes, end their draining, and declare nodes lost.
    Drain,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 3] = [Role::Look, Role::Deploy, Role::Drain];

    /// The word for the role in certificates.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::Look => "look",
            Role::Deploy => "deploy",
            Role::Drain => "drain",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

const ROLE_PREFIX: &str = "urn:mario:role:";
const PATH_PREFIX: &str = "urn:mario:prefix:";

/// The content of a certificate. Trust it only if the chain of the certificate was verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertificateContent {
    /// The colony.
    pub colony: String,
    /// The subject.
    pub subject: Subject,
    /// The roles of an operator.
    pub roles: Vec<Role>,
    /// Host names that an application may use, or under which operators reach a node. A node's certificate may also
    /// list IP addresses, which [`CertificateContent::read`] leaves out.
    pub hosts: Vec<String>,
    /// Path prefixes that an application may use.
    pub prefixes: Vec<String>,
}

impl CertificateContent {
    /// Reads the content of a certificate. Unknown roles are ignored.
    pub fn read(certificate: &CertificateDer<'_>) -> Result<CertificateContent, LiveError> {
        let attempted = "cannot read a certificate";
        let parsed =
            EndEntityCert::try_from(certificate).map_err(|error| LiveError::new(attempted).caused_by(error))?;
        let mut subject = None;
        let (mut roles, mut prefixes) = (Vec::new(), Vec::new());
        for name in parsed.valid_uri_names() {
            if let Some(rest) = name.strip_prefix("spiffe://") {
                if subject.is_some() {
                    return Err(LiveError::new(attempted).caused_by("it has two SPIFFE ids"));
                }
                subject = Some(parse_subject(rest).ok_or_else(|| {
                    LiveError::new(attempted)
                        .caused_by(format!("`{name}` is not the name of a node, an operator or an application"))
                })?);
            } else if let Some(role) = name.strip_prefix(ROLE_PREFIX) {
                roles.extend(Role::ALL.into_iter().filter(|known| known.as_str() == role));
            } else if let Some(prefix) = name.strip_prefix(PATH_PREFIX) {
                prefixes.push(prefix.to_owned());
            }
        }
        let hosts = parsed.valid_dns_names().map(str::to_ascii_lowercase).collect();
        let Some((colony, subject)) = subject else {
            return Err(LiveError::new(attempted)
                .caused_by("it has no SPIFFE id")
                .hint("make certificates with `mario ca`"));
        };
        Ok(CertificateContent { colony, subject, roles, hosts, prefixes })
    }

    /// Its SPIFFE id.
    pub fn uri(&self) -> String {
        self.subject.uri(&self.colony)
    }
}

impl Subject {
    /// The SPIFFE id of this subject in a colony.
    pub fn uri(&self, colony: &str) -> String {
        match self {
            Subject::Authority => format!("spiffe://{colony}"),
            Subject::Node(node) => format!("spiffe://{colony}/node/{node}"),
            Subject::Operator(name) => format!("spiffe://{colony}/operator/{name}"),
            Subject::Application(application) => format!("spiffe://{colony}/application/{application}"),
        }
    }
}

fn parse_subject(rest: &str) -> Option<(String, Subject)> {
    let (colony, path) = rest.split_once('/').unwrap_or((rest, ""));
    check_name("the colony", colony).ok()?;
    let subject = match path.split_once('/') {
        None if path.is_empty() => Subject::Authority,
        Some(("node", id)) => Subject::Node(node_id(id).ok()?),
        Some(("operator", name)) => Subject::Operator(check_name("the operator", name).ok()?.to_owned()),
        Some(("application", id)) => Subject::Application(application_id(id).ok()?),
        _ => return None,
    };
    Some((colony.to_owned(), subject))
}

/// Checks a name, which must be usable in a URI and as a file name, and returns it. `what` describes the named thing in
/// the error, for example `a node`.
pub fn check_name<'a>(what: &str, name: &'a str) -> Result<&'a str, LiveError> {
    let is_known = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    let is_name = !name.is_empty()
        && name.len() <= NAME_LENGTH_MAX
        && name.chars().all(is_known)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if is_name {
        return Ok(name);
    }
    Err(LiveError::new(format!("{what} cannot be called {name:?}"))
        .hint(format!("take 1 to {NAME_LENGTH_MAX} letters, digits, `.`, `_` and `-`, a letter or a digit first")))
}

fn id(what: &str, text: &str) -> Result<Id, LiveError> {
    check_name(what, text)?;
    // Text in the canonical form of an integer is a number: `7` is a number, and `07` is a name.
    match text.parse::<i64>() {
        Ok(number) if number.to_string() == text => Ok(Id::number(number)),
        _ => {
            Id::name(text).map_err(|error| LiveError::new(format!("{what} cannot be called {text:?}")).caused_by(error))
        }
    }
}

/// Parses the id of a node.
pub fn node_id(text: &str) -> Result<NodeId, LiveError> {
    NodeId::try_from(id("a node", text)?)
        .map_err(|error| LiveError::new(format!("a node cannot be called {text:?}")).caused_by(error))
}

/// Parses the id of an application.
pub fn application_id(text: &str) -> Result<ApplicationId, LiveError> {
    id("an application", text).map(ApplicationId::from)
}

/// Checks a host name of an application or a node, and returns it in lower case.
pub fn check_host(host: &str) -> Result<String, LiveError> {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if host.len() <= 253 && host.split('.').all(is_label) {
        return Ok(host.to_ascii_lowercase());
    }
    Err(LiveError::new(format!("{host:?} is not a host name")).hint("write a name such as shop.example.org"))
}

/// Checks a path prefix of an application.
pub fn check_prefix(prefix: &str) -> Result<&str, LiveError> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let is_prefix = prefix.starts_with('/')
        && prefix.len() <= 256
        && !prefix.contains("//")
        && (prefix == "/" || !prefix.ends_with('/'))
        && prefix.split('/').all(|segment| segment != "." && segment != "..")
        && prefix.bytes().all(is_known);
    if is_prefix {
        return Ok(prefix);
    }
    Err(LiveError::new(format!("{prefix:?} is not a path prefix"))
        .hint("write it as /shop: it begins with `/`, does not end with one, and has letters, digits and -._~"))
}

#[cfg(test)]
mod tests;
