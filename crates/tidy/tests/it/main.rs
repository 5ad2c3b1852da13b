//! The workspace is tidy, and each rule that says so can fail.

mod fixture;
mod rules;
mod this_workspace;
