//! Warns during a run if most decisions exhaust their budget.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mario_policy::PolicySettings;
use mario_scenario::Scenario;
use mario_simulator::{BudgetWatch, Simulation};

use super::Alarm;
use crate::hints::{Diagnostic, Hint};

/// How often a run is checked for policies that exhaust their budget.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Fewer exhausted decisions than this are not worth a warning.
const EXHAUSTED_MIN: u64 = 3;

/// Warns once during a run if most decisions exhaust their budget, because one cycle of many agents may then take
/// minutes. A second thread does this, because the run itself reports failures only at its end.
pub(super) struct BudgetWatcher {
    /// Dropped to stop the watcher.
    end: Option<Sender<()>>,
    watcher: Option<JoinHandle<()>>,
}

impl BudgetWatcher {
    pub(super) fn begin(simulation: &Simulation<'_>, scenario: &Scenario, alarm: Alarm) -> BudgetWatcher {
        let (end, ended) = mpsc::channel::<()>();
        let watch = simulation.budget_watch();
        let budget = scenario.agents.budget.unwrap_or(PolicySettings::default().budget.inferences);
        let watcher = thread::Builder::new().name("budget".to_owned()).spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(CHECK_INTERVAL) {
                if are_mostly_exhausted(&watch) {
                    alarm(too_expensive(budget));
                    return;
                }
            }
        });
        // If no thread can be started, failed decisions are still reported at the end of the run.
        BudgetWatcher { end: Some(end), watcher: watcher.ok() }
    }
}

impl Drop for BudgetWatcher {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(watcher) = self.watcher.take() {
            let _ = watcher.join();
        }
    }
}

fn are_mostly_exhausted(watch: &BudgetWatch) -> bool {
    let (made, exhausted) = watch.counts();
    exhausted >= EXHAUSTED_MIN && 2 * exhausted > made
}

fn too_expensive(budget: u64) -> Diagnostic {
    let title = format!("most decisions of this run use up their budget of {budget} inferences");
    let mut diagnostic = Diagnostic::warning(title);
    diagnostic
        .causes
        .push("a policy that runs out of its budget gives no answer, and its agent does nothing".to_owned());
    diagnostic.hint(Hint::CheckPolicies).hint(Hint::LowerBudget)
}
