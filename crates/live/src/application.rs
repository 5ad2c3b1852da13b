//! Applications as their owners describe and sign them.
//!
//! An owner writes an [`ApplicationFile`]. [`sign`] turns it into a document of three parts: the file and its policy as
//! JSON, the application's certificate, and a signature. [`open`] verifies the certificate and the signature before it
//! parses the JSON, and returns what a node needs.

mod defaults;
mod file;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use mario_colony::routing::{CERTIFICATE_BYTES_MAX, NAMES_MAX, Names};
use mario_colony::{Copies, Descriptor};
use mario_domain::{
    Application, ApplicationId, Fact, FactValue, Flavour, FlavourId, Hardware, Id, OwnerId, Quantity, Sleep,
};
use mario_policy::PolicyText;
use rustls::pki_types::{CertificateDer, UnixTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use webpki::{EndEntityCert, KeyUsage};

use crate::error::LiveError;
use crate::identity::{CertificateContent, Identity, Subject, application_id, check_host, check_prefix};
use crate::seams::Run;

use defaults::{default_drain_ms, default_start_ms, first_version, is_anchor_by_default, is_true};
pub use file::{read, schema_text};

/// The maximum size of a document, in bytes. Nodes send a document in one frame.
pub const DOCUMENT_BYTES_MAX: usize = 384 << 10;

/// The first bytes of a document, with the version of its format.
pub const MAGIC: &[u8] = b"mario-application/1\n";

/// An application as its owner writes it, in TOML.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationFile {
    /// The application's id, which must match its certificate.
    pub id: String,
    /// The version, starting at 1. An update must have a higher version than the description that it replaces.
    #[serde(default = "first_version")]
    pub version: u64,
    /// The owner of the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The units of hardware that one instance needs.
    pub hardware: u64,
    /// The client requests that one instance handles in one evaluation window, `timing.evaluation_ms` of its node, which
    /// is 5 s by default: the requests per second times `evaluation_ms` / 1000.
    pub max_rate: f64,
    /// The latency that a client request tolerates, in milliseconds.
    pub max_latency: f64,
    /// The file with the policy of its agents, relative to the directory of this file. `mario app sign` includes its
    /// text, and that of the files that it loads.
    pub policy: String,
    /// For how many evaluations an agent remembers an inhibition; 0 for no memory. By default, as the policy declares;
    /// if it declares nothing, 1 if the policy reads inhibitions, and 0 otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u32>,
    /// The maximum number of replications by an instance and all its descendants together; unlimited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replications_max: Option<u32>,
    /// Whether two copies of an instance must never run at once. When an instance migrates, its old copy then stops
    /// before the new one starts.
    #[serde(default)]
    pub exclusive: bool,
    /// Whether an instance that an operator deploys is an anchor: its policy cannot undeploy it, so the application
    /// ends only when an operator or the owner of a node ends it. True by default; replicas are never anchors. It takes
    /// effect at the deploy: an update changes no running instance, but `mario app anchor` does.
    #[serde(default = "is_anchor_by_default", skip_serializing_if = "is_true")]
    pub anchor: bool,
    /// Host names under which clients reach it, in addition to `ID` and `ID.COLONY`; its certificate must list them.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Path prefixes under which clients reach it if the host name of a request is of no application; its certificate
    /// must list them.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// The flavours that it can run in, each with its own requirements; the first is the default.
    #[serde(default, rename = "flavour", skip_serializing_if = "Vec::is_empty")]
    pub flavours: Vec<FlavourFile>,
    /// How its instances sleep; if absent, they never sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep: Option<SleepFile>,
    /// Further facts about it, for policies: `fact/3`.
    #[serde(default)]
    pub facts: BTreeMap<String, PlainValue>,
    /// How it is run.
    pub run: RunFile,
}

/// A flavour of an application. The first flavour must have the same `hardware`, `max_rate` and `max_latency` as the
/// application.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlavourFile {
    /// Its name, passed to workloads in the environment variable `MARIO_FLAVOUR`.
    pub id: String,
    /// The units of hardware that one instance needs.
    pub hardware: u64,
    /// The client requests that one instance handles in one evaluation window, `timing.evaluation_ms` of its node, which
    /// is 5 s by default: the requests per second times `evaluation_ms` / 1000.
    pub max_rate: f64,
    /// The latency that a client request tolerates, in milliseconds.
    pub max_latency: f64,
    /// How good the answers are, in a unit of the owner's choice.
    pub quality: f64,
}

