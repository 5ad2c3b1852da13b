//! The crates and their dependencies are those that ARCHITECTURE.md allows.
//!
//! The page has a block that opens with ```` ```text dependencies ```` and has a line for each crate, and lines for
//! what only tests may link:
//!
//! ```text
//! cli -> prolog, diagnostics      what cli may link
//! prolog                          prolog may link no other crate of the workspace
//! cli (tests) -> colony           what the tests of cli may also link
//! * (tests) -> reference          what the tests of every crate may link
//! ```
//!
//! Build scripts count as tests. The rest of the page, which has one line for each crate, must link to the `lib.rs` or
//! `main.rs` of each, such as `](crates/cli/src/lib.rs)`: the documentation there describes the crate.
//! Neither the block nor a path below `crates/` may name a crate that does not exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, Workspace};

/// The page that is checked.
pub const PAGE: &str = "ARCHITECTURE.md";

const BLOCK_OPENS: &str = "```text dependencies";
const BLOCK_CLOSES: &str = "```";
const EVERY_CRATE: &str = "*";

/// The crates that each crate may link, by name.
#[derive(Debug, Default)]
struct Allowed {
    libraries: BTreeMap<String, BTreeSet<String>>,
    tests: BTreeMap<String, BTreeSet<String>>,
}

impl Allowed {
    fn parse(block: &str) -> Self {
        let mut allowed = Self::default();
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let (from, to) = line.split_once("->").unwrap_or((line, ""));
            let from = from.trim();
            let to = to.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
            let (map, from) = match from.strip_suffix("(tests)") {
                Some(from) => (&mut allowed.tests, from.trim()),
                None => (&mut allowed.libraries, from),
            };
            map.entry(from.to_owned()).or_default().extend(to);
        }
        allowed
    }

    fn names(&self) -> BTreeSet<&str> {
        let maps = [&self.libraries, &self.tests];
        maps.into_iter()
            .flatten()
            .flat_map(|(from, to)| std::iter::once(from).chain(to))
            .map(String::as_str)
            .filter(|name| *name != EVERY_CRATE)
            .collect()
    }

    fn library_may_link(&self, from: &str, to: &str) -> bool {
        self.libraries.get(from).is_some_and(|allowed| allowed.contains(to))
    }

    fn tests_may_link(&self, from: &str, to: &str) -> bool {
        let beside =
            [from, EVERY_CRATE].iter().filter_map(|name| self.tests.get(*name)).any(|allowed| allowed.contains(to));
        beside || self.library_may_link(from, to)
    }
}

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let Some(page) = workspace.text(PAGE) else {
        return vec![Finding::new(PAGE, "is missing")];
    };
    let Some((before, block, after)) = split(page) else {
        return vec![Finding::new(PAGE, format!("has no block that opens with {BLOCK_OPENS}"))];
    };
    let allowed = Allowed::parse(block);
    let prose = format!("{before}\n{after}");
    let mut findings = Vec::new();
    findings.extend(forbidden_dependencies(workspace, &allowed));
    findings.extend(undescribed_crates(workspace, &allowed, &prose));
    findings.extend(ghosts(workspace, &allowed, &prose));
    findings
}

fn split(page: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = page.split_once(BLOCK_OPENS)?;
    let (block, after) = rest.split_once(BLOCK_CLOSES)?;
    Some((before, block, after))
}

fn forbidden_dependencies(workspace: &Workspace, allowed: &Allowed) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        for to in &member.dependencies {
            if !allowed.library_may_link(&member.name, to) {
                let edge = format!("{} -> {to}", member.name);
                findings.push(Finding::new(&member.manifest, format!("{PAGE} does not allow `{edge}`")));
            }
        }
        for to in &member.test_dependencies {
            if !allowed.tests_may_link(&member.name, to) {
                let edge = format!("{} (tests) -> {to}", member.name);
                findings.push(Finding::new(&member.manifest, format!("{PAGE} does not allow `{edge}`")));
            }
        }
    }
    findings
}

fn undescribed_crates(workspace: &Workspace, allowed: &Allowed, prose: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        if !allowed.libraries.contains_key(&member.name) {
            let message = format!("the block of dependencies has no line for `{}`", member.name);
            findings.push(Finding::new(PAGE, message));
        }
        // Not every crate is below `crates/`.
        let directory = member.manifest.strip_suffix("/Cargo.toml").unwrap_or(&member.name);
        let is_linked = |file: &str| prose.contains(&format!("]({directory}/src/{file})"));
        if !is_linked("lib.rs") && !is_linked("main.rs") {
            findings.push(Finding::new(PAGE, format!("has no line with a link to the `lib.rs` of `{directory}`")));
        }
    }
    findings
}

fn ghosts(workspace: &Workspace, allowed: &Allowed, prose: &str) -> Vec<Finding> {
    let exists = |name: &str| workspace.members.iter().any(|member| member.name == name);
    let named: BTreeSet<&str> = paths_in(prose).union(&allowed.names()).copied().collect();
    named
        .into_iter()
        .filter(|name| !exists(name))
        .map(|name| Finding::new(PAGE, format!("names `{name}`, and there is no such crate")))
        .collect()
}

/// The names of all crates that the text mentions by a path below `crates/`.
fn paths_in(text: &str) -> BTreeSet<&str> {
    text.split("crates/")
        .skip(1)
        .map(|rest| {
            let end = rest.find(|character: char| !(character.is_ascii_alphanumeric() || "_-".contains(character)));
            &rest[..end.unwrap_or(rest.len())]
        })
        // `crates/` and `crates/*` mean the directory.
        .filter(|name| !name.is_empty())
        .collect()
}
