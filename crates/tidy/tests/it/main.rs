//! The workspace is tidy, and each rule that says so can fail.

mod advisories;
mod fixture;
mod rules;
mod this_workspace;
