//! The tables of ARCHITECTURE.md name files that exist, and identifiers that occur in them.
//!
//! Every row of a table is checked on its own. Its paths are the words in backticks that begin with `crates/`,
//! `python/`, `docs/` or `fuzz/`, such as `crates/cli/src/lib.rs` or `crates/page/src/drawing`. Its identifiers are the
//! words in backticks after the first column that could be names in Rust or JavaScript, such as `Audit::finish`. The
//! last part of each identifier must occur in one of the files at these paths. A row without a path is not checked.

use crate::{Finding, SourceFile, Workspace};

const PAGE: &str = "ARCHITECTURE.md";
const DIRECTORIES: [&str; 4] = ["crates/", "python/", "docs/", "fuzz/"];

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let Some(page) = workspace.files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let rows = page.text.lines().enumerate().filter(|(_, line)| line.starts_with('|'));
    rows.flat_map(|(index, row)| check_row(workspace, index + 1, row)).collect()
}

fn check_row(workspace: &Workspace, line: usize, row: &str) -> Vec<Finding> {
    let finding = |message: String| Finding::new(format!("{PAGE}:{line}"), message);
    let mut findings = Vec::new();
    let mut files = Vec::new();
    let mut has_path = false;
    for path in in_backticks(row).filter(|word| DIRECTORIES.iter().any(|directory| word.starts_with(directory))) {
        has_path = true;
        let found = files_at(workspace, path);
        if found.is_empty() {
            findings.push(finding(format!("names `{path}`, and there is no such file: correct the row")));
        }
        files.extend(found);
    }
    // If a path is wrong, the identifiers in the file that was meant would be reported, too.
    if !has_path || !findings.is_empty() {
        return findings;
    }
    let description = row[1..].split_once('|').map_or("", |(_, rest)| rest);
    for name in in_backticks(description).filter(|word| is_identifier(word)) {
        let last = name.rsplit("::").next().unwrap_or(name);
        if !files.iter().any(|file| has_word(&file.text, last)) {
            findings.push(finding(format!("names `{name}`, which is in none of the row's files: correct the row")));
        }
    }
    findings
}

/// The files at a path: the file itself, or all files below the directory.
fn files_at<'a>(workspace: &'a Workspace, path: &str) -> Vec<&'a SourceFile> {
    let is_below = |file: &SourceFile| {
        file.path.strip_prefix(path.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    workspace.files.iter().filter(|file| is_below(file)).collect()
}

/// The words between backticks in a line.
fn in_backticks(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn is_identifier(word: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part.chars().all(is_in_identifiers)
    };
    word.split("::").all(is_part)
}

/// Whether a text has a word that is not only a part of a longer identifier.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(is_in_identifiers) && !after.is_some_and(is_in_identifiers)
    })
}

fn is_in_identifiers(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}
