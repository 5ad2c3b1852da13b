//! Warns about decisions that fail or exhaust their budget, and about runs in which no operation was accepted, with the
//! command that explains why.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mario_diagnostics::{Diagnostic, Source};
use mario_domain::{InstanceId, Time};
use mario_frontend::drive::{Finished, quoted};
use mario_policy::Settings;
use mario_scenario::{Management, PolicyText, Scenario};
use mario_simulator::{BudgetWatch, FailedDecision, PolicyLocation, Simulation};

use crate::Console;

/// How often a run is checked for policies that exhaust their budget.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Fewer exhausted decisions than this are not worth a warning.
const EXHAUSTED_MIN: u64 = 3;

/// Warns during a run if most decisions exhaust their budget, because one cycle of many agents may then take minutes. A
/// second thread is needed for this: the run itself reports failures only at its end, and without a terminal no
/// progress is shown.
pub(super) struct BudgetWatcher {
    /// Dropped to stop the watcher.
    end: Option<Sender<()>>,
    watcher: Option<JoinHandle<()>>,
}

impl BudgetWatcher {
    pub(super) fn begin(simulation: &Simulation<'_>, scenario: &Scenario, console: &Console) -> BudgetWatcher {
        let (end, ended) = mpsc::channel::<()>();
        let (watch, console) = (simulation.budget_watch(), console.clone());
        let budget = scenario.agents.budget.unwrap_or(Settings::default().budget.inferences);
        let watcher = thread::Builder::new().name("budget".to_owned()).spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(CHECK_INTERVAL) {
                if are_mostly_exhausted(&watch) {
                    console.show(&[too_expensive(budget)]);
                    return;
                }
            }
        });
        // If no thread can be started, the warning is given at the end of the run.
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

fn are_mostly_exhausted(watch: &Arc<BudgetWatch>) -> bool {
    let (made, exhausted) = watch.counts();
    exhausted >= EXHAUSTED_MIN && 2 * exhausted > made
}

fn too_expensive(budget: u64) -> Diagnostic {
    let title = format!("most decisions of this run use up their budget of {budget} inferences");
    let mut diagnostic = Diagnostic::warning(title);
    diagnostic
        .causes
        .push("a policy that runs out of its budget gives no answer, and its agent does nothing".to_owned());
    diagnostic
        .hint("Ctrl-C breaks the run off; `mario policy check` finds policies that do not end")
        .hint("--budget N has a decision end after N inferences: the shipped policies take some hundred")
}

/// Reports failed decisions and, if no operation of an agent was accepted, why.
pub(super) fn tell(finished: &Finished, scenario: &Scenario, directory: &Path, console: &Console) {
    let effort = &finished.effort;
    if let Some(first) = &effort.first.failed {
        console.show(&[failed(first, effort.failed, effort.evaluated, scenario, directory)]);
    }
    if scenario.management != Management::Agents || effort.first.has_accepted {
        return;
    }
    if let Some(first) = &effort.first.inhibited {
        let mut diagnostic = Diagnostic::warning("every request of every agent was inhibited");
        let (time, instance) = (first.time, &first.instance);
        diagnostic
            .causes
            .push(format!("first at time {time}, instance {instance}, {}: {}", first.request, first.reason));
        console.show(&[diagnostic.hint(explaining(directory, instance, time))]);
    } else if effort.first.failed.is_none() && effort.asked > 0 && !is_silent_by_purpose(scenario) {
        let message = "note: no agent proposed an operation";
        console
            .inform(format!("{message}; `mario policy explain --run {} --instance ID` shows why", quoted(directory)));
    }
}

fn failed(first: &FailedDecision, count: u64, asked: u64, scenario: &Scenario, directory: &Path) -> Diagnostic {
    let title =
        format!("{count} of the {asked} times that a policy was asked, it gave no answer that an agent could follow");
    let mut diagnostic = Diagnostic::warning(title);
    let FailedDecision { time, instance, policy, cause, hint, place } = first;
    diagnostic.causes.push(format!("first at time {time}, instance {instance}, policy `{policy}`: {cause}"));
    diagnostic.hints.extend(hint.clone());
    if let Some((source, place)) = place.as_ref().and_then(|place| Some((source(scenario, policy, place)?, place))) {
        diagnostic = diagnostic.at(&source, place.span.clone(), "");
    }
    diagnostic.hint(explaining(directory, instance, *time))
}

fn source(scenario: &Scenario, policy: &str, place: &PolicyLocation) -> Option<Source> {
    let policy: &PolicyText = scenario.policies.iter().find(|known| known.name == policy)?;
    let (_, text) = policy.files.iter().find(|(file, _)| *file == place.file)?;
    // The policy's own file is shown under the path that the user gave.
    let is_own = policy.files.first().is_some_and(|(file, _)| *file == place.file);
    let name = if is_own && policy.name.ends_with(&place.file) { &policy.name } else { &place.file };
    Some(Source::new(name.as_str(), text.as_str()))
}

/// The command that explains an agent's last decision up to a time.
fn explaining(directory: &Path, instance: &InstanceId, time: Time) -> String {
    format!("to see why: mario policy explain --run {} --instance {instance} --time {time}", quoted(directory))
}

/// Whether all policies are the shipped one that never proposes anything.
fn is_silent_by_purpose(scenario: &Scenario) -> bool {
    scenario.policies.iter().all(|policy| policy.name == "never-move")
}