/// How the instances of an application sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepFile {
    /// The units of hardware that a sleeping instance keeps; 0 if absent.
    #[serde(default)]
    pub keeps: u64,
}

/// A value of a fact.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "the value of a fact is a name or a number")]
pub enum PlainValue {
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A name.
    Name(String),
}

/// How an application is run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    /// The driver: `process` or `sample`.
    pub driver: String,
    /// The program, by its absolute path, and its arguments, for the driver `process`; empty for `sample`. The program
    /// must be installed on every node that may host the application, and must listen on 127.0.0.1 and the port in the
    /// environment variable `PORT`.
    #[serde(default)]
    pub command: Vec<String>,
    /// The path that returns a 2xx status when a copy is healthy. If absent, a copy is healthy when it accepts
    /// connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_path: Option<String>,
    /// How long a copy may take to become healthy, in milliseconds: from 1 to 3,600,000, and 20,000 if absent.
    #[serde(default = "default_start_ms")]
    pub start_timeout_ms: u64,
    /// How long a copy may take to finish its open requests before it is stopped, in milliseconds: from 1 to 3,600,000,
    /// and 30,000 if absent.
    #[serde(default = "default_drain_ms")]
    pub drain_timeout_ms: u64,
    /// The maximum memory of a copy, in bytes, at least 1 MiB; unlimited if absent. Where the system permits no control
    /// groups, the address space of each process is limited instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes_max: Option<u64>,
    /// The maximum processor time of a copy, in thousandths of one core; unlimited if absent, or where the system
    /// permits no control groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_millis_max: Option<u64>,
    /// Environment variables of every copy. `PORT` and names that begin with `MARIO_` are rejected: the node sets them.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Environment variables whose values, e.g. secrets, each node takes from the files of the same names in its own
    /// store.
    #[serde(default)]
    pub from_store: Vec<String>,
    /// Further settings of the driver, e.g. `processes-max`; docs/workloads.md lists them.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// The signed content: the file, and the policy that it names.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signed {
    file: ApplicationFile,
    policy: PolicyText,
}

/// The content of a document that was verified: by [`open`], or before this node stored it.
#[derive(Clone, PartialEq, Debug)]
pub struct VerifiedDocument {
    /// The descriptor of the application, for [`mario_colony::Node`]. It includes the document.
    pub descriptor: Arc<Descriptor>,
    /// How copies are run.
    pub run: Arc<Run>,
    /// A checksum of the `run` table of the file. [`Task::shape`](crate::seams::Task::shape) combines it with the
    /// flavour.
    pub shape: u32,
    /// Whether an instance that an operator deploys is an anchor.
    pub is_anchor: bool,
    /// The host names and path prefixes under which clients reach it, with the certificate that lists them.
    pub names: Arc<Names>,
    /// Environment variables of every copy.
    pub environment: BTreeMap<String, String>,
    /// Environment variables whose values come from the node's own store.
    pub from_store: Vec<String>,
}

/// Returns the signed document of an application. `identity` is the certificate of the application with its key, and
/// `policy` holds the files of its policy. Fails if no node of the colony would accept the document.
pub fn sign(file: &ApplicationFile, policy: &PolicyText, identity: &Identity) -> Result<Vec<u8>, LiveError> {
    let signed = Signed { file: file.clone(), policy: policy.clone() };
    let text = serde_json::to_vec(&signed)
        .map_err(|error| LiveError::new("cannot write the application down").caused_by(error))?;
    let signature = identity.sign(&text)?;
    let mut document = MAGIC.to_vec();
    for part in [text.as_slice(), identity.certificate().as_ref(), signature.as_slice()] {
        document.extend_from_slice(&(part.len() as u32).to_be_bytes());
        document.extend_from_slice(part);
    }
    // Refuses to sign a document that no node would accept.
    open(&document, identity.authority(), UnixTime::now())?;
    Ok(document)
}

