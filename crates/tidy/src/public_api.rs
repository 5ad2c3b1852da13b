//! The public interface of a crate as a list of lines, and the differences between two lists.
//!
//! An interface is compared with the lists in `crates/tidy/data/public-api`, not with a published version, because none
//! is published yet. [`listing`] makes a list from the JSON of rustdoc, [`Baseline`] is a committed list, and
//! [`Baseline::changes`] separates breaking changes from additions.

mod signature;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use semver::Version;

pub use walk::listing;

/// The crates that others are meant to use, and `domain`, whose types are in their interfaces.
pub const CRATES: [&str; 4] = ["domain", "prolog", "policy", "scenario"];

/// A committed list.
#[derive(Clone, PartialEq, Debug)]
pub struct Baseline {
    /// The version of the crate whose interface this is.
    pub version: Version,
    /// Whether that version is published. While it is not, breaking changes need no new version.
    pub is_released: bool,
    lines: BTreeSet<String>,
}

/// How an interface differs from its [`Baseline`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// Breaking changes: items that were removed or changed, and additions that break users' code.
    pub breaking: Vec<String>,
    /// Additions that break nothing.
    pub additions: Vec<String>,
}

impl Baseline {
    /// Reads a list. Its first line is `# NAME VERSION, released` or `# NAME VERSION, unreleased`.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let (head, lines) = text.split_once('\n').unwrap_or((text, ""));
        let wrong = || format!("the first line is {head:?}, and should be like `# mario-prolog 0.1.0, unreleased`");
        let words: Vec<&str> = head.split(' ').collect();
        let ["#", _, version, state] = words.as_slice() else { return Err(wrong()) };
        let is_released = match *state {
            "released" => true,
            "unreleased" => false,
            _ => return Err(wrong()),
        };
        let version = version.strip_suffix(',').and_then(|version| version.parse().ok()).ok_or_else(wrong)?;
        Ok(Baseline { version, is_released, lines: lines.lines().map(str::to_owned).collect() })
    }

    /// The text of the list of a crate with this version and interface.
    pub fn text(name: &str, version: &Version, is_released: bool, lines: &BTreeSet<String>) -> String {
        let state = if is_released { "released" } else { "unreleased" };
        let mut text = format!("# {name} {version}, {state}\n");
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// The differences between an interface and this baseline.
    pub fn changes(&self, lines: &BTreeSet<String>) -> Changes {
        let mut changes = Changes::default();
        let added: BTreeMap<&str, &String> = lines.difference(&self.lines).map(|line| (subject(line), line)).collect();
        let removed: BTreeMap<&str, &String> = self.lines.difference(lines).map(|line| (subject(line), line)).collect();
        for (subject, line) in &removed {
            changes.breaking.push(match added.get(subject) {
                Some(now) => format!("changed: {line}\n     now: {now}"),
                None => format!("removed: {line}"),
            });
        }
        for (_, line) in added.iter().filter(|(subject, _)| !removed.contains_key(*subject)) {
            match self.demand(line) {
                Some(why) => changes.breaking.push(format!("added: {line}\n  {why}")),
                None => changes.additions.push(format!("added: {line}")),
            }
        }
        changes
    }

    /// Returns why an addition breaks users' code; `None` if it does not.
    fn demand(&self, line: &str) -> Option<&'static str> {
        let parent = subject(line).rsplit_once("::").map_or("", |(parent, _)| parent);
        // The line of an item that users can neither match exhaustively nor construct ends with a brace.
        let is_of = |line: &str, item: &str| line.starts_with(item) && subject(line) == parent && !line.ends_with('}');
        let had = |item: &str| self.lines.iter().any(|line| is_of(line, item));
        let kind = line.split(' ').next().unwrap_or_default();
        match kind {
            "variant" if had("enum") => {
                Some("a `match` of a user may not know it; an enum that is to grow is `#[non_exhaustive]`")
            }
            "field" if had("struct") || had("variant") => {
                Some("all fields are public, so a user may construct it without this one")
            }
            "required" if had("trait") => Some("a type of a user that implements the trait lacks it"),
            _ => None,
        }
    }

    /// Whether a version may have breaking changes: always if the baseline is not released, else only if its major
    /// version, or before 1.0 its minor version, is higher than that of the baseline.
    pub fn may_break_in(&self, version: &Version) -> bool {
        let rank = |version: &Version| if version.major == 0 { (0, version.minor) } else { (version.major, 0) };
        !self.is_released || rank(version) > rank(&self.version)
    }
}

/// The part of a line that identifies its item: the item's path, which stays the same when the signature changes. For
/// implementations, it is the whole line.
fn subject(line: &str) -> &str {
    if line.starts_with("impl") {
        return line;
    }
    let path = line.split(' ').find(|word| word.contains("::")).unwrap_or(line);
    let ends = |character: char| !(character.is_alphanumeric() || character == '_' || character == ':');
    path.find(ends).map_or(path, |end| &path[..end]).trim_end_matches(':')
}

#[cfg(test)]
mod tests;
