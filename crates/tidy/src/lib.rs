//! Checks that the workspace follows the rules in its documents.
//!
//! Start at [`Workspace::read`], which reads a workspace once, and [`check`], which applies the rules to it. Each rule
//! is a module; in most of them, the function `check` returns [`Finding`]s. [`licences`] and [`duplicates`] need more
//! than the text of the workspace, so tests apply them separately.
//!
//! | module | rule |
//! |---|---|
//! | [`architecture`] | crates and their dependencies match ARCHITECTURE.md |
//! | [`map`] | files and identifiers in the tables of ARCHITECTURE.md exist |
//! | [`determinism`] | deterministic crates are subject to the bans of `clippy.toml` |
//! | [`manifest`] | every crate uses the lints of the workspace |
//! | [`opening`] | every crate opens with documentation |
//! | [`length`] | files and functions are short, or at least do not grow |
//! | [`names`] | a module is named after what is in it; retired names of types do not return |
//! | [`leftovers`] | no paths of a developer's machine, no marks of unfinished work |
//! | [`words`] | retired phrases stay out of comments, pages and messages |
//! | [`palette`] | colours for light and dark are written down once |
//! | [`licences`], [`duplicates`] | dependencies have accepted licences and occur in one version |
//! | [`advisories`] | every locked package was looked up, and none has a known defect that is not accepted |
//!
//! The rules are tests, not a separate tool, because every developer runs the tests before sharing a change.
//!
//! **Invariant:** this crate reads only the workspace and the output of `cargo metadata`. It writes only the
//! lists of [`length`] and [`words`], on request.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "this crate may use files, clocks and the environment")]

pub mod advisories;
pub mod architecture;
pub mod determinism;
pub mod duplicates;
pub mod leftovers;
pub mod length;
pub mod licences;
pub mod manifest;
pub mod map;
pub mod names;
pub mod opening;
pub mod palette;
pub mod words;

mod finding;
mod metadata;
mod workspace;

pub use finding::Finding;
pub use metadata::{Package, packages};
pub use workspace::{Member, SourceFile, Workspace};

/// Applies every rule that needs only the text of the workspace.
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    [
        architecture::check(workspace),
        map::check(workspace),
        determinism::check(workspace),
        manifest::check(workspace),
        opening::check(workspace),
        length::check(workspace),
        names::check(workspace),
        leftovers::check(workspace),
        palette::check(workspace),
        words::check(workspace),
        advisories::check(workspace),
    ]
    .concat()
}
