//! Signals to `mario sweep`, `mario compare` and `mario reproduce` in the middle of a run that would take very long.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mario_testing::empty_directory;
use nix::sys::signal::Signal;

use crate::running::Running;
use crate::{run, stderr};

/// A duration in time units; a run of this duration takes minutes.
const ENDLESS: &str = "100000000";

fn place(name: &str) -> PathBuf {
    empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("interrupted/{name}"))
}

/// The number of complete lines in `runs.jsonl`.
fn stored_runs(study: &Path) -> usize {
    fs::read_to_string(study.join("runs.jsonl")).map_or(0, |text| text.matches('\n').count())
}

/// The directories of runs in `runs`, complete or not.
fn kept_runs(study: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(study.join("runs")).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Sends SIGINT, and asserts that the process soon ends with exit code 130. Returns its message.
fn interrupt(mut running: Running) -> String {
    let sent = Instant::now();
    running.signal(Signal::SIGINT);
    let (code, message) = running.end();
    assert_eq!(code, Some(130), "{message}");
    // Stopping takes about a tenth of a second, and longer on a busy machine. The run itself would take minutes.
    assert!(sent.elapsed() < Duration::from_secs(20), "{:?}", sent.elapsed());
    message
}

#[test]
fn an_interrupted_sweep_keeps_complete_runs_and_no_other() {
    let study = place("sweep");
    let shown = study.to_str().expect("a name");
    let sweep = |durations: &str| {
        let key = format!("duration={durations}");
        let fixed = ["sweep", "paper", "--policy", "cells", "--seed", "1", "--seeds", "1", "--keep-runs", "1", "--key"];
        fixed
            .iter()
            .map(|word| (*word).to_owned())
            .chain([key, "--out".to_owned(), shown.to_owned()])
            .collect::<Vec<_>>()
    };
    let both = sweep(&format!("3000,{ENDLESS}"));
    let mut running = Running::start(&both.iter().map(String::as_str).collect::<Vec<_>>());
    let is_partial = |run: &PathBuf| run.join("PARTIAL").exists();
    let size = |run: &PathBuf| fs::metadata(run.join("trace.jsonl")).map_or(0, |file| file.len());
    running.until(|| {
        stored_runs(&study) == 1 && kept_runs(&study).iter().any(|run| is_partial(run) && size(run) > 500_000)
    });
    let message = interrupt(running);
    assert!(message.contains("the runs were interrupted"), "{message}");
    assert!(message.contains("the same command makes the runs that are missing"), "{message}");
    assert_eq!(stored_runs(&study), 1, "the run that was stopped is no result");
    let (stopped, complete): (Vec<PathBuf>, Vec<PathBuf>) = kept_runs(&study).into_iter().partition(is_partial);
    assert_eq!((stopped.len(), complete.len()), (1, 1), "the directory of the stopped run is marked");
    assert!(complete[0].join("summary.json").exists() && !stopped[0].join("summary.json").exists());
    let again = run(sweep("3000"));
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert!(stderr(&again).contains("0 runs made, 1 in all"), "{}", stderr(&again));
}

#[test]
fn an_interrupted_comparison_ends_at_once_whatever_its_runs_store() {
    let set = format!("duration={ENDLESS}");
    // The cases: without a trace, with a trace in memory, and with a program that computes a metric.
    let short = ["--set", "duration=3000", "--metric", "slow=sh -c 'exec sleep 600' sh", "--metric-timeout", "600"];
    let cases: [(&str, &[&str]); 3] = [
        ("counted", &["--set", &set]),
        ("measured", &["--set", &set, "--set", "measures.applications=true"]),
        ("metric", &short),
    ];
    for (name, options) in cases {
        let study = place(name);
        let fixed = ["compare", "paper", "--policy", "cells", "--policy", "never-move", "--seeds", "2", "--out"];
        let arguments: Vec<&str> =
            fixed.iter().chain(&[study.to_str().expect("a name")]).chain(options).copied().collect();
        let mut running = Running::start(&arguments);
        running.until(|| study.join("runs.jsonl").exists());
        // Long enough for the runs to begin. If they have not begun, the test checks less, but does not fail.
        std::thread::sleep(Duration::from_millis(500));
        let message = interrupt(running);
        assert!(message.contains("the runs were interrupted"), "{name}: {message}");
        assert_eq!(stored_runs(&study), 0, "{name}");
    }
}

#[test]
fn an_interrupted_reproduction_ends_at_once() {
    let directory = place("reproduction");
    let set = format!("duration={ENDLESS}");
    let mut running = Running::start(&["reproduce", "--set", &set, "--out", directory.to_str().expect("a name")]);
    let first = directory.join("policy-1");
    running.until(|| fs::metadata(first.join("trace.jsonl")).is_ok_and(|file| file.len() > 500_000));
    let message = interrupt(running);
    assert!(message.contains("the experiments were interrupted"), "{message}");
    assert!(first.join("PARTIAL").exists() && !directory.join("results.json").exists());
}
