//! Runs a scenario and stores the run: the one call that both front ends make.
//!
//! A [`Request`] says what to run. An [`Observer`] shows progress and asks for the end. [`Finished`] is the result.

mod budget;
mod checkpoints;

use std::path::{Path, PathBuf};
use std::time::Duration;

use mario_domain::Time;
use mario_experiments::drive;
use mario_experiments::figures::Measurements;
use mario_policy::PolicyFunctions;
use mario_scenario::{Document, Fidelity, Files, Resolved, Scenario};
use mario_simulator::{
    Checkpoint, IfExists, OutputOptions, RunDirectory, RunOptions, RunStatistics, Simulation, Summary, verify_with,
};

use crate::checkpoint_interval::CheckpointInterval;
use crate::failure::Failure;
use crate::hints::{Diagnostic, Hint};
use crate::result_directory::ResultDirectory;
use crate::runs::{differs, keep_measures, not_kept, not_resumed, start_with};
use crate::scenarios::failure;
use crate::warnings::warnings;
use budget::BudgetWatcher;
use checkpoints::Checkpoints;

/// What to run.
pub enum Request<'a> {
    /// A scenario, from its beginning.
    New(Box<NewRun<'a>>),
    /// A stored run, from its last checkpoint.
    Resume(ResumedRun),
}

/// A run of a scenario from its beginning.
pub struct NewRun<'a> {
    /// The scenario.
    pub document: Document,
    /// Reads the files that the scenario names.
    pub files: Box<dyn Files + 'a>,
    /// Host functions that decide for the policies whose texts name them.
    pub functions: PolicyFunctions,
    /// How the simulation computes; without effect on the result.
    pub options: RunOptions,
    /// Which outputs are stored.
    pub keep: OutputOptions,
    /// Whether the placement is compared with the best one in each management cycle.
    pub regret: bool,
    /// The directory for the run; with `None`, the first unused one of `runs/SCENARIO-1`, `runs/SCENARIO-2` and so on.
    pub out: Option<PathBuf>,
    /// What to do if the directory is not empty.
    pub existing: IfExists,
    /// How often to write a checkpoint.
    pub every: CheckpointInterval,
}

/// A stored run that is resumed.
pub struct ResumedRun {
    /// The directory of the run.
    pub directory: PathBuf,
    /// How many threads evaluate agents; without effect on the result.
    pub threads: usize,
    /// How often to write a checkpoint.
    pub every: CheckpointInterval,
}

/// A run that is complete and stored.
pub struct Stored {
    /// The scenario.
    pub scenario: Scenario,
    /// The directory of the run.
    pub directory: PathBuf,
    /// The figures of the run.
    pub summary: Summary,
    /// The statistics of the simulation, such as the numbers of evaluations and of failures.
    pub statistics: RunStatistics,
}

/// A run that is complete, with what its users should know.
pub struct Finished {
    /// The run.
    pub run: Stored,
    /// The optional measures; `None` unless the scenario asks for them.
    pub measures: Option<Measurements>,
    /// Warnings about policies that failed or had no effect.
    pub warnings: Vec<Diagnostic>,
}

/// Shows a warning during a run, from another thread.
pub type Alarm = Box<dyn FnOnce(Diagnostic) + Send>;

/// Observes a run: progress, checkpoints and requests to stop. The methods are called in the order in which they are
/// listed, those from [`Observer::wants_to_stop`] to [`Observer::not_saved`] repeatedly.
pub trait Observer {
    /// Called when the scenario of a new run is resolved.
    fn resolved(&mut self, _resolved: &Resolved) {}

