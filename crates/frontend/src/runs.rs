//! Starts simulations, stores the optional measures of runs, and reports why a run cannot start, continue or be stored.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use mario_experiments::figures::{Measurements, from_trace};
use mario_experiments::metric::{MetricCause, MetricError};
use mario_experiments::runs::RunError;
use mario_policy::PolicyFunctions;
use mario_scenario::Resolved;
use mario_simulator::{FailedAcceptance, OutputError, PastError, ResumeError, RunOptions, Simulation, SimulationError};

use crate::failure::Failure;
use crate::hints::{Diagnostic, Hint};
use crate::scenarios::{failure, located};
use crate::studies::write_results;
use crate::traces::cannot_read;

/// The failure for a run that cannot be stored, with a remedy.
pub fn not_kept(error: &OutputError) -> Failure {
    match error {
        OutputError::Exists(_) => {
            Failure::input(Diagnostic::error(format!("cannot keep the run: {error}")).hint(Hint::Replace))
        }
        OutputError::Busy(_) => Failure::input(
            Diagnostic::error(format!("cannot keep the run: {error}"))
                .hint("wait until it is complete, or name another directory"),
        ),
        OutputError::Write(_, cause) => Failure::file(error.to_string(), cause),
    }
}

/// Starts the simulation of a scenario. If an instance of the initial deployment is inhibited, the failure has its
/// position in the scenario.
pub fn start(resolved: &Resolved, options: RunOptions) -> Result<Simulation<'_>, Failure> {
    start_with(resolved, options, &PolicyFunctions::default())
}

/// Like [`start`], but with host functions that decide for the policies whose texts name them.
pub fn start_with<'a>(
    resolved: &'a Resolved,
    options: RunOptions,
    functions: &PolicyFunctions,
) -> Result<Simulation<'a>, Failure> {
    Simulation::with_functions(&resolved.scenario, options, functions).map_err(|error| {
        let place = match &error {
            SimulationError::NoRoom { deploy, .. } => resolved.deploy_places.get(*deploy),
            _ => None,
        };
        let mut failure = not_runnable(&error);
        if let (Failure::Input(diagnostics), Some(place)) = (&mut failure, place) {
            for diagnostic in diagnostics {
                *diagnostic = located(diagnostic.clone(), place);
            }
        }
        failure
    })
}

/// The failure for a simulation that cannot start. Other errors in a scenario are found when it is resolved.
pub fn not_runnable(error: &SimulationError) -> Failure {
    let mut diagnostic = Diagnostic::error(error.to_string());
    match error {
        SimulationError::TooLarge(_) => diagnostic = diagnostic.hint("choose `central-greedy`, or a smaller world"),
        SimulationError::NoRoom { failure: Some(failure), .. } => {
            diagnostic.causes.push(acceptance_cause(failure));
            diagnostic.hints.extend(failure.hint.clone().map(Hint::Text));
        }
        SimulationError::NoRoom { failure: None, .. } => {
            diagnostic = diagnostic.hint("deploy it elsewhere, or later, or have the node take it");
        }
        SimulationError::NoFunction { .. } => {
            diagnostic = diagnostic.hint(Hint::PassFunction);
        }
        SimulationError::Policy(_) | SimulationError::Acceptance(_) => {}
    }
    Failure::input(match error.source() {
        Some(cause) => diagnostic.caused_by(cause),
        None => diagnostic,
    })
}

