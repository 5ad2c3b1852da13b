//! Runs the binary `mario` as a user does.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

// Modules that exist only on Unix use links, file modes, signals, terminals or names of arbitrary bytes.
mod audit;
#[cfg(unix)]
mod bad_input;
mod baselines;
mod bench;
#[cfg(unix)]
mod book;
#[cfg(unix)]
mod dashboard;
mod explain;
mod help;
mod input;
#[cfg(unix)]
mod interrupted_studies;
#[cfg(target_os = "linux")]
mod live;
mod measures;
mod merge;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(unix)]
mod outputs;
mod policy;
#[cfg(unix)]
mod prompt;
mod readme;
mod reasons;
mod replacing;
mod report;
#[cfg(unix)]
mod resume;
#[cfg(unix)]
mod running;
mod scenario;
mod simulate;
mod snapshot;
mod streams;
mod study;
mod texts;
mod transcripts;
mod untrusted;
mod update;

use std::ffi::OsStr;
use std::process::{Command, Output};

/// A command that runs the binary, with variables for colour that do not depend on the user who runs the tests.
fn mario() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mario"));
    command.env_remove("NO_COLOR").env("TERM", "xterm");
    command
}

fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    mario().args(arguments).output().expect("the binary was built and runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
