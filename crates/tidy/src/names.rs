//! A module is named after what is in it.
//!
//! Modules with meaningless names accumulate unrelated code. A module `foo` is in `foo.rs` beside `foo/`, not in
//! `foo/mod.rs`, so that the tabs of an editor have different names.

use crate::{Finding, Workspace};

const SAY_NOTHING: [&str; 9] = ["util", "utils", "utilities", "helper", "helpers", "common", "misc", "stuff", "mod"];

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in workspace.rust_files() {
        for part in file.path.split('/') {
            let name = part.strip_suffix(".rs").unwrap_or(part);
            if SAY_NOTHING.contains(&name) {
                findings.push(Finding::new(&file.path, format!("`{part}` does not say what is in it")));
            }
        }
        for (index, line) in file.text.lines().enumerate() {
            if let Some(name) = inline_module(line).filter(|name| SAY_NOTHING.contains(name)) {
                let place = format!("{}:{}", file.path, index + 1);
                findings.push(Finding::new(place, format!("`mod {name}` does not say what is in it")));
            }
        }
    }
    findings
}

/// The name in `mod name {`. A module in a separate file is found by its path.
fn inline_module(line: &str) -> Option<&str> {
    let (declaration, _) = line.split_once(" {")?;
    let (visibility, name) = declaration.split_once("mod ")?;
    let visibility = visibility.trim();
    (visibility.is_empty() || visibility.starts_with("pub")).then_some(name)
}
