//! Snapshots of stored runs, and their replay under other policies.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mario_frontend::Failure;
use mario_frontend::replay::{Replay, replay as replay_run};
use mario_frontend::snapshots::{Snapshot, of_run};
use mario_frontend::traces::{ReadProgress, Reading};
use mario_simulator::IfExists;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;
use crate::function::{Raised, policies};
use crate::progress::Progress;
use crate::run::interrupted;
use crate::scenario::Texts;

/// How often Python is polled for signals while a trace is read.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The text of a snapshot file, the lines that describe it, and whether it is exact.
type SnapshotOutput = (String, Vec<String>, bool);

/// The snapshot of a replay, its counts in JSON, and the table of them.
type ReplayOutput = (SnapshotOutput, String, String);

/// Polls Python for signals while a trace is read.
struct Polled<'a>(&'a Raised);

impl Reading for Polled<'_> {
    fn opened(&self, _: &'static str, _: u64) -> ReadProgress {
        let raised = self.0.clone();
        let mut next = Instant::now() + POLL_INTERVAL;
        Box::new(move |_| {
            if Instant::now() >= next {
                next = Instant::now() + POLL_INTERVAL;
                Python::attach(|py| py.check_signals().map_err(|error| raised.keep(error))).is_ok()
            } else {
                !raised.is_any()
            }
        })
    }
}

/// Takes a snapshot of a stored run.
#[pyfunction]
pub(crate) fn snapshot(py: Python<'_>, run: PathBuf, at: f64) -> PyResult<SnapshotOutput> {
    let raised = Raised::default();
    let taken = py.detach(|| of_run(&run, at, &Polled(&raised)));
    match (taken, raised.take()) {
        (_, Some(error)) => Err(error),
        (Err(failure), None) => Err(exception(py, &failure)),
        (Ok(snapshot), None) => Ok(output(snapshot)),
    }
}

/// Replays a stored run under other policies, and stores the new run in a directory.
#[pyfunction]
#[pyo3(signature = (run, until, out, *, choices, files, functions, force, progress))]
#[allow(clippy::too_many_arguments, reason = "each is a keyword of the Python function, which names it")]
pub(crate) fn replay(
    py: Python<'_>,
    run: PathBuf,
    until: f64,
    out: PathBuf,
    choices: Vec<String>,
    files: BTreeMap<String, String>,
    functions: Option<&Bound<'_, PyDict>>,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<ReplayOutput> {
    let raised = Raised::default();
    let functions = policies(functions, &raised)?;
    let mut observer = Progress::new(progress.as_ref(), 0.0, &raised);
    let done = py.detach(|| {
        let reading = Polled(&raised);
        let snapshot = of_run(&run, until, &reading)?;
        let wanted = Replay {
            recorded: &run,
            snapshot: &snapshot,
            from: until,
            policies: choices,
            files: Box::new(Texts(&files)),
            functions,
            out: Some(out),
            existing: if force { IfExists::Replace } else { IfExists::Refuse },
        };
        let replayed = replay_run(wanted, &mut observer, &reading)?;
        Ok((output(snapshot), replayed.json().to_string(), replayed.text()))
    });
    match (done, observer.into_error()) {
        (Err(failure @ Failure::Interrupted(_)), Some(error)) => Err(interrupted(py, &failure, error)),
        (_, Some(error)) => Err(error),
        (Err(failure), None) => Err(exception(py, &failure)),
        (Ok(told), None) => Ok(told),
    }
}

fn output(snapshot: Snapshot) -> SnapshotOutput {
    (snapshot.file(), snapshot.about, snapshot.is_exact)
}
