//! Shows a run in progress on the terminal, and stops it on a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mario_domain::Time;
use mario_frontend::Diagnostic;
use mario_frontend::run::{Alarm, End, Observer, Start};
use mario_frontend::warnings::key_warnings;
use mario_scenario::Resolved;

use crate::console::ProgressBar;
use crate::hints::resuming;
use crate::interruptions::interruptions;
use crate::scenarios::tell_notes;
use crate::{Console, Failure};

/// The run that this process makes.
pub(in crate::commands) struct Shown<'a> {
    console: &'a Console,
    /// Whether the notes about the scenario are shown.
    has_notes: bool,
    /// Set on a signal; `None` before the run is ready.
    interrupted: Option<Arc<AtomicBool>>,
    /// `None` before the simulation starts, and after its end.
    progress: Option<ProgressBar>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(console: &'a Console) -> Shown<'a> {
        Shown { console, has_notes: true, interrupted: None, progress: None }
    }

    /// Does not show the notes about the scenario.
    pub(in crate::commands) fn without_notes(console: &'a Console) -> Shown<'a> {
        Shown { has_notes: false, ..Shown::new(console) }
    }
}

impl Observer for Shown<'_> {
    fn resolved(&mut self, resolved: &Resolved) {
        if self.has_notes {
            tell_notes(&resolved.notes, "", self.console);
            self.console.show(&key_warnings(&resolved.scenario));
        }
    }

    fn ready(&mut self) -> Result<(), Failure> {
        self.interrupted = Some(interruptions()?);
        Ok(())
    }

    fn alarm(&self) -> Option<Alarm> {
        let console = self.console.clone();
        Some(Box::new(move |warning| console.show(&[warning])))
    }

    fn started(&mut self, start: &Start<'_>) {
        let Start { scenario, now, emitted, is_resumed } = *start;
        if is_resumed {
            self.console.inform(format!("resuming at time {now} of {}", scenario.duration));
        }
        self.progress = Some(self.console.progress_bar(scenario.end(), now, emitted));
    }

    fn wants_to_stop(&mut self) -> bool {
        self.interrupted.as_ref().is_some_and(|interrupted| interrupted.load(Ordering::Relaxed))
    }

    fn at(&mut self, now: Time, emitted: u64) {
        if let Some(progress) = &mut self.progress {
            progress.at(now, emitted);
        }
    }

    fn saved(&mut self, now: Time, bytes: u64, took: Duration) {
        self.console.detail(format!("checkpoint at time {now}: {bytes} bytes in {:.2} s", took.as_secs_f64()));
    }

    fn not_saved(&mut self, warning: Diagnostic) {
        self.console.show(&[warning]);
    }

    fn ended(&mut self, end: End<'_>) {
        // Erases the line.
        self.progress = None;
        match end {
            End::Complete(statistics) => self.console.detail(format!(
                "policies were evaluated for {} of {} decisions",
                statistics.evaluated, statistics.due
            )),
            End::Failed(Some(directory)) => {
                let command = resuming(directory);
                self.console
                    .inform(format!("when the cause is fixed, resume the run from its last checkpoint: {command}"));
            }
            End::Failed(None) | End::Interrupted => {}
        }
    }
}
