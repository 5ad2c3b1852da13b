//! `cargo metadata` lists no package in two versions: linking both costs build time and size, and their types are
//! incompatible.

use std::collections::BTreeMap;

use crate::{Finding, Package};

/// Applies the rule. `accepted` names packages that may occur in several versions, because this workspace cannot avoid
/// it; an entry that does not apply is a finding, too.
pub fn check(packages: &[Package], accepted: &[&str]) -> Vec<Finding> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let unexpected = versions.iter().filter(|(name, _)| !accepted.contains(name)).map(|(name, versions)| {
        let message = format!("is linked in versions {}; `cargo tree -d` shows by whom", versions.join(", "));
        Finding::new(*name, message)
    });
    let stale = accepted
        .iter()
        .filter(|name| !versions.contains_key(*name))
        .map(|name| Finding::new(*name, "is accepted in several versions and comes in one: take it off the list"));
    unexpected.chain(stale).collect()
}