    /// Called when the scenario was checked, or the checkpoint was read, before the directory of the run is created or
    /// changed. An error ends the call of [`run`].
    fn ready(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns a function that shows a warning during the run; `None` if the observer shows none.
    fn alarm(&self) -> Option<Alarm> {
        None
    }

    /// Called when the simulation starts or resumes.
    fn started(&mut self, start: &Start<'_>);

    /// Whether the run should stop now. Called often, between events.
    fn wants_to_stop(&mut self) -> bool;

    /// Called at each report of progress: the run has reached the simulation time `now`, and `emitted` client requests
    /// were sent so far.
    fn at(&mut self, now: Time, emitted: u64);

    /// Called when a checkpoint was written at the simulation time `now`, with its size and the wall-clock time that
    /// the write took. Not called for the checkpoint on interruption.
    fn saved(&mut self, now: Time, bytes: u64, took: Duration);

    /// Called when a checkpoint could not be written, and the run continues. If the checkpoint on interruption cannot
    /// be written, [`run`] fails instead.
    fn not_saved(&mut self, warning: Diagnostic);

    /// Called when the simulation has ended.
    fn ended(&mut self, _end: End<'_>) {}
}

/// The start of a simulation.
pub struct Start<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The simulation time; 0 unless the run is resumed.
    pub now: Time,
    /// The number of client requests that were sent before.
    pub emitted: u64,
    /// Whether the run is resumed from a checkpoint.
    pub is_resumed: bool,
}

/// How a simulation ended.
#[derive(Clone, Copy)]
pub enum End<'a> {
    /// It reached the end of the scenario, and everything is written.
    Complete(&'a RunStatistics),
    /// The observer stopped it, and a checkpoint was written.
    Interrupted,
    /// It failed; the directory, if the run can be resumed from an earlier checkpoint in it.
    Failed(Option<&'a Path>),
}

/// Runs a scenario to its end, or resumes a run, and stores it with checkpoints and optional measures. If the observer
/// stops it, writes a checkpoint and returns [`Failure::Interrupted`].
///
/// A panic of a resumed run is reported as a contradictory checkpoint.
pub fn run(request: Request<'_>, observer: &mut dyn Observer) -> Result<Finished, Failure> {
    match request {
        Request::New(new) => finished(store(*new, observer)?),
        Request::Resume(resumed) => {
            let finish = || finished(resume(&resumed, observer)?);
            Checkpoint::guarded(&resumed.directory, finish).map_err(|error| not_resumed(&error))?
        }
    }
}

/// Computes what users should know about a run.
fn finished(run: Stored) -> Result<Finished, Failure> {
    let measures = if run.scenario.is_measured() { Some(keep_measures(&run.directory)?) } else { None };
    let warnings = warnings(&run);
    Ok(Finished { run, measures, warnings })
}

/// Runs a scenario to its end and stores the run, without optional measures.
pub(crate) fn store(mut new: NewRun<'_>, observer: &mut dyn Observer) -> Result<Stored, Failure> {
    let resolved = new.document.resolve(&mut *new.files).map_err(|error| failure(&error))?;
    let scenario = &resolved.scenario;
    if new.keep.messages && scenario.network.fidelity == Fidelity::Flow {
        return Err(Failure::input(
            Diagnostic::error("there are no messages to keep: `network.fidelity` is `flow`")
                .hint(Hint::SimulateMessages),
        ));
    }
    observer.resolved(&resolved);
    // Done before the directory is created, because a scenario that cannot be run must neither leave a directory nor
    // replace one.
    let simulation = start_with(&resolved, new.options, &new.functions)?;
    verify_with(scenario, &new.functions).map_err(|error| differs(Path::new(&scenario.name), &error))?;
    observer.ready()?;
    let directory = ResultDirectory::named_or_free(new.out.as_deref(), &scenario.name)?;
    let mut kept =
        RunDirectory::create(&directory, &resolved, new.keep, new.existing).map_err(|error| not_kept(&error))?;
    if new.regret {
        kept = kept.with_regret(scenario);
    }
    let start = Start { scenario, now: simulation.now(), emitted: simulation.statistics().emitted, is_resumed: false };
    let (summary, statistics) = simulate(simulation, kept, &start, (&directory, new.every), observer)?;
    let directory = directory.to_path_buf();
    Ok(Stored { scenario: resolved.scenario, directory, summary, statistics })
}

/// Resumes a run from its last checkpoint, and stores it to its end.
fn resume(resumed: &ResumedRun, observer: &mut dyn Observer) -> Result<Stored, Failure> {
    let directory = &resumed.directory;
    let checkpoint = Checkpoint::open(directory).map_err(|error| not_resumed(&error))?;
    observer.ready()?;
    let (simulation, kept) = checkpoint.resume(resumed.threads).map_err(|error| not_resumed(&error))?;
    let (now, emitted) = (simulation.now(), simulation.statistics().emitted);
    let start = Start { scenario: checkpoint.scenario(), now, emitted, is_resumed: true };
    let (summary, statistics) = simulate(simulation, kept, &start, (directory, resumed.every), observer)?;
    Ok(Stored { scenario: checkpoint.into_scenario(), directory: directory.clone(), summary, statistics })
}

/// Runs a simulation to its end, with checkpoints in the directory. If the observer stops it, writes a checkpoint and
/// returns [`Failure::Interrupted`]. Ends early with a failure if recording the run fails.
fn simulate(
    mut simulation: Simulation<'_>,
    mut kept: RunDirectory<'_>,
    start: &Start<'_>,
    (directory, every): (&Path, CheckpointInterval),
    observer: &mut dyn Observer,
) -> Result<(Summary, RunStatistics), Failure> {
    observer.started(start);
    let watcher = observer.alarm().map(|alarm| BudgetWatcher::begin(&simulation, start.scenario, alarm));
    let mut checkpoints = Checkpoints::new(directory, every, &simulation, start.scenario, observer);
    let statistics = drive::to_end(&mut simulation, &mut kept, &mut checkpoints);
    drop((watcher, simulation));
    let completed = statistics.and_then(|statistics| {
        let summary = kept.complete(start.scenario, statistics.clone()).map_err(|error| not_kept(&error))?;
        Ok((summary, statistics))
    });
    observer.ended(match &completed {
        Ok((_, statistics)) => End::Complete(statistics),
        Err(Failure::Interrupted(_)) => End::Interrupted,
        Err(_) => End::Failed(Checkpoint::is_in(directory).then_some(directory)),
    });
    completed
}
