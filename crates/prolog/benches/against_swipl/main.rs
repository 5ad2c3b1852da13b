//! Runs the same programs in our engine, in process, and in SWI-Prolog.
//!
//! `cargo bench -p mario-prolog --bench against_swipl [-- classics|decisions]` prints CPU times and ratios. A ratio
//! above 1 means that our engine needs less CPU time by that factor. SWI-Prolog runs in a separate process, which
//! measures its own time, without start-up, loading and warm-up.
//!
//! `-- count N` makes N passes over the decisions and nothing else. With valgrind, the difference between two such runs
//! is the instructions of a decision: `valgrind --tool=callgrind TARGET count 11`, then `count 1`.

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

mod classics;
mod cpu;
mod decisions;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The workspace's `benches` directory.
fn benches() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../benches")
}

/// The output of a SWI-Prolog script, as JSON; `None` if the script fails or its output is not JSON.
fn swipl(script: &str, arguments: &[&str]) -> Option<serde_json::Value> {
    let output = Command::new("swipl").arg(benches().join("swipl").join(script)).arg("--").args(arguments).output();
    match output {
        Ok(output) if output.status.success() => serde_json::from_slice(&output.stdout).ok(),
        _ => None,
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if let [part, passes] = &arguments[..]
        && let ("count", Ok(passes)) = (part.as_str(), passes.parse())
    {
        decisions::count(passes);
        return ExitCode::SUCCESS;
    }
    if Command::new("swipl").arg("--version").output().is_err() {
        eprintln!("swipl is not installed: there is nothing to compare with");
        return ExitCode::from(3);
    }
    // Cargo passes `--bench`. An argument without a leading `-` names a part to run.
    let runs = |part: &str| arguments.is_empty() || arguments.iter().any(|name| name == part);
    if runs("classics") {
        classics::run();
    }
    if runs("decisions") {
        decisions::run();
    }
    ExitCode::SUCCESS
}
