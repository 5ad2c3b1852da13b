//! Shows the progress of a run on the console.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mario_diagnostics::Diagnostic;
use mario_domain::Time;
use mario_scenario::Scenario;
use mario_simulator::{Checkpoint, RunDirectory, Simulation};

use mario_frontend::course::{self, Observer, resuming};
pub(super) use mario_frontend::course::{Finished, not_resumed, open, quoted};

use super::Every;
use super::reasons::Watching;
use crate::console::ProgressBar;
use crate::{Console, Failure};

/// Shows the progress of a run, and stops it on a signal.
struct Shown<'a> {
    progress: ProgressBar,
    interrupted: &'a AtomicBool,
    console: &'a Console,
}

impl Observer for Shown<'_> {
    fn wants_to_stop(&mut self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn at(&mut self, now: Time, emitted: u64) {
        self.progress.at(now, emitted);
    }

    fn saved(&mut self, now: Time, bytes: u64, took: Duration) {
        self.console.detail(format!("checkpoint at time {now}: {bytes} bytes in {:.2} s", took.as_secs_f64()));
    }

    fn not_saved(&mut self, warning: Diagnostic) {
        self.console.show(&[warning]);
    }
}

/// Runs a simulation to its end.
pub(super) fn finish(
    simulation: Simulation<'_>,
    kept: RunDirectory<'_>,
    scenario: &Scenario,
    (directory, every): (&Path, Every),
    interrupted: &AtomicBool,
    console: &Console,
) -> Result<Finished, Failure> {
    let _watching = Watching::begin(&simulation, scenario, console);
    let progress = console.progress_bar(scenario.end(), simulation.now(), simulation.effort().emitted);
    let mut shown = Shown { progress, interrupted, console };
    let finished = course::finish(simulation, kept, scenario, (directory, every), &mut shown);
    drop(shown);
    let finished = finished.inspect_err(|failure| {
        let is_broken = !matches!(failure, Failure::Interrupted(_));
        if is_broken && Checkpoint::is_in(directory) {
            let command = resuming(directory);
            console.inform(format!("when the cause is fixed, resume the run from its last checkpoint: {command}"));
        }
    })?;
    let effort = &finished.effort;
    console.detail(format!("policies were evaluated for {} of {} decisions", effort.evaluated, effort.asked));
    Ok(finished)
}
