//! Runs scenarios, one or many in parallel.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use mario_policy::PolicyFunctions;
use mario_scenario::{Document, Files, Resolved, Scenario, ScenarioError};
use mario_simulator::{
    Detail, Effort, Existing, Keep, KeepError, PastError, RunDirectory, RunOptions, Simulation, SimulationError, Tally,
    TraceRecorder, verify,
};

use crate::figures::{RunFigures, TraceFigures, from_trace};
use crate::metric::{MetricCause, MetricError};

/// Why a run failed.
#[derive(Debug)]
pub enum RunError {
    /// The scenario is invalid.
    Scenario(ScenarioError),
    /// The scenario cannot be simulated.
    Simulation(SimulationError),
    /// The scenario resumes a recorded past that the simulation does not reproduce.
    Past(PastError),
    /// A metric cannot be computed.
    Metric(MetricError),
}

/// One of the compared policies, with its own settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contender {
    /// The text from which it was read.
    pub name: String,
    /// The policy, as for `--policy`; empty for the scenario's own.
    policy: String,
    /// The settings that go with the policy.
    overrides: Vec<String>,
}

impl Contender {
    /// Parses `POLICY` or `POLICY@KEY=VALUE,KEY=VALUE`. Commas within brackets or quotes do not separate.
    pub fn read(text: &str) -> Contender {
        let (policy, overrides) = text.split_once('@').unwrap_or((text, ""));
        Contender { name: text.to_owned(), policy: policy.to_owned(), overrides: split_list(overrides) }
    }

    /// Applies the policy and its settings to a scenario.
    pub fn apply(&self, document: &mut Document) {
        if !self.policy.is_empty() {
            document.set_policy(&self.policy);
        }
        if !self.overrides.is_empty() {
            document.set(&self.overrides);
        }
    }
}

/// Splits a text at the commas outside brackets and quotes. Empty text has no parts.
pub fn split_list(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quote) = (0_i32, None);
    for letter in text.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('"' | '\'', None) => quote = Some(letter),
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth -= 1,
            (',', None) if depth <= 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is one from the beginning").push(letter);
    }
    if parts.len() == 1 && parts[0].is_empty() { Vec::new() } else { parts }
}

/// Resolves a scenario with a seed.
pub fn resolve(document: &Document, seed: u64, files: &mut dyn Files) -> Result<Resolved, RunError> {
    let mut document = document.clone();
    document.set_seed(seed);
    let resolved = document.resolve(files).map_err(RunError::Scenario)?;
    verify(&resolved.scenario).map_err(RunError::Past)?;
    Ok(resolved)
}

/// Runs a scenario without a trace. Returns its figures and the run statistics, which count failed evaluations.
pub fn counted(scenario: &Scenario, functions: &PolicyFunctions) -> Result<(RunFigures, Effort), RunError> {
    let mut simulation = begin(scenario, functions)?;
    let mut tally = Tally::new(scenario);
    let effort = simulation.run(&mut tally);
    Ok((tally.figures().into(), effort))
}

/// Runs a scenario with a trace in memory, and computes the figures from it.
pub fn traced(scenario: &Scenario) -> Result<TraceFigures, RunError> {
    traced_with_effort(scenario, &PolicyFunctions::default()).map(|(figures, _)| figures)
}

fn begin<'a>(scenario: &'a Scenario, functions: &PolicyFunctions) -> Result<Simulation<'a>, RunError> {
    Simulation::with_functions(scenario, RunOptions::default(), functions).map_err(RunError::Simulation)
}

/// As [`traced`], but also returns the run statistics.
pub fn traced_with_effort(
    scenario: &Scenario,
    functions: &PolicyFunctions,
) -> Result<(TraceFigures, Effort), RunError> {
    let mut simulation = begin(scenario, functions)?;
    let mut trace = TraceRecorder::new(Vec::new(), scenario, Detail::Operations);
    let effort = simulation.run(&mut trace);
    trace.traffic(effort.hops);
    let trace = trace.finish(scenario.end()).expect("writing to memory does not fail");
    Ok((from_trace(trace.as_slice()).expect("what was just written is a trace"), effort))
}

/// Runs a scenario and stores the run with a full trace in a directory. An existing run there is replaced.
pub fn kept(resolved: &Resolved, functions: &PolicyFunctions, directory: &Path) -> Result<Effort, RunError> {
    let scenario = &resolved.scenario;
    let mut simulation = begin(scenario, functions)?;
    let failed = |error: KeepError| {
        let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
        RunError::Metric(MetricError { name: "trace".to_owned(), cause: MetricCause::Keep(format!("{error}{cause}")) })
    };
    let keep = Keep { detail: Detail::Full, messages: false };
    let mut run = RunDirectory::create(directory, resolved, keep, Existing::Replace).map_err(failed)?;
    let effort = simulation.run(run.recorder());
    run.complete(scenario, effort.clone()).map_err(failed)?;
    Ok(effort)
}

/// Processes `items` on `jobs` threads. `done` is called with each result in the order of `items`. If it returns
/// `false`, no more work is started, and later results are dropped.
pub fn in_parallel<T: Sync, R: Send>(
    jobs: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut done: impl FnMut(usize, R) -> bool,
) {
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            let sender = sender.clone();
            let (next, is_over, work) = (&next, &is_over, &work);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { return };
                    if sender.send((place, work(item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        for (place, result) in receiver {
            early.insert(place, result);
            while let Some(result) = early.remove(&wanted) {
                if !is_over.load(Ordering::Relaxed) && !done(wanted, result) {
                    is_over.store(true, Ordering::Relaxed);
                }
                wanted += 1;
            }
        }
    });
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Scenario(error) => error.fmt(formatter),
            RunError::Simulation(error) => error.fmt(formatter),
            RunError::Past(error) => error.fmt(formatter),
            RunError::Metric(error) => error.fmt(formatter),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RunError::Scenario(error) => error.source(),
            RunError::Simulation(error) => error.source(),
            RunError::Past(error) => error.source(),
            RunError::Metric(error) => error.source(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        let items: Vec<u64> = (0..200).collect();
        for jobs in [0, 1, 3, 64] {
            let mut found = Vec::new();
            in_parallel(
                jobs,
                &items,
                |item| {
                    // Later items finish sooner.
                    thread::sleep(std::time::Duration::from_micros((200 - item) % 7 * 50));
                    item * item
                },
                |place, square| {
                    found.push((place, square));
                    true
                },
            );
            assert_eq!(found.len(), 200);
            assert!(
                found.iter().enumerate().all(|(place, (at, square))| *at == place && *square == items[place].pow(2))
            );
        }
    }

    #[test]
    fn no_work_is_started_after_the_caller_stops() {
        let items = [1; 1000];
        let mut seen = 0;
        in_parallel(
            2,
            &items,
            |item| *item,
            |_, _| {
                seen += 1;
                seen < 5
            },
        );
        assert_eq!(seen, 5);
    }

    #[test]
    fn parses_a_policy_with_its_settings_as_a_contender() {
        let contender = Contender::read("with-memory@memory.cycles=10,topology.area={a=[1, 2], b=\"x,y\"}");
        assert_eq!(contender.policy, "with-memory");
        assert_eq!(contender.overrides, ["memory.cycles=10", "topology.area={a=[1, 2], b=\"x,y\"}"]);
        assert_eq!(Contender::read("plain").overrides, [""; 0]);
    }
}