/// Like [`open`], with the authority of `identity` and the current time.
pub fn open_now(document: &[u8], identity: &Identity) -> Result<VerifiedDocument, LiveError> {
    open(document, identity.authority(), UnixTime::now())
}

/// Verifies a document, and returns its content. Its certificate must be issued by `authority`, be valid at time `at`,
/// belong to the application, match the signature, and list the application's host names and path prefixes.
pub fn open(document: &[u8], authority: &CertificateDer<'_>, at: UnixTime) -> Result<VerifiedDocument, LiveError> {
    let wrong =
        |cause: &str| LiveError::new("cannot use the description of the application").caused_by(cause.to_owned());
    if document.len() > DOCUMENT_BYTES_MAX {
        let sizes = format!("it has {} bytes, and at most {DOCUMENT_BYTES_MAX} are taken", document.len());
        return Err(wrong(&sizes).hint("make its policy shorter"));
    }
    let unsigned = "it is not a signed description of an application";
    let rest = document.strip_prefix(MAGIC).ok_or_else(|| wrong(unsigned).hint("sign it with `mario app sign`"))?;
    let [text, certificate, signature] =
        parts(rest).ok_or_else(|| wrong("it is cut off or has more than its parts"))?;
    let certificate = CertificateDer::from(certificate);
    crate::identity::verify(authority, &certificate, at, KeyUsage::client_auth()).map_err(|fault| {
        LiveError::new("cannot believe the certificate of the application's owner").caused_by(fault)
    })?;
    let certified = CertificateContent::read(&certificate)?;
    let parsed = EndEntityCert::try_from(&certificate).map_err(|_| wrong("its certificate cannot be read"))?;
    parsed
        .verify_signature(webpki::ring::ECDSA_P256_SHA256, text, signature)
        .map_err(|_| wrong("the signature does not fit: it was changed after it was signed, or by another key"))?;
    let signed: Signed =
        serde_json::from_slice(text).map_err(|error| wrong("its text cannot be read").caused_by(error.to_string()))?;
    let application = application_id(&signed.file.id)?;
    if certified.subject != Subject::Application(application) {
        let claim = format!("it describes `{}`, and its certificate is that of {}", signed.file.id, certified.uri());
        return Err(wrong(&claim).hint("sign it with the key of the application"));
    }
    check_claims(&signed.file, &certified, &certificate)?;
    opened(signed, document, certificate.as_ref())
}

/// Reads a document that this node has stored, in its journal or as a shadow. It was verified before it was stored, so
/// it is not verified again.
pub(crate) fn reopen(document: &[u8]) -> Result<VerifiedDocument, LiveError> {
    let wrong = || LiveError::new("cannot use the description of the application in the journal");
    let [text, certificate, _] = document.strip_prefix(MAGIC).and_then(parts).ok_or_else(wrong)?;
    opened(serde_json::from_slice(text).map_err(|error| wrong().caused_by(error))?, document, certificate)
}

/// Splits the rest of a document after [`MAGIC`] into its three parts, each preceded by its length. Returns `None` if
/// it is truncated, or anything follows the parts.
fn parts(mut rest: &[u8]) -> Option<[&[u8]; 3]> {
    let mut parts = [&[][..]; 3];
    for part in &mut parts {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        (*part, rest) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    }
    rest.is_empty().then_some(parts)
}

/// Verifies the names that a neighbour announces for an application: their certificate must be issued by `authority`,
/// be valid at time `at`, belong to the application, and list them.
pub(crate) fn check_names(
    application: &ApplicationId,
    names: &Names,
    authority: &CertificateDer<'_>,
    at: UnixTime,
) -> Result<(), LiveError> {
    let wrong = || LiveError::new(format!("cannot believe the names of application `{application}`"));
    let certificate = CertificateDer::from(&*names.certificate);
    crate::identity::verify(authority, &certificate, at, KeyUsage::client_auth())
        .map_err(|fault| wrong().caused_by(fault))?;
    let certified = CertificateContent::read(&certificate)?;
    if certified.subject != Subject::Application(application.clone()) {
        return Err(wrong().caused_by(format!("the certificate is that of {}", certified.uri())));
    }
    let unlisted = names.hosts.iter().find(|host| !certified.hosts.contains(host));
    match unlisted.or_else(|| names.prefixes.iter().find(|prefix| !certified.prefixes.contains(prefix))) {
        Some(name) => Err(wrong().caused_by(format!("its certificate does not list {}", name.escape_debug()))),
        None => Ok(()),
    }
}

