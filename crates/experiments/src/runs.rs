//! Runs scenarios, one or many in parallel.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use mario_policy::PolicyFunctions;
use mario_scenario::{Document, Files, Resolved, Scenario, ScenarioError};
use mario_simulator::{
    Detail, IfExists, OutputError, OutputOptions, PastError, RunDirectory, RunOptions, RunStatistics, Simulation,
    SimulationError, Tally, TraceRecorder, verify,
};

use crate::drive::{Stopped, Unstored, unless};
use crate::figures::{RunFigures, TraceFigures, from_trace};
use crate::metric::{MetricCause, MetricError};

/// How often the caller is asked whether to continue while runs are in progress.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(100);

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
    /// The run was stopped before its end at the caller's request. It has no result.
    Stopped,
}

/// A flag, shared by all threads that make runs, that requests them to stop. It cannot be reset.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Asks all runs in progress to stop.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the runs should stop.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What [`in_parallel`] reports to its caller.
#[derive(Debug)]
pub enum Progress<R> {
    /// The item with this index has this result.
    Done(usize, R),
    /// Reported about every tenth of a second, so that the caller can stop the work even if no item is done.
    Waiting,
}

/// One of the compared policies, with its own settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contender {
    /// The text from which it was parsed, which is also its name in results.
    pub name: String,
    /// The policy, as for `--policy`; empty for the policies of the scenario.
    policy: String,
    /// The settings that go with the policy, as `KEY=VALUE`.
    overrides: Vec<String>,
}

impl Contender {
    /// Parses `POLICY` or `POLICY@KEY=VALUE,KEY=VALUE`. Commas within brackets, braces or quotes do not separate.
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

/// Splits a text at the commas outside of brackets, braces and quotes. An empty text has no parts.
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

/// Resolves a scenario with a seed. Fails if the simulation does not reproduce the recorded past that the scenario
/// resumes.
pub fn resolve(document: &Document, seed: u64, files: &mut dyn Files) -> Result<Resolved, RunError> {
    let mut document = document.clone();
    document.set_seed(seed);
    let resolved = document.resolve(files).map_err(RunError::Scenario)?;
    verify(&resolved.scenario).map_err(RunError::Past)?;
    Ok(resolved)
}

/// Runs a scenario without a trace. Returns its figures and the run statistics, which count failed evaluations.
pub fn run_without_trace(
    scenario: &Scenario,
    functions: &PolicyFunctions,
    stop: &Stop,
) -> Result<(RunFigures, RunStatistics), RunError> {
    let mut simulation = begin(scenario, functions)?;
    let mut tally = Tally::new(scenario);
    let statistics = unless(&mut simulation, &mut Unstored(&mut tally), || stop.is_requested())?;
    Ok((tally.figures().into(), statistics))
}

fn begin<'a>(scenario: &'a Scenario, functions: &PolicyFunctions) -> Result<Simulation<'a>, RunError> {
    Simulation::with_functions(scenario, RunOptions::default(), functions).map_err(RunError::Simulation)
}

/// Runs a scenario with a trace in memory, and computes the figures from it. Returns the run statistics, too.
pub fn run_with_trace(
    scenario: &Scenario,
    functions: &PolicyFunctions,
    stop: &Stop,
) -> Result<(TraceFigures, RunStatistics), RunError> {
    let mut simulation = begin(scenario, functions)?;
    let mut trace = TraceRecorder::new(Vec::new(), scenario, Detail::Operations);
    let statistics = unless(&mut simulation, &mut Unstored(&mut trace), || stop.is_requested())?;
    trace.traffic(statistics.hops);
    let trace = trace.finish(scenario.end()).expect("writing to memory does not fail");
    Ok((from_trace(trace.as_slice()).expect("what was just written is a trace"), statistics))
}

/// Runs a scenario and stores the run with a full trace in a directory, replacing an existing run. If the run is
/// stopped, an incomplete run remains there, marked with the file `PARTIAL`.
pub fn run_to_directory(
    resolved: &Resolved,
    functions: &PolicyFunctions,
    directory: &Path,
    stop: &Stop,
) -> Result<RunStatistics, RunError> {
    let scenario = &resolved.scenario;
    let mut simulation = begin(scenario, functions)?;
    let failed = |error: OutputError| {
        let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
        RunError::Metric(MetricError { name: "trace".to_owned(), cause: MetricCause::Keep(format!("{error}{cause}")) })
    };
    let keep = OutputOptions { detail: Detail::Full, messages: false };
    let mut run = RunDirectory::create(directory, resolved, keep, IfExists::Replace).map_err(failed)?;
    let statistics = unless(&mut simulation, &mut run, || stop.is_requested())?;
    run.complete(scenario, statistics.clone()).map_err(failed)?;
    Ok(statistics)
}

