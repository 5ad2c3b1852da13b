//! The format of the file that holds the advisories.

use std::collections::BTreeSet;

use semver::{Version, VersionReq};
use serde::Deserialize;
use toml::value::Date;

/// The advisories that were looked up, and when.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// When all packages were last looked up.
    pub looked_up: Date,
    /// The date of the newest advisory, of any package, that was known then.
    pub newest_advisory: Date,
    /// Packages that were looked up, with or without advisories.
    pub packages: BTreeSet<String>,
    /// Their advisories.
    #[serde(default)]
    pub advisory: Vec<Advisory>,
    /// Advisories about unmaintained packages that we keep.
    #[serde(default)]
    pub accepted: Vec<Accepted>,
}

/// One advisory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advisory {
    /// Its id, such as `RUSTSEC-2021-0003`.
    pub id: String,
    /// The package that it is about.
    pub package: String,
    /// When it was published.
    pub date: Date,
    /// The kind of defect.
    pub kind: Kind,
    /// The versions in which the defect is fixed: those that match any of these requirements.
    pub patched: Vec<VersionReq>,
    /// The versions that never had the defect: those that match any of these requirements.
    #[serde(default)]
    pub unaffected: Vec<VersionReq>,
    /// When it was withdrawn; `None` if it is valid.
    pub withdrawn: Option<Date>,
}

/// The kind of an advisory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The package has a security vulnerability.
    Vulnerability,
    /// Safe code that uses the package can cause undefined behaviour.
    Unsound,
    /// The package is no longer maintained.
    Unmaintained,
    /// Worth knowing, but not a defect.
    Notice,
}

/// An advisory about an unmaintained package that we keep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Its id.
    pub id: String,
    /// Why we keep the package.
    pub reason: String,
}

impl Advisory {
    /// Whether this version has the defect. A pre-release matches only requirements that name a pre-release of the same
    /// version, so in case of doubt it counts as affected.
    pub fn affects(&self, version: &Version) -> bool {
        let mut free = self.patched.iter().chain(&self.unaffected);
        self.withdrawn.is_none() && !free.any(|requirement| requirement.matches(version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affects(versions: &str, version: &str) -> bool {
        let text = format!(
            "id = \"RUSTSEC-2020-0001\"\npackage = \"any\"\ndate = 2020-01-01\nkind = \"vulnerability\"\n{versions}"
        );
        let advisory: Advisory = toml::from_str(&text).expect("the test writes advisories");
        advisory.affects(&Version::parse(version).expect("the test writes versions"))
    }

    #[test]
    fn requires_all_parts_of_a_requirement_and_any_of_several() {
        let versions = "patched = [\">= 1.8.4, < 1.9.0\", \">= 1.13.1\"]\nunaffected = [\"< 0.1.14\", \"=1.10.0\"]";
        for affected in ["0.1.14", "1.8.3", "1.9.0", "1.13.0", "1.13.1-beta.1"] {
            assert!(affects(versions, affected), "{affected}");
        }
        for free in ["0.1.13", "1.8.4", "1.8.9", "1.10.0", "1.13.1", "2.0.0", "1.13.1+build"] {
            assert!(!affects(versions, free), "{free}");
        }
    }

    #[test]
    fn reads_a_bare_version_as_cargo_does() {
        let versions = "patched = [\">= 0.14.3\", \"0.13.10\", \"^0.12.36\"]";
        for affected in ["0.14.2", "0.13.9", "0.12.35", "0.11.0"] {
            assert!(affects(versions, affected), "{affected}");
        }
        for free in ["0.14.3", "1.0.0", "0.13.10", "0.13.11", "0.12.40"] {
            assert!(!affects(versions, free), "{free}");
        }
    }

    #[test]
    fn affects_every_version_without_a_patched_one_until_withdrawn() {
        assert!(affects("patched = []", "9.9.9"));
        assert!(!affects("patched = []\nwithdrawn = 2020-02-01", "9.9.9"));
    }
}