fn check_claims(
    file: &ApplicationFile,
    certified: &CertificateContent,
    certificate: &CertificateDer<'_>,
) -> Result<(), LiveError> {
    for (what, names) in [("hosts", &file.hosts), ("prefixes", &file.prefixes)] {
        if names.len() > NAMES_MAX {
            return Err(LiveError::new(format!("application `{}` has {} {what}", file.id, names.len()))
                .hint(format!("name at most {NAMES_MAX}")));
        }
    }
    if certificate.len() > CERTIFICATE_BYTES_MAX {
        let bytes = certificate.len();
        return Err(LiveError::new(format!("the certificate of application `{}` has {bytes} bytes", file.id))
            .hint(format!("make one with fewer names: at most {CERTIFICATE_BYTES_MAX} bytes travel between nodes")));
    }
    if file.version == 0 {
        return Err(LiveError::new("`version` of the application is 0").hint("versions begin with 1"));
    }
    let claims = |what: &str, name: &str| {
        LiveError::new(format!("application `{}` cannot have the {what} {name}", file.id))
            .caused_by("its certificate does not list it")
            .hint("make the certificate with `mario ca application`, which takes hosts and prefixes")
    };
    for host in &file.hosts {
        if !certified.hosts.contains(&check_host(host)?) {
            return Err(claims("host name", host));
        }
    }
    for prefix in &file.prefixes {
        check_prefix(prefix)?;
        if !certified.prefixes.contains(prefix) {
            return Err(claims("path prefix", prefix));
        }
    }
    Ok(())
}

fn opened(signed: Signed, document: &[u8], certificate: &[u8]) -> Result<VerifiedDocument, LiveError> {
    let Signed { file, policy } = signed;
    let id = application_id(&file.id)?;
    let quantity = |name: &str, value: f64| {
        let wrong = || LiveError::new(format!("`{name}` of application `{}` is {value}", file.id));
        if value < 0.0 {
            return Err(wrong().hint(match name {
                "max_rate" => "write the client requests that one instance handles in one evaluation window, e.g. 500",
                _ => "write a number that is not negative",
            }));
        }
        if value.fract() == 0.0 && value <= f64::from(u32::MAX) {
            return Ok(Quantity::whole(value as u32));
        }
        Quantity::fraction(value).map_err(|error| wrong().caused_by(error))
    };
    let owner = file.owner.as_deref().map(OwnerId::name).transpose();
    let owner = owner.map_err(|error| LiveError::new("`owner` of the application is not a name").caused_by(error))?;
    let flavour = |one: &FlavourFile| {
        let wrong = |error| LiveError::new(format!("a flavour cannot be called {:?}", one.id)).caused_by(error);
        Ok(Flavour {
            id: FlavourId::name(&one.id).map_err(wrong)?,
            hardware: Hardware::units(one.hardware),
            max_rate: quantity("max_rate", one.max_rate)?,
            max_latency: quantity("max_latency", one.max_latency)?,
            quality: quantity("quality", one.quality)?,
        })
    };
    let application = Application {
        id: id.clone(),
        owner,
        hardware: Hardware::units(file.hardware),
        max_rate: quantity("max_rate", file.max_rate)?,
        max_latency: quantity("max_latency", file.max_latency)?,
        flavours: file.flavours.iter().map(flavour).collect::<Result<_, LiveError>>()?,
        sleep: file.sleep.map(|sleep| Sleep { keeps: Hardware::units(sleep.keeps), start: Quantity::ZERO }),
    };
    if let Some(cause) = application.flavour_fault() {
        return Err(
            LiveError::new(format!("the flavours of application `{}` cannot be used", file.id)).caused_by(cause)
        );
    }
    let descriptor = Descriptor {
        version: file.version,
        application,
        policy,
        facts: facts(id.id(), &file.facts)?,
        replications_max: file.replications_max,
        copies: if file.exclusive { Copies::Exclusive } else { Copies::MayOverlap },
        document: document.into(),
    };
    let names = Names {
        version: file.version,
        hosts: file.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
        prefixes: file.prefixes,
        certificate: certificate.into(),
    };
    let (environment, from_store) = (file.run.environment.clone(), file.run.from_store.clone());
    check_environment(environment.keys().chain(&from_store))?;
    let shape = shape(document);
    let run = Arc::new(run(file.run)?);
    Ok(VerifiedDocument {
        descriptor: Arc::new(descriptor),
        run,
        shape,
        is_anchor: file.anchor,
        names: Arc::new(names),
        environment,
        from_store,
    })
}

