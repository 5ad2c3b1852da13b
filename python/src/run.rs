//! One run, stored in a directory as `mario run` stores it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mario_diagnostics::Diagnostic;
use mario_domain::Time;
use mario_frontend::Failure;
use mario_frontend::checkpoint_interval::CheckpointInterval;
use mario_frontend::drive::{self, Finished};
use mario_frontend::runs::{differs, keep_measures, not_kept, start_with};
use mario_frontend::scenarios::Choices;
use mario_frontend::warnings::{notes, warnings};
use mario_policy::PolicyFunctions;
use mario_scenario::{Fidelity, Resolved, Scenario};
use mario_simulator::{Checkpoint, Detail, IfExists, OutputOptions, Reuse, RunDirectory, RunOptions, verify};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{exception, warn};
use crate::function::{Raised, policies};
use crate::progress::Progress;
use crate::scenario::ScenarioText;

/// The options of a run, and how it is stored.
struct Options {
    out: PathBuf,
    keep: OutputOptions,
    existing: IfExists,
    run: RunOptions,
    every: CheckpointInterval,
    regret: bool,
}

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
    let options = Options {
        out,
        keep: OutputOptions { detail: detail(trace)?, messages },
        existing: if force { IfExists::Replace } else { IfExists::Refuse },
        run: RunOptions { threads, reuse: if reuse { Reuse::Proposals } else { Reuse::Nothing } },
        every: every(checkpoint_every)?,
        regret,
    };
    let choices = Choices { overrides, policies: choices, seed, budget, attachments };
    let mut observer = Progress::new(progress.as_ref(), 0.0, &raised);
    let done = py.detach(|| {
        let resolved = scenario.resolve(&choices, &files)?;
        let finished = simulate(&resolved, &options, &functions, &mut observer)?;
        let warnings = warnings(&finished, &resolved.scenario, &options.out);
        Ok((notes(&resolved), warnings))
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
    let done = py.detach(|| {
        let go_on = || {
            let checkpoint = drive::open(&directory)?;
            let scenario = checkpoint.scenario();
            let resumed = checkpoint.resume(threads);
            let (simulation, kept) = resumed.map_err(|error| drive::not_resumed(&error))?;
            observer.total(scenario);
            let finished = drive::finish(simulation, kept, scenario, (&directory, every), &mut observer)?;
            measure(&directory, scenario)?;
            Ok(warnings(&finished, scenario, &directory))
        };
        let resumed = Checkpoint::guarded(&directory, go_on);
        Ok((Vec::new(), resumed.map_err(|error| drive::not_resumed(&error))??))
    });
    conclude(py, done, observer)
}

fn simulate(
    resolved: &Resolved,
    options: &Options,
    functions: &PolicyFunctions,
    observer: &mut Progress<'_>,
) -> Result<Finished, Failure> {
    let scenario = &resolved.scenario;
    if options.keep.messages && scenario.network.fidelity == Fidelity::Flow {
        return Err(Failure::input(
            Diagnostic::error("there are no messages to keep: `network.fidelity` is `flow`")
                .hint("omit --messages, or add --set network.fidelity=messages"),
        ));
    }
    // Before the directory is created: a scenario that cannot be run must neither leave a directory nor replace one.
    let simulation = start_with(resolved, options.run, functions)?;
    verify(scenario).map_err(|error| differs(Path::new(&scenario.name), &error))?;
    let directory = &options.out;
    let mut kept =
        RunDirectory::create(directory, resolved, options.keep, options.existing).map_err(|error| not_kept(&error))?;
    if options.regret {
        kept = kept.with_regret(scenario);
    }
    observer.total(scenario);
    let finished = drive::finish(simulation, kept, scenario, (directory, options.every), observer)?;
    measure(directory, scenario)?;
    Ok(finished)
}

/// Stores the measures if the scenario enables them.
fn measure(directory: &Path, scenario: &Scenario) -> Result<(), Failure> {
    if scenario.is_measured() {
        keep_measures(directory)?;
    }
    Ok(())
}

/// Converts the outcome of a run: issues its warnings, and returns its notes. An exception of a Python function, of a
/// signal handler or of a warning takes precedence over the outcome, except that [`interrupted`] may replace it.
fn conclude(
    py: Python<'_>,
    done: Result<(Vec<String>, Vec<Diagnostic>), Failure>,
    observer: Progress<'_>,
) -> PyResult<Vec<String>> {
    match (done, observer.into_error()) {
        (Err(failure @ Failure::Interrupted(_)), Some(error)) => Err(interrupted(py, &failure, error)),
        (_, Some(error)) => Err(error),
        (Err(failure), None) => Err(exception(py, &failure)),
        (Ok((notes, warnings)), None) => warn(py, &warnings).map(|()| notes),
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

impl Progress<'_> {
    fn total(&mut self, scenario: &Scenario) {
        self.set_total((scenario.end() - Time::ZERO).units());
    }
}
