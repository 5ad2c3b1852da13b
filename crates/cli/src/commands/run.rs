//! `mario run`.

mod summary;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use mario_diagnostics::Diagnostic;
use mario_simulator::scenario::Resolved;
use mario_simulator::{
    Detail, Existing, Fidelity, Keep, KeepError, Reuse, RunDirectory, RunOptions, Simulation, SimulationError, Summary,
};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::scenarios::ScenarioArguments;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario run paper
  mario run paper --policy latency-aware --out latency --messages
  mario run paper --set topology.size=16 --set mobility.users=200 --seed 7
  mario run paper --policy baseline:central-greedy --regret
  mario run prototype --policy policies/latency-aware.pl --attachments users.json --out DIR
  mario run scenario.toml --policy app1=policies/workload-aware.pl --force --out DIR")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that a user gives or does not give")]
pub struct Arguments {
    /// Which scenario.
    #[command(flatten)]
    pub scenario: ScenarioArguments,
    /// Where to keep the run; without it, in the first directory `runs/NAME-1`, `runs/NAME-2`, … that is not there yet
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the run that is in the directory
    #[arg(long, requires = "out")]
    pub force: bool,
    /// How much the trace holds
    #[arg(long, value_name = "DETAIL", default_value = "full")]
    pub trace: TraceDetail,
    /// Keep every client request in messages.csv
    #[arg(long)]
    pub messages: bool,
    /// How many threads evaluate agents; the result is the same with any number
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Ask the policy of every agent at every evaluation, also where its facts did not change; the result is the same
    #[arg(long)]
    pub no_reuse: bool,
    /// Compare the placement with the best at each activation of the managers; may take longer than the run
    #[arg(long)]
    pub regret: bool,
    /// How to print the summary
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: SummaryFormat,
}

/// How much the trace holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceDetail {
    /// Everything.
    Full,
    /// No evaluations.
    Operations,
}

/// How to print the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SummaryFormat {
    /// A table for people.
    Text,
    /// The content of summary.json.
    Json,
}

pub(super) const LONG_ABOUT: &str = "Run a scenario in the simulator.

The scenario is one that ships (paper, prototype) or a file; `mario scenario new` writes one to start from. The run is kept in a \
directory: trace.jsonl is everything that happened, operations.csv, moves.csv and handovers.csv are tables, summary.json has the \
figures that are printed at the end, and run.json says what was run. Until the run is complete there is a file PARTIAL.

The same scenario and seed give the same bytes.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let resolved = arguments.scenario.resolve()?;
    if arguments.messages && resolved.scenario.network.fidelity == Fidelity::Flow {
        return Err(Failure::input(
            Diagnostic::error("there are no messages to keep: `network.fidelity` is `flow`")
                .hint("leave --messages away, or add --set network.fidelity=messages"),
        ));
    }
    for note in &resolved.notes {
        console.inform(format!("note: {note}"));
    }
    let (directory, existing) = match &arguments.out {
        Some(directory) if arguments.force => (directory.clone(), Existing::Replace),
        Some(directory) => (directory.clone(), Existing::Refuse),
        None => (free_directory(&resolved.scenario.name), Existing::Refuse),
    };
    let summary = simulate(arguments, &resolved, &directory, existing, console)?;
    match arguments.format {
        SummaryFormat::Text => {
            let text = summary::text(&summary, &resolved.scenario);
            console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
        }
        SummaryFormat::Json => console.write_data(|stdout| {
            serde_json::to_writer_pretty(&mut *stdout, &summary)?;
            stdout.write_all(b"\n")
        })?,
    }
    console.inform(format!("kept in {}", directory.display()));
    Ok(Outcome::Done)
}

fn simulate(
    arguments: &Arguments,
    resolved: &Resolved,
    directory: &Path,
    existing: Existing,
    console: &Console,
) -> Result<Summary, Failure> {
    /// In how many parts a run is done, with a look at clock and user after each.
    const PARTS: u32 = 400;
    let detail = match arguments.trace {
        TraceDetail::Full => Detail::Full,
        TraceDetail::Operations => Detail::Operations,
    };
    let options = RunOptions {
        threads: usize::from(arguments.threads),
        reuse: if arguments.no_reuse { Reuse::Nothing } else { Reuse::Proposals },
    };
    let scenario = &resolved.scenario;
    let keep = Keep { detail, messages: arguments.messages };
    // What cannot be run must not leave a directory, or replace one: so this comes first.
    let mut simulation = Simulation::new(scenario, options).map_err(|error| not_runnable(&error))?;
    let interrupted = interruptions()?;
    let mut kept = RunDirectory::create(directory, resolved, keep, existing).map_err(|error| not_kept(&error))?;
    if arguments.regret {
        kept = kept.with_regret(scenario);
    }
    let mut progress = console.progress_bar(scenario.duration);
    for part in 1..=PARTS {
        simulation.run_until(scenario.duration * f64::from(part) / f64::from(PARTS), kept.recorder());
        if kept.is_broken() {
            break;
        }
        if interrupted.load(Ordering::Relaxed) && part < PARTS {
            drop(progress);
            kept.break_off().map_err(|error| not_kept(&error))?;
            return Err(broken_off(simulation.now(), directory));
        }
        progress.at(simulation.now(), simulation.effort().emitted);
    }
    drop(progress);
    let effort = simulation.effort();
    drop(simulation);
    kept.complete(scenario, effort).map_err(|error| not_kept(&error))
}

/// A flag that is raised when somebody wants the process to stop. A second time, it stops at once.
pub(crate) fn interruptions() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let registered = signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)));
        if let Err(error) = registered {
            return Err(Failure::Environment(vec![Diagnostic::error("cannot listen for signals").caused_by(&error)]));
        }
    }
    Ok(flag)
}

/// The first of `runs/NAME-1`, `runs/NAME-2` and so on that is not there yet.
pub(super) fn free_directory(name: &str) -> PathBuf {
    let plain: String = name
        .chars()
        .map(|letter| if letter.is_alphanumeric() || "-_".contains(letter) { letter } else { '-' })
        .collect();
    let candidates = (1_u32..).map(|number| Path::new("runs").join(format!("{plain}-{number}")));
    candidates.into_iter().find(|candidate| !candidate.exists()).unwrap_or_else(|| PathBuf::from("runs"))
}

fn broken_off(time: f64, directory: &Path) -> Failure {
    let diagnostic = Diagnostic::error(format!("the run was broken off at time {time}"))
        .hint(format!("`{}` holds what happened until then, and is marked as partial", directory.display()));
    Failure::Environment(vec![diagnostic])
}

pub(super) fn not_kept(error: &KeepError) -> Failure {
    match error {
        KeepError::Exists(_) => Failure::input(
            Diagnostic::error(format!("cannot keep the run: {error}"))
                .hint("name another directory, or replace the run in it with --force"),
        ),
        KeepError::Write(_, cause) => Failure::file(error.to_string(), cause),
    }
}

/// Everything else that can be wrong was found when the scenario was resolved.
pub(crate) fn not_runnable(error: &SimulationError) -> Failure {
    let mut diagnostic = Diagnostic::error(error.to_string());
    if let SimulationError::TooLarge(_) = error {
        diagnostic = diagnostic.hint("choose `central-greedy`, or a smaller world");
    }
    Failure::input(match error.source() {
        Some(cause) => diagnostic.caused_by(cause),
        None => diagnostic,
    })
}
