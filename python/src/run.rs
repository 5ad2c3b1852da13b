//! One run, stored in a directory as `mario run` stores it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mario_frontend as frontend;
use mario_frontend::Failure;
use mario_frontend::checkpoint_interval::CheckpointInterval;
use mario_frontend::run::{Finished, NewRun, Request, ResumedRun};
use mario_frontend::scenarios::Choices;
use mario_simulator::{Detail, IfExists, OutputOptions, Reuse, RunOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{exception, warn};
use crate::function::{Raised, policies};
use crate::progress::Progress;
use crate::scenario::{ScenarioText, Texts};

/// Runs a scenario and stores the run in a directory. Returns notes for the user.
#[pyfunction]
#[pyo3(signature = (scenario, out, *, overrides, choices, seed, budget, attachments, files, functions, force, trace, messages, threads, reuse, regret, checkpoint_every, progress))]
#[allow(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "each is a keyword of the Python function, which names it"
)]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &ScenarioText,
    out: PathBuf,
    overrides: Vec<String>,
    choices: Vec<String>,
    seed: Option<u64>,
    budget: Option<u64>,
    attachments: Option<PathBuf>,
    files: BTreeMap<String, String>,
    functions: Option<&Bound<'_, PyDict>>,
    force: bool,
    trace: &str,
    messages: bool,
    threads: usize,
    reuse: bool,
    regret: bool,
    checkpoint_every: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let raised = Raised::default();
    let functions = policies(functions, &raised)?;
    let keep = OutputOptions { detail: detail(trace)?, messages };
    let every = every(checkpoint_every)?;
    let choices = Choices { overrides, policies: choices, seed, budget, attachments };
    let mut observer = Progress::new(progress.as_ref(), 0.0, &raised);
    let done = py.detach(|| {
        let request = NewRun {
            document: scenario.chosen(&choices),
            files: Box::new(Texts(&files)),
            functions,
            options: RunOptions { threads, reuse: if reuse { Reuse::Proposals } else { Reuse::Nothing } },
            keep,
            regret,
            out: Some(out),
            existing: if force { IfExists::Replace } else { IfExists::Refuse },
            every,
        };
        frontend::run(Request::New(Box::new(request)), &mut observer)
    });
    conclude(py, done, observer)
}

/// Resumes the run in a directory from its last checkpoint. Returns an empty list instead of the notes for the user,
/// which only the start of a run returns.
#[pyfunction]
#[pyo3(signature = (directory, *, threads, checkpoint_every, progress))]
pub(crate) fn resume(
    py: Python<'_>,
    directory: PathBuf,
    threads: usize,
    checkpoint_every: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<String>> {
    let raised = Raised::default();
    let every = every(checkpoint_every)?;
    let mut observer = Progress::new(progress.as_ref(), 0.0, &raised);
    let resumed = ResumedRun { directory, threads, every };
    let done = py.detach(|| frontend::run(Request::Resume(resumed), &mut observer));
    conclude(py, done, observer)
}

/// Converts the outcome of a run: issues its warnings, and returns its notes. An exception of a Python function, of a
/// signal handler or of a warning takes precedence over the outcome, except that [`interrupted`] may replace it.
fn conclude(py: Python<'_>, done: Result<Finished, Failure>, mut observer: Progress<'_>) -> PyResult<Vec<String>> {
    let notes = observer.take_notes();
    match (done, observer.into_error()) {
        (Err(failure @ Failure::Interrupted(_)), Some(error)) => Err(interrupted(py, &failure, error)),
        (_, Some(error)) => Err(error),
        (Err(failure), None) => Err(exception(py, &failure)),
        (Ok(finished), None) => warn(py, &finished.warnings).map(|()| notes),
    }
}

/// Turns a `KeyboardInterrupt` into the exception for `failure`, which says how to resume. Every other exception is
/// returned unchanged.
pub(crate) fn interrupted(py: Python<'_>, failure: &Failure, error: PyErr) -> PyErr {
    if !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
        return error;
    }
    let raised = exception(py, failure);
    raised.set_cause(py, Some(error));
    raised
}

fn detail(trace: &str) -> PyResult<Detail> {
    match trace {
        "full" => Ok(Detail::Full),
        "operations" => Ok(Detail::Operations),
        "summary" => Ok(Detail::Summary),
        other => {
            let message = format!("trace is `full`, `operations` or `summary`, and not `{other}`");
            Err(PyValueError::new_err(message))
        }
    }
}

fn every(text: &str) -> PyResult<CheckpointInterval> {
    text.parse().map_err(|wanted| PyValueError::new_err(format!("checkpoint_every is {wanted}, and not `{text}`")))
}