/// Works on `items` with `jobs` threads. `observe` is called on this thread with each result in the order of `items`,
/// and about every tenth of a second with [`Progress::Waiting`]. When it returns `false`, no more items are started,
/// and those in progress are requested to stop; `observe` is still called with their results.
pub fn in_parallel<T: Sync, R: Send>(
    jobs: usize,
    items: &[T],
    work: impl Fn(&T, &Stop) -> R + Sync,
    mut observe: impl FnMut(Progress<R>) -> bool,
) {
    let next = AtomicUsize::new(0);
    let stop = Stop::default();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, items.len().max(1)) {
            let sender = sender.clone();
            let (next, stop, work) = (&next, &stop, &work);
            scope.spawn(move || {
                while !stop.is_requested() {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { return };
                    if sender.send((place, work(item, stop))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut tell = |progress| {
            if !observe(progress) {
                stop.request();
            }
        };
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        let mut next_poll = Instant::now() + POLL_INTERVAL;
        loop {
            match receiver.recv_timeout(next_poll.saturating_duration_since(Instant::now())) {
                Ok((place, result)) => {
                    early.insert(place, result);
                    while let Some(result) = early.remove(&wanted) {
                        tell(Progress::Done(wanted, result));
                        wanted += 1;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            // Polls even if results keep arriving, because they may be held back for an earlier one.
            if Instant::now() >= next_poll {
                if !stop.is_requested() {
                    tell(Progress::Waiting);
                }
                next_poll = Instant::now() + POLL_INTERVAL;
            }
        }
    });
}

impl From<Stopped> for RunError {
    fn from(Stopped: Stopped) -> RunError {
        RunError::Stopped
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Scenario(error) => error.fmt(formatter),
            RunError::Simulation(error) => error.fmt(formatter),
            RunError::Past(error) => error.fmt(formatter),
            RunError::Metric(error) => error.fmt(formatter),
            RunError::Stopped => formatter.write_str("the run was interrupted"),
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
            RunError::Stopped => None,
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
                |item, _| {
                    // Items take different times, so that they finish out of order.
                    thread::sleep(Duration::from_micros((200 - item) % 7 * 50));
                    item * item
                },
                |progress| {
                    if let Progress::Done(place, square) = progress {
                        found.push((place, square));
                    }
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
        let begun = AtomicUsize::new(0);
        let mut seen = 0;
        in_parallel(
            2,
            &items,
            |_, stop| {
                // The first five end at once, the others only when a stop is requested.
                while begun.fetch_add(1, Ordering::Relaxed) >= 5 && !stop.is_requested() {
                    thread::yield_now();
                }
            },
            |progress| {
                seen += usize::from(matches!(progress, Progress::Done(..)));
                seen < 5
            },
        );
        // Each of the two threads may have started one more item before the stop, and its result is reported, too.
        assert!((5..=5 + 2).contains(&seen), "{seen}");
    }

    #[test]
    fn work_in_progress_is_stopped_and_complete_results_are_still_reported() {
        let items = [0, 1, 2, 3];
        let mut results = Vec::new();
        in_parallel(
            2,
            &items,
            |item, stop| {
                // The first item ends only when a stop is requested. The others end at once, but are reported after it.
                while *item == 0 && !stop.is_requested() {
                    thread::sleep(Duration::from_millis(1));
                }
                if *item == 0 { Err(RunError::Stopped) } else { Ok(*item) }
            },
            |progress| match progress {
                Progress::Done(place, result) => {
                    results.push((place, result.ok()));
                    true
                }
                Progress::Waiting => false,
            },
        );
        assert_eq!(results[0], (0, None));
        assert_eq!(results[1..], [(1, Some(1)), (2, Some(2)), (3, Some(3))]);
    }

    #[test]
    fn parses_a_policy_with_its_settings_as_a_contender() {
        let contender = Contender::read("with-memory@memory.cycles=10,topology.area={a=[1, 2], b=\"x,y\"}");
        assert_eq!(contender.policy, "with-memory");
        assert_eq!(contender.overrides, ["memory.cycles=10", "topology.area={a=[1, 2], b=\"x,y\"}"]);
        assert_eq!(Contender::read("plain").overrides, [""; 0]);
    }
}
