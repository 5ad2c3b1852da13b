//! Our engine and SWI-Prolog in process, on the same programs, in one run.
//!
//! `cargo bench -p mario-prolog --bench against_swipl [-- classics|decisions]` prints CPU times and
//! ratios; a ratio above 1 says how many times less CPU ours needs. SWI-Prolog runs in a process of its
//! own for as long as it takes to start, load and warm up; what is measured is inside of it.

mod classics;
mod cpu;
mod decisions;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The workspace's `benches` directory.
fn benches() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches")
}

/// What a SWI-Prolog script prints, as JSON.
fn swipl(script: &str, arguments: &[&str]) -> Option<serde_json::Value> {
    let output = Command::new("swipl").arg(benches().join("swipl").join(script)).arg("--").args(arguments).output();
    match output {
        Ok(output) if output.status.success() => serde_json::from_slice(&output.stdout).ok(),
        _ => None,
    }
}

fn main() -> ExitCode {
    if Command::new("swipl").arg("--version").output().is_err() {
        eprintln!("swipl is not installed: there is nothing to compare with");
        return ExitCode::from(3);
    }
    // Cargo passes `--bench`; anything else names a part.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runs = |part: &str| wanted.is_empty() || wanted.iter().any(|name| name == part);
    if runs("classics") {
        classics::run();
    }
    if runs("decisions") {
        decisions::run();
    }
    ExitCode::SUCCESS
}