/// The failure for a run that cannot be resumed, with a remedy.
pub fn not_resumed(error: &ResumeError) -> Failure {
    let hint = match error {
        ResumeError::NoRun(_) => Hint::NameRun,
        ResumeError::Complete(path) => Hint::ShowRun(path.clone()),
        ResumeError::Busy(_) => "wait for the process that runs it, or interrupt that first".into(),
        ResumeError::NoCheckpoint(_) => Hint::NoCheckpoint,
        ResumeError::Damaged(_) | ResumeError::Altered { .. } => Hint::RestoreFile,
        ResumeError::Version { .. } => Hint::SameVersion,
        ResumeError::Foreign { .. } => Hint::SameProgram,
        ResumeError::Short { path, .. } => {
            let compressed = path.with_added_extension("gz");
            if compressed.exists() {
                format!("decompress it first: gunzip {}", compressed.display()).into()
            } else {
                Hint::RestoreFile
            }
        }
        ResumeError::File(path, cause) if cause.kind() == io::ErrorKind::NotFound => {
            let diagnostic = Diagnostic::error(format!("cannot resume the run: `{}` is gone", path.display()));
            return Failure::input(diagnostic.hint(Hint::RestoreFile));
        }
        ResumeError::File(_, cause) => return Failure::file(format!("cannot resume the run: {error}"), cause),
        ResumeError::Contradictory { .. } => {
            let bug = "if the file was not changed, this is a bug in mario: please report it with the directory";
            let diagnostic = Diagnostic::error(format!("cannot resume the run: {error}"));
            return Failure::input(diagnostic.hint(Hint::RestoreFile).hint(bug));
        }
        ResumeError::Simulation(error) => return not_runnable(error),
    };
    Failure::input(Diagnostic::error(format!("cannot resume the run: {error}")).hint(hint))
}

/// The failure for a recorded past that cannot be read, or whose simulation cannot start or does not reproduce it.
pub fn differs(path: &Path, error: &PastError) -> Failure {
    match error {
        PastError::Simulation(error) => not_runnable(error),
        PastError::Read(error) => cannot_read(path, error),
        PastError::Differs { .. } | PastError::Changed { .. } => {
            let title = format!("`{}` does not lead to what was recorded", path.display());
            let hint = "use the version of mario that recorded it, and leave what came before the moment as it was";
            Failure::input(Diagnostic::error(title).caused_by(error).hint(hint))
        }
    }
}

/// The error of an acceptance policy, with its position if known, as a cause in a diagnostic.
pub fn acceptance_cause(failed: &FailedAcceptance) -> String {
    let FailedAcceptance { node, policy, request, cause, place, .. } = failed;
    let place = place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
    format!("policy `{policy}` of node {node}, asked about {request}: {cause}{place}")
}

/// Turns the error of a run into a failure.
pub fn run_failure(error: &RunError) -> Failure {
    match error {
        RunError::Scenario(error) => failure(error),
        RunError::Simulation(error) => not_runnable(error),
        RunError::Past(error) => differs(Path::new("the scenario"), error),
        RunError::Metric(error) => metric_failure(error),
        RunError::Stopped => Failure::Interrupted(vec![Diagnostic::error(error.to_string())]),
    }
}

fn metric_failure(error: &MetricError) -> Failure {
    let hint = match &error.cause {
        MetricCause::Start(..) => Hint::MetricProgram,
        MetricCause::Timeout(_) => Hint::MetricTime,
        MetricCause::Stopped => Hint::RepeatMetric,
        MetricCause::Failed(..) => "the program gets the directory of a run as its last argument".into(),
        MetricCause::NotANumber(_) => "let the program print one finite number and nothing else".into(),
        MetricCause::Function(_) => "the function gets the run as its argument, and returns one number".into(),
        MetricCause::Keep(_) => "see that there is room for the directory of a run".into(),
    };
    Failure::input(Diagnostic::error(error.to_string()).caused_by(&error.cause).hint(hint))
}

/// The file of the optional measures.
const MEASURES: &str = "measures.json";

/// Computes the optional measures from the trace in the directory of a run, and stores them there as `measures.json`.
pub fn keep_measures(directory: &Path) -> Result<Measurements, Failure> {
    let path = directory.join("trace.jsonl");
    let file = File::open(&path).map_err(|error| Failure::file(format!("cannot read `{}`", path.display()), &error))?;
    let read = from_trace(BufReader::new(file)).map_err(|error| {
        let diagnostic = Diagnostic::error(format!("cannot measure the run in `{}`", directory.display()));
        Failure::input(diagnostic.caused_by(&error).hint(Hint::Audit))
    })?;
    let json = format!("{:#}\n", serde_json::json!(read.measured));
    write_results(directory, MEASURES, &json)?;
    Ok(read.measured)
}
