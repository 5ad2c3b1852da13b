//! Runs a simulation to its end, with progress, checkpoints and interruption.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use mario_diagnostics::Diagnostic;
use mario_domain::Time;
use mario_scenario::Scenario;
use mario_simulator::{Checkpoint, OutputError, ResumeError, RunDirectory, RunStatistics, Simulation, Summary};

use crate::checkpoint_interval::{CheckpointInterval, CheckpointSchedule};
use crate::failure::Failure;
use crate::runs::{not_kept, not_runnable};

/// The maximum wall-clock time between two reports of progress, approximately.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A run that is complete.
pub struct Finished {
    /// The figures of the run.
    pub summary: Summary,
    /// The statistics of the simulation, such as the numbers of evaluations and of failures.
    pub statistics: RunStatistics,
}

/// Observes a run: progress, checkpoints and requests to stop.
pub trait Observer {
    /// Whether the run should stop now. Called often, between events.
    fn wants_to_stop(&mut self) -> bool;

    /// Called at each report of progress: the run has reached the simulation time `now`, and `emitted` client requests
    /// were sent so far.
    fn at(&mut self, now: Time, emitted: u64);

    /// Called when a checkpoint was written at the simulation time `now`, with its size and the wall-clock time that
    /// the write took. Not called for the checkpoint on interruption.
    fn saved(&mut self, now: Time, bytes: u64, took: Duration);

    /// Called when a checkpoint could not be written, and the run continues. If the checkpoint on interruption cannot
    /// be written, [`finish`] fails instead.
    fn not_saved(&mut self, warning: Diagnostic);
}

/// Runs a simulation to its end, with checkpoints in `directory` at the interval `every`. If the observer stops it,
/// writes a checkpoint and returns [`Failure::Interrupted`]. Ends early with a failure if recording the run fails.
pub fn finish(
    mut simulation: Simulation<'_>,
    mut kept: RunDirectory<'_>,
    scenario: &Scenario,
    (directory, every): (&Path, CheckpointInterval),
    observer: &mut dyn Observer,
) -> Result<Finished, Failure> {
    let mut schedule =
        CheckpointSchedule::new(every, Checkpoint::is_in(directory), scenario.management_period, simulation.now());
    while !simulation.is_over() && !kept.is_broken() {
        let next_poll = Instant::now() + POLL_INTERVAL;
        let mut stops = false;
        let reached_until = simulation.run_until_pause(schedule.until(), kept.recorder(), || {
            stops = observer.wants_to_stop();
            stops || Instant::now() >= next_poll
        });
        if simulation.is_over() || kept.is_broken() {
            break;
        }
        if stops || observer.wants_to_stop() {
            kept.save(&simulation).map_err(|error| not_kept(&error))?;
            return Err(interrupted(simulation.now(), directory));
        }
        if schedule.is_due(reached_until) {
            let begun = Instant::now();
            match kept.save(&simulation) {
                Ok(bytes) => observer.saved(simulation.now(), bytes, begun.elapsed()),
                // If there is an earlier checkpoint, it is kept, and the run itself may still succeed.
                Err(error) => observer.not_saved(not_saved(&error)),
            }
            schedule.saved(simulation.now());
        }
        observer.at(simulation.now(), simulation.statistics().emitted);
    }
    let statistics: RunStatistics = simulation.statistics();
    drop(simulation);
    let summary = kept.complete(scenario, statistics.clone()).map_err(|error| not_kept(&error))?;
    Ok(Finished { summary, statistics })
}

/// Opens the last checkpoint of the run in a directory.
pub fn open(directory: &Path) -> Result<Checkpoint, Failure> {
    Checkpoint::open(directory).map_err(|error| not_resumed(&error))
}

fn interrupted(time: Time, directory: &Path) -> Failure {
    let diagnostic = Diagnostic::error(format!("interrupted at time {time}; the run is saved"))
        .hint(format!("resume it: {}", resuming(directory)))
        .hint(format!("`{}` holds what happened until then, and is marked as partial", directory.display()));
    Failure::Interrupted(vec![diagnostic])
}

/// The command that resumes the run in a directory, quoted for a shell.
pub fn resuming(directory: &Path) -> String {
    format!("mario run --resume {}", quoted(directory))
}

/// A path quoted for a shell.
pub fn quoted(path: &Path) -> String {
    let shown = path.display().to_string();
    let is_plain = shown.chars().all(|letter| letter.is_alphanumeric() || "/._-+~".contains(letter));
    if is_plain { shown } else { format!("'{}'", shown.replace('\'', "'\\''")) }
}

fn not_saved(error: &OutputError) -> Diagnostic {
    let diagnostic = Diagnostic::warning("a checkpoint could not be written; the run continues");
    match error {
        OutputError::Write(_, cause) => diagnostic.caused_by(cause),
        OutputError::Exists(_) | OutputError::Busy(_) => diagnostic,
    }
}

/// The failure for a run that cannot be resumed, with a remedy.
pub fn not_resumed(error: &ResumeError) -> Failure {
    let again = "start the run again, with --force to replace what it left";
    let hint = match error {
        ResumeError::NoRun(_) => "name a directory that `mario run` has made".to_owned(),
        ResumeError::Complete(path) => {
            format!("there is nothing to resume; `mario report {}` shows it", path.display())
        }
        ResumeError::Busy(_) => "wait for the process that runs it, or interrupt that first".to_owned(),
        ResumeError::NoCheckpoint(_) => format!("{again}; --checkpoint-every says how often it is saved"),
        ResumeError::Damaged(_) | ResumeError::Altered { .. } => format!("put the file back as it was, or {again}"),
        ResumeError::Version { .. } => format!("resume it with the version of mario that wrote it, or {again}"),
        ResumeError::Foreign { .. } => format!("resume it with the program that wrote it, or {again}"),
        ResumeError::Short { path, .. } => {
            let compressed = path.with_added_extension("gz");
            if compressed.exists() {
                format!("decompress it first: gunzip {}", compressed.display())
            } else {
                format!("put the file back as it was, or {again}")
            }
        }
        ResumeError::File(path, cause) if cause.kind() == io::ErrorKind::NotFound => {
            let diagnostic = Diagnostic::error(format!("cannot resume the run: `{}` is gone", path.display()));
            return Failure::input(diagnostic.hint(format!("put the file back as it was, or {again}")));
        }
        ResumeError::File(_, cause) => return Failure::file(format!("cannot resume the run: {error}"), cause),
        ResumeError::Contradictory { .. } => {
            let bug = "if the file was not changed, this is a bug in mario: please report it with the directory";
            let diagnostic = Diagnostic::error(format!("cannot resume the run: {error}"));
            return Failure::input(diagnostic.hint(format!("put the file back as it was, or {again}")).hint(bug));
        }
        ResumeError::Simulation(error) => return not_runnable(error),
    };
    Failure::input(Diagnostic::error(format!("cannot resume the run: {error}")).hint(hint))
}
