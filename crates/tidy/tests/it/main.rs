//! Tests that the workspace follows the rules, and that the rules report violations.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod advisories;
mod determinism;
mod fixture;
mod rules;
mod this_workspace;
