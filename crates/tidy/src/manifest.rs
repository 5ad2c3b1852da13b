//! Every crate uses the lints of the workspace.

use crate::{Finding, Workspace};

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace
        .members
        .iter()
        .map(|member| member.manifest.as_str())
        .filter(|path| !workspace.text(path).is_some_and(inherits_lints))
        .map(|path| Finding::new(path, "does not say `[lints]` `workspace = true`"))
        .collect()
}

fn inherits_lints(manifest: &str) -> bool {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[lints]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .any(|line| line.trim() == "workspace = true")
}
