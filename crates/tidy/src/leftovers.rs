//! The workspace has no absolute paths of a developer's machine, and its Rust has no marks of unfinished work.

use crate::{Finding, SourceFile, Workspace};

// Each path is split in two, so that this file does not break its own rule.
const MACHINE_PATHS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/tm", "p/"),
    concat!("/Use", "rs/"),
    concat!("\\Use", "rs\\"),
];
const UNFINISHED: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &workspace.files {
        findings.extend(lines_with(file, &MACHINE_PATHS, "is a path of one machine"));
        if file.is_rust() {
            findings.extend(lines_with(file, &UNFINISHED, "marks unfinished work: finish it"));
        }
    }
    findings
}

fn lines_with(file: &SourceFile, patterns: &[&str], message: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for pattern in patterns {
            if line.match_indices(pattern).any(|(start, _)| stands_alone(line, start, pattern)) {
                let place = format!("{}:{}", file.path, index + 1);
                findings.push(Finding::new(place, format!("`{pattern}` {message}")));
            }
        }
    }
    findings
}

/// Whether the match at `start` is not part of a longer word, such as a web address or an identifier: no letter, digit,
/// `_`, `-` or `.` precedes it and, unless the pattern is a path, none follows it.
fn stands_alone(line: &str, start: usize, pattern: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    let before = line[..start].chars().next_back();
    let after = line[start + pattern.len()..].chars().next();
    let is_path = pattern.ends_with(['/', '\\']);
    !before.is_some_and(is_word) && (is_path || !after.is_some_and(is_word))
}
