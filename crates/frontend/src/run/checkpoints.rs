//! The pauses of a stored run: for progress, for checkpoints, and to stop.

use std::path::Path;
use std::time::{Duration, Instant};

use mario_domain::Time;
use mario_experiments::drive::Pauses;
use mario_scenario::Scenario;
use mario_simulator::{Checkpoint, OutputError, RunDirectory, Simulation};

use super::Observer;
use crate::checkpoint_interval::{CheckpointInterval, CheckpointSchedule};
use crate::failure::Failure;
use crate::hints::{Diagnostic, Hint};
use crate::runs::not_kept;

/// The maximum wall-clock time between two reports of progress, approximately.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Pauses a run to report progress, to write checkpoints, and to stop it.
pub(super) struct Checkpoints<'a> {
    directory: &'a Path,
    schedule: CheckpointSchedule,
    observer: &'a mut dyn Observer,
    next_poll: Instant,
    /// Whether the observer has asked for the end of the run.
    stops: bool,
}

impl<'a> Checkpoints<'a> {
    /// Checkpoints in `directory` at the interval `every`.
    pub(super) fn new(
        directory: &'a Path,
        every: CheckpointInterval,
        simulation: &Simulation<'_>,
        scenario: &Scenario,
        observer: &'a mut dyn Observer,
    ) -> Checkpoints<'a> {
        let is_saved = Checkpoint::is_in(directory);
        let schedule = CheckpointSchedule::new(every, is_saved, scenario.management_period, simulation.now());
        Checkpoints { directory, schedule, observer, next_poll: Instant::now() + POLL_INTERVAL, stops: false }
    }
}

impl<'a> Pauses<RunDirectory<'a>> for Checkpoints<'_> {
    type Stop = Failure;

    fn until(&self) -> Time {
        self.schedule.until()
    }

    fn wants_pause(&mut self) -> bool {
        self.stops = self.observer.wants_to_stop();
        self.stops || Instant::now() >= self.next_poll
    }

    fn pause(
        &mut self,
        simulation: &Simulation<'_>,
        kept: &mut RunDirectory<'a>,
        has_reached_until: bool,
    ) -> Result<(), Failure> {
        let now = simulation.now();
        if self.stops || self.observer.wants_to_stop() {
            kept.save(simulation).map_err(|error| not_kept(&error))?;
            return Err(interrupted(now, self.directory));
        }
        if self.schedule.is_due(has_reached_until) {
            let begun = Instant::now();
            match kept.save(simulation) {
                Ok(bytes) => self.observer.saved(now, bytes, begun.elapsed()),
                // If there is an earlier checkpoint, it is kept, and the run itself may still succeed.
                Err(error) => self.observer.not_saved(not_saved(&error)),
            }
            self.schedule.saved(now);
        }
        self.observer.at(now, simulation.statistics().emitted);
        self.next_poll = Instant::now() + POLL_INTERVAL;
        Ok(())
    }
}

fn interrupted(time: Time, directory: &Path) -> Failure {
    let diagnostic = Diagnostic::error(format!("interrupted at time {time}; the run is saved"))
        .hint(Hint::Resume(directory.to_owned()))
        .hint(format!("`{}` holds what happened until then, and is marked as partial", directory.display()));
    Failure::Interrupted(vec![diagnostic])
}

fn not_saved(error: &OutputError) -> Diagnostic {
    let diagnostic = Diagnostic::warning("a checkpoint could not be written; the run continues");
    match error {
        OutputError::Write(_, cause) => diagnostic.caused_by(cause),
        OutputError::Exists(_) | OutputError::Busy(_) => diagnostic,
    }
}