/// The digest of what an owner signed: SHA-256 in hexadecimal digits of the description with its policy. It does not
/// depend on the signature, so a description that was signed twice has one digest.
pub fn digest(document: &[u8]) -> String {
    let text = document.strip_prefix(MAGIC).and_then(parts).map(|[text, ..]| text).unwrap_or_default();
    let digest = hmac_sha256::Hash::hash(text);
    let mut digits = String::with_capacity(2 * digest.len());
    for byte in digest {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// A checksum of the part of a document that determines how copies are run. It is computed from the signed text, so
/// that all versions of this program agree on it.
fn shape(document: &[u8]) -> u32 {
    let text = document.strip_prefix(MAGIC).and_then(parts).map(|[text, ..]| text).unwrap_or_default();
    let signed: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    crc32fast::hash(signed["file"]["run"].to_string().as_bytes())
}

/// Converts the facts of a file to facts about a subject.
pub(crate) fn facts(subject: &Id, written: &BTreeMap<String, PlainValue>) -> Result<Vec<Fact>, LiveError> {
    let fact = |(key, value): (&String, &PlainValue)| {
        let wrong = |error| LiveError::new(format!("the value of the fact `{key}` is invalid")).caused_by(error);
        let value = match value {
            PlainValue::Integer(number) => FactValue::Id(Id::number(*number)),
            PlainValue::Number(number) if number.is_finite() => FactValue::Number(*number),
            PlainValue::Number(_) => return Err(LiveError::new(format!("the fact `{key}` is not a finite number"))),
            PlainValue::Name(name) => FactValue::name(name).map_err(wrong)?,
        };
        Ok(Fact { subject: subject.clone(), key: Id::name(key).map_err(wrong)?, value })
    };
    written.iter().map(fact).collect()
}

fn check_environment<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), LiveError> {
    for name in names {
        let is_known = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let is_name = !name.is_empty() && name.len() <= 128 && name.bytes().all(is_known);
        if !is_name || name == "PORT" || name.starts_with("MARIO_") {
            return Err(LiveError::new(format!("the environment variable `{}` cannot be set", name.escape_debug()))
                .hint(
                    "take capital letters, digits and `_`; `PORT` and those that begin with `MARIO_` are the node's",
                ));
        }
    }
    Ok(())
}

fn run(file: RunFile) -> Result<Run, LiveError> {
    const LONGEST_MS: u64 = 3_600_000;
    for (name, value) in [("start_timeout_ms", file.start_timeout_ms), ("drain_timeout_ms", file.drain_timeout_ms)] {
        if !(1..=LONGEST_MS).contains(&value) {
            return Err(
                LiveError::new(format!("`{name}` is {value}")).hint(format!("write a number from 1 to {LONGEST_MS}"))
            );
        }
    }
    if file.health_path.as_deref().is_some_and(|path| !path.starts_with('/')) {
        return Err(LiveError::new("`health_path` does not begin with `/`"));
    }
    Ok(Run {
        driver: file.driver,
        command: file.command,
        health_path: file.health_path,
        start_timeout: Duration::from_millis(file.start_timeout_ms),
        drain_timeout: Duration::from_millis(file.drain_timeout_ms),
        memory_bytes_max: file.memory_bytes_max,
        cpu_millis_max: file.cpu_millis_max,
        settings: file.settings,
    })
}

#[cfg(test)]
mod tests;
