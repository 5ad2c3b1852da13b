//! Every library and binary opens with documentation, which should say what it does, where to start reading, and what
//! it never does. The rule checks only that it is there.

use crate::{Finding, Workspace};

/// Applies the rule.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let openings = workspace.members.iter().flat_map(|member| &member.openings);
    openings
        .filter(|path| !workspace.text(path).is_some_and(|text| text.starts_with("//! ")))
        .map(|path| Finding::new(path, "does not open with documentation (`//! `)"))
        .collect()
}
