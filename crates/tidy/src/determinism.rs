//! The crates that ARCHITECTURE.md calls deterministic are subject to the bans of `clippy.toml`; exceptions have
//! reasons.
//!
//! The page has a block that opens with ```` ```text deterministic ```` and names the crates, separated by commas or
//! line breaks. Clippy enforces the bans; this rule ensures that they are not removed, hidden by another `clippy.toml`,
//! lifted for a whole crate, or lifted for an item other than by `expect` with a reason.

use std::collections::BTreeSet;

use crate::architecture::PAGE;
use crate::{Finding, Workspace};

/// The file with the bans, at the root of the workspace.
pub const BANS: &str = "clippy.toml";

const BLOCK_OPENS: &str = "```text deterministic";
const BLOCK_CLOSES: &str = "```";

/// Bans that [`BANS`] must contain: at least one against each of hash order, clocks, the environment and files.
const NEEDED: [&str; 6] = [
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "std::env::var",
    "std::fs::read",
];

/// The prefix of the lints that an attribute names to lift a ban.
const LINTS: &str = "clippy::disallowed_";

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let page = workspace.text(PAGE).unwrap_or_default();
    let Some(block) = page.split_once(BLOCK_OPENS).and_then(|(_, rest)| rest.split_once(BLOCK_CLOSES)) else {
        return vec![Finding::new(PAGE, format!("has no block that opens with {BLOCK_OPENS}"))];
    };
    let names: BTreeSet<&str> = block.0.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty()).collect();
    [bans(workspace), ghosts(workspace, &names), exceptions(workspace, &names)].concat()
}

fn bans(workspace: &Workspace) -> Vec<Finding> {
    let Some(text) = workspace.text(BANS) else {
        return vec![Finding::new(BANS, "is missing, so nothing keeps clocks and files out of deterministic crates")];
    };
    let absent = NEEDED.iter().filter(|path| !text.contains(&format!("path = \"{path}\"")));
    let absent = absent.map(|path| Finding::new(BANS, format!("does not ban `{path}`")));
    let nearer = workspace.files.iter().map(|file| file.path.as_str());
    let nearer = nearer.filter(|path| path.ends_with("/clippy.toml") || path.ends_with(".clippy.toml"));
    absent.chain(nearer.map(|path| Finding::new(path, format!("hides the bans of {BANS}: remove it")))).collect()
}

fn ghosts(workspace: &Workspace, names: &BTreeSet<&str>) -> Vec<Finding> {
    let exists = |name: &str| workspace.members.iter().any(|member| member.name == name);
    let ghosts = names.iter().filter(|name| !exists(name));
    ghosts.map(|name| Finding::new(PAGE, format!("calls `{name}` deterministic, and there is no such crate"))).collect()
}

fn exceptions(workspace: &Workspace, names: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in workspace.members.iter().filter(|member| names.contains(member.name.as_str())) {
        let sources = member.manifest.replace("Cargo.toml", "src/");
        for file in workspace.rust_files().filter(|file| file.path.starts_with(&sources)) {
            for attribute in attributes(&file.text) {
                let complaint = if member.openings.contains(&file.path) && attribute.starts_with("#![") {
                    "lifts a ban for all of a deterministic crate: put the exception on the item that needs it"
                } else if !attribute.contains("expect(") || !attribute.contains("reason = \"") {
                    "lifts a ban without `expect` and a `reason`"
                } else {
                    continue;
                };
                findings.push(Finding::new(&file.path, complaint));
            }
        }
    }
    findings
}

/// The texts of the attributes that lift a ban, from `#` up to, but not including, `)]`.
fn attributes(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(LINTS).filter_map(|(at, _)| {
        let start = text[..at].rfind('#')?;
        let end = text[at..].find(")]")?;
        Some(&text[start..at + end])
    })
}
