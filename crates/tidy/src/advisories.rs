//! Every locked dependency was looked up for advisories, and no locked version has a known vulnerability or is unsound.
//! One that is unmaintained must be accepted with a reason.
//!
//! [`DATABASE`] holds the advisories of <https://rustsec.org> about the packages in Cargo.lock, as of the last look-up.
//! The file is part of the workspace, so the result for a commit does not depend on the day or on a network. The
//! drawback is that the file becomes outdated. [`age::warning`] warns about that, but no test fails because of it.

pub mod age;

mod database;

pub use database::{Accepted, Advisory, Database, Kind};

use std::collections::{BTreeMap, BTreeSet};

use semver::{Version, VersionReq};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{Finding, Workspace};

/// The file with the advisories that were looked up.
pub const DATABASE: &str = "crates/tidy/data/advisories.toml";
const LOCK: &str = "Cargo.lock";

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    match (read::<Lock>(workspace, LOCK), database(workspace)) {
        (Ok(lock), Ok(database)) => check_lock(&lock, &database),
        (lock, database) => lock.err().into_iter().chain(database.err()).collect(),
    }
}

/// Reads the advisories that were looked up for this workspace. A missing or malformed file is a finding.
pub fn database(workspace: &Workspace) -> Result<Database, Finding> {
    read(workspace, DATABASE)
}

/// The parts of Cargo.lock that the rule reads.
#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: Version,
    /// `None` for a crate of the workspace.
    source: Option<String>,
}

fn read<T: DeserializeOwned>(workspace: &Workspace, path: &str) -> Result<T, Finding> {
    let Some(text) = workspace.text(path) else {
        return Err(Finding::new(path, "is missing, so the locked packages cannot be checked for advisories"));
    };
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = text[..start].matches('\n').count() + 1;
        Finding::new(format!("{path}:{line}"), error.message())
    })
}

fn check_lock(lock: &Lock, database: &Database) -> Vec<Finding> {
    let accepted: BTreeMap<&str, &str> =
        database.accepted.iter().map(|accepted| (accepted.id.as_str(), accepted.reason.trim())).collect();
    let mut findings = Vec::new();
    let mut used = BTreeSet::new();
    for locked in lock.package.iter().filter(|locked| locked.source.is_some()) {
        let place = format!("{} {}", locked.name, locked.version);
        if !database.packages.contains(&locked.name) {
            findings.push(Finding::new(&place, not_looked_up(&locked.name)));
        }
        for advisory in database.advisory.iter().filter(|advisory| advisory.package == locked.name) {
            if !advisory.affects(&locked.version) {
                continue;
            }
            let may_be_accepted = advisory.kind == Kind::Unmaintained;
            if may_be_accepted && accepted.get(advisory.id.as_str()).is_some_and(|reason| !reason.is_empty()) {
                used.insert(advisory.id.as_str());
            } else if advisory.kind != Kind::Notice {
                findings.push(Finding::new(&place, affected(advisory, &locked.version)));
            }
        }
    }
    findings.extend(check_database(database, &used));
    findings
}

/// Checks the database itself. `used` are the ids of accepted advisories that apply to a locked version.
fn check_database(database: &Database, used: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for advisory in &database.advisory {
        if !database.packages.contains(&advisory.package) {
            let Advisory { id, package, .. } = advisory;
            let message = format!("{id} is about `{package}`, which is not in `packages`: add it there");
            findings.push(Finding::new(DATABASE, message));
        }
    }
    for Accepted { id, reason } in &database.accepted {
        let message = if reason.trim().is_empty() {
            format!("{id} is accepted without a reason: give one")
        } else if !used.contains(id.as_str()) {
            format!("{id} is accepted, but no locked package is unmaintained by it: remove the entry")
        } else {
            continue;
        };
        findings.push(Finding::new(DATABASE, message));
    }
    findings
}

fn not_looked_up(name: &str) -> String {
    format!(
        "was not looked up for advisories: read https://rustsec.org/packages/{name}.html, \
         which is missing when there is none, and add `{name}` and its advisories to {DATABASE}"
    )
}

fn affected(advisory: &Advisory, version: &Version) -> String {
    let Advisory { id, package, date, kind, patched, .. } = advisory;
    let what = match kind {
        Kind::Vulnerability => "has a vulnerability",
        Kind::Unsound => "is unsound",
        Kind::Unmaintained => "is unmaintained",
        Kind::Notice => "has a notice",
    };
    let or_accept = match kind {
        Kind::Unmaintained => format!(", or accept it with a reason in {DATABASE}"),
        _ => String::new(),
    };
    let remedy = if patched.is_empty() {
        "no version is patched: replace the package".to_owned()
    } else {
        let patched: Vec<String> = patched.iter().map(VersionReq::to_string).collect();
        format!("`cargo update -p {package}@{version}` to a version {}", patched.join(" or "))
    };
    format!("{what} ({id} of {date}, https://rustsec.org/advisories/{id}.html); {remedy}{or_accept}")
}
