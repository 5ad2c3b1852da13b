//! Files and functions are short; those that are already longer may not grow.
//!
//! [`LIST`] has the files and functions that were too long at the last update, with their lengths. An entry must be
//! lowered once the code has shrunk by more than [`SLACK_LINES`], and removed once the code is short enough, so that
//! the code cannot grow back. The list is rewritten by [`update`]; a new or higher entry is visible to a reviewer in
//! its diff.
//!
//! Functions are found by their indentation, not by parsing: the format check runs before this one, so a function ends
//! at the first closing brace at the indentation of its `fn`. A function that contains such a line in a multi-line
//! string is measured too short.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;

use crate::{Finding, SourceFile, Workspace};

/// The maximum number of lines of a Rust file.
pub const FILE_LINES_MAX: usize = 500;
/// The maximum number of lines of a function, including its signature and braces.
pub const FUNCTION_LINES_MAX: usize = 80;
/// How many lines an entry of the list may exceed the actual length by.
pub const SLACK_LINES: usize = 40;
/// The list of longer files and functions.
pub const LIST: &str = "crates/tidy/long.txt";

const LIST_OPENS: &str = "\
# Files and functions that are longer than the limit, with their lines. They may not grow.
# `MARIO_TIDY=update cargo test -p mario-tidy` rewrites this list.
";

/// A file, by its path, or a function, by the path of its file and its name.
type Place = String;

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let listed = read_list(workspace.text(LIST).unwrap_or_default());
    let measured = too_long(workspace);
    let mut findings = Vec::new();
    for (place, lines) in &measured {
        match listed.get(place) {
            None => {
                let limit = limit(place);
                let message = format!("has {lines} lines, more than {limit}: divide it");
                findings.push(Finding::new(place, message));
            }
            Some(allowed) if lines > allowed => {
                let message = format!("has grown from {allowed} to {lines} lines: divide it");
                findings.push(Finding::new(place, message));
            }
            Some(_) => {}
        }
    }
    for (place, allowed) in &listed {
        let lines = measured.get(place).copied().unwrap_or(0);
        if lines + SLACK_LINES < *allowed || lines == 0 {
            let message = format!("`{place}` has shrunk from {allowed} lines: lower or remove its entry");
            findings.push(Finding::new(LIST, message));
        }
    }
    findings
}

/// Rewrites the list to the current lengths.
pub fn update(workspace: &Workspace) -> io::Result<()> {
    let mut list = LIST_OPENS.to_owned();
    for (place, lines) in too_long(workspace) {
        writeln!(list, "{lines} {place}").expect("writing into memory does not fail");
    }
    fs::write(workspace.root.join(LIST), list)
}

fn read_list(list: &str) -> BTreeMap<Place, usize> {
    list.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (lines, place) = line.split_once(' ')?;
            Some((place.to_owned(), lines.parse().ok()?))
        })
        .collect()
}

fn too_long(workspace: &Workspace) -> BTreeMap<Place, usize> {
    let mut lengths = BTreeMap::new();
    for file in workspace.rust_files() {
        lengths.insert(file.path.clone(), file.text.lines().count());
        for (name, lines) in functions(file) {
            let longest = lengths.entry(format!("{} {name}", file.path)).or_default();
            *longest = lines.max(*longest);
        }
    }
    lengths.retain(|place, lines| *lines > limit(place));
    lengths
}

fn limit(place: &str) -> usize {
    if place.contains(' ') { FUNCTION_LINES_MAX } else { FILE_LINES_MAX }
}

/// The functions of a file that have a body, with their lengths in lines.
fn functions(file: &SourceFile) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = file.text.lines().collect();
    lines
        .iter()
        .enumerate()
        .filter_map(|(start, line)| {
            let name = function_name(line)?;
            Some((name, function_length(&lines[start..])?))
        })
        .collect()
}

/// The name in `pub(crate) const fn name`, with any qualifiers before `fn`.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        if let Some(name) = rest.strip_prefix("fn ") {
            let end = name.find(|character: char| !(character.is_alphanumeric() || character == '_'))?;
            return Some(&name[..end]);
        }
        let (word, after) = rest.split_once(' ')?;
        let is_qualifier = matches!(word, "pub" | "const" | "async" | "unsafe" | "extern" | "\"C\"" | "default")
            || word.starts_with("pub(");
        if !is_qualifier {
            return None;
        }
        rest = after;
    }
}

/// The number of lines of the function that starts in the first of `lines`; `None` if it has no body.
fn function_length(lines: &[&str]) -> Option<usize> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let margin = indentation(lines[0]);
    let at_margin = lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty() && indentation(line) == margin);
    for (index, line) in at_margin {
        let ends_before_a_body = line.ends_with(';');
        let ends_body = line.trim() == "}" || line.ends_with("{}") || (index == 0 && line.ends_with('}'));
        if ends_body {
            return Some(index + 1);
        }
        if ends_before_a_body {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> Vec<(String, usize)> {
        let file = SourceFile { path: "lib.rs".to_owned(), text: text.to_owned() };
        functions(&file).into_iter().map(|(name, lines)| (name.to_owned(), lines)).collect()
    }

    #[test]
    fn measures_functions_of_every_shape() {
        let text = "\
pub fn short() {}

impl Thing {
    pub(crate) const fn one_line(self) -> u8 {
        1
    }

    async fn long_signature(
        self,
        other: u8,
    ) -> u8
    where
        Self: Sized,
    {
        if other > 0 {
            let fn_like = 1;
        }

        other
    }
}

trait Able {
    fn declared(&self);
    fn declared_at_length(
        &self,
    ) -> u8;
    fn given(&self) {
        self.declared();
    }
}

fn last<'a>(a: &'a str) -> &'a str {
    a
}
";
        let expected = [("short", 1), ("one_line", 3), ("long_signature", 13), ("given", 3), ("last", 3)];
        assert_eq!(measure(text), expected.map(|(name, lines)| (name.to_owned(), lines)));
    }

    #[test]
    fn does_not_take_prose_for_a_function() {
        assert_eq!(measure("// fn no() {\n// }\n/// the fn there {\nlet fn_no = 1;\n"), []);
    }
}
