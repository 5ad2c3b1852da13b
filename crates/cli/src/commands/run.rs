//! `mario run`.

mod reasons;
mod summary;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};
use mario_diagnostics::Diagnostic;
use mario_domain::Time;
use mario_frontend::drive::{self, Finished, Observer, not_resumed, open, resuming};
use mario_frontend::runs::{differs, keep_measures, not_kept, start};
use mario_frontend::warnings::key_warnings;
use mario_report::measured_text;
use mario_scenario::{Fidelity, Resolved, Scenario};
use mario_simulator::{
    Checkpoint, Detail, IfExists, OutputOptions, Reuse, RunDirectory, RunOptions, Simulation, verify,
};

pub(super) use mario_frontend::checkpoint_interval::CheckpointInterval;
use reasons::BudgetWatcher;

use crate::bug::quietly;
use crate::console::ProgressBar;
use crate::interruptions::interruptions;
use crate::result_directory::ResultDirectory;
use crate::scenarios::{ScenarioArguments, tell_notes};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario run`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario run paper
  mario run paper --policy latency-aware --out latency --messages
  mario run paper --set topology.size=16 --set mobility.users=200 --seed 7
  mario run city --set mobility.users=20000 --set topology.size=64 --trace summary
  mario run paper --policy baseline:central-greedy --regret
  mario run paper --policy mine.pl --budget 100000
  mario run prototype --policy policies/latency-aware.pl --attachments users.json --out DIR
  mario run scenario.toml --policy video=latency-aware --force --out DIR
  mario run city.toml --checkpoint-every 300 --out DIR
  mario run --resume DIR",
  override_usage = "mario run [OPTIONS] <SCENARIO>\n       mario run [OPTIONS] --resume <DIR>",
  mut_arg("scenario", |scenario| scenario.required(false).required_unless_present("resume")))]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that a user gives or does not give")]
pub struct Arguments {
    /// The scenario; absent when a run is resumed.
    #[command(flatten)]
    pub scenario: Option<ScenarioArguments>,
    /// Resume the run in this directory from its last checkpoint; of the other options, only --checkpoint-every,
    /// --threads and --format may be given
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "scenario", "overrides", "policies", "seed", "budget", "attachments", "out", "force", "trace", "messages", "no_reuse", "regret",
    ])]
    pub resume: Option<PathBuf>,
    /// How often to write a checkpoint that --resume can start from: in seconds (`300`), in cycles (`20cycles`), or
    /// `never`, except when the run is interrupted
    #[arg(long, value_name = "INTERVAL", default_value = "60")]
    pub checkpoint_every: CheckpointInterval,
    /// The directory for the run; by default, the first unused one of `runs/SCENARIO-1`,
    /// `runs/SCENARIO-2`, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the run that is in the directory
    #[arg(long, requires = "out")]
    pub force: bool,
    /// How much the trace records
    #[arg(long, value_name = "DETAIL", default_value = "full")]
    pub trace: TraceDetail,
    /// Write every client request to messages.csv
    #[arg(long)]
    pub messages: bool,
    /// How many threads evaluate agents; the result is the same with any number
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// Disable caching of decisions: evaluate every agent's policy in every cycle, even if its facts did not change;
    /// the result is the same
    #[arg(long)]
    pub no_reuse: bool,
    /// In every management cycle, search for the best placement of all instances, and record how much worse the actual
    /// one is; may take longer than the run itself
    #[arg(long)]
    pub regret: bool,
    /// How to print the summary
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: SummaryFormat,
}

/// How much the trace records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceDetail {
    /// Everything.
    Full,
    /// Everything except evaluations.
    Operations,
    /// Counts per cycle and step, without individual instances and users; moves.csv and handovers.csv are not written.
    Summary,
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

The scenario is built in (paper, prototype, city, shop) or a file; `mario scenario new` writes one to start from. The \
results are in the directory of the run: trace.jsonl records everything that happened, operations.csv, moves.csv and \
handovers.csv are tables, summary.json has the figures that are printed at the end, and run.json describes what was run. A file \
PARTIAL marks a run that is not complete.

The same scenario and seed yield the same bytes.

A run that takes more than a fraction of a second writes a checkpoint into the same directory, and then one every minute or as \
--checkpoint-every says. On Ctrl-C, on SIGTERM, or when the terminal closes (unless the run was started by `nohup`), it writes a checkpoint \
and stops. `mario run --resume DIR` resumes a stopped or killed run from its last checkpoint, with the same version of mario; \
the result is the same, byte for byte, as without the interruption. A second Ctrl-C, at least half a second later, ends the run at \
once.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let (Some(scenario), None) = (&arguments.scenario, &arguments.resume) else {
        return resume(arguments, console);
    };
    let resolved = scenario.resolve()?;
    if arguments.messages && resolved.scenario.network.fidelity == Fidelity::Flow {
        return Err(Failure::input(
            Diagnostic::error("there are no messages to keep: `network.fidelity` is `flow`")
                .hint("omit --messages, or add --set network.fidelity=messages"),
        ));
    }
    tell_notes(&resolved.notes, "", console);
    console.show(&key_warnings(&resolved.scenario));
    let (finished, directory) = simulate(arguments, &resolved, console)?;
    tell(arguments, &finished, &resolved.scenario, &directory, console)
}

/// Resumes the run in the directory of `--resume`. A panic is reported as a contradictory checkpoint.
fn resume(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let directory = arguments.resume.as_deref().unwrap_or(Path::new("."));
    let resumed = quietly(|| Checkpoint::guarded(directory, || resume_from(arguments, directory, console)));
    resumed.map_err(|error| not_resumed(&error))?
}

fn resume_from(arguments: &Arguments, directory: &Path, console: &Console) -> Result<Outcome, Failure> {
    let checkpoint = open(directory)?;
    let scenario = checkpoint.scenario();
    let interrupted = interruptions()?;
    let resumed = checkpoint.resume(usize::from(arguments.threads));
    let (simulation, kept) = resumed.map_err(|error| not_resumed(&error))?;
    console.inform(format!("resuming at time {} of {}", simulation.now(), scenario.duration));
    let finished = finish(simulation, kept, scenario, (directory, arguments.checkpoint_every), &interrupted, console)?;
    tell(arguments, &finished, scenario, directory, console)
}

/// Stores the optional measures of a run, if the scenario asks for any, and prints its result.
fn tell(
    arguments: &Arguments,
    finished: &Finished,
    scenario: &Scenario,
    directory: &Path,
    console: &Console,
) -> Result<Outcome, Failure> {
    let measured = if scenario.is_measured() { Some(keep_measures(directory)?) } else { None };
    let (summary, fidelity) = (&finished.summary, scenario.network.fidelity);
    match arguments.format {
        SummaryFormat::Text => {
            let mut text = summary::text(summary, scenario);
            text += &measured.as_ref().map(|measured| measured_text(measured, fidelity)).unwrap_or_default();
            console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
        }
        SummaryFormat::Json => console.write_data(|stdout| {
            serde_json::to_writer_pretty(&mut *stdout, summary)?;
            stdout.write_all(b"\n")
        })?,
    }
    reasons::tell(finished, scenario, directory, console);
    console.inform(format!("kept in {}", directory.display()));
    Ok(Outcome::Done)
}

/// Runs a scenario to its end and stores it. Returns the directory.
pub(super) fn keep(arguments: &Arguments, resolved: &Resolved, console: &Console) -> Result<PathBuf, Failure> {
    simulate(arguments, resolved, console).map(|(_, directory)| directory)
}

fn simulate(arguments: &Arguments, resolved: &Resolved, console: &Console) -> Result<(Finished, PathBuf), Failure> {
    let detail = match arguments.trace {
        TraceDetail::Full => Detail::Full,
        TraceDetail::Operations => Detail::Operations,
        TraceDetail::Summary => Detail::Summary,
    };
    let options = RunOptions {
        threads: usize::from(arguments.threads),
        reuse: if arguments.no_reuse { Reuse::Nothing } else { Reuse::Proposals },
    };
    let scenario = &resolved.scenario;
    let keep = OutputOptions { detail, messages: arguments.messages };
    // Done before the directory is created, because a scenario that cannot be run must neither leave a directory nor
    // replace one.
    let simulation = start(resolved, options)?;
    verify(scenario).map_err(|error| differs(Path::new(&scenario.name), &error))?;
    let interrupted = interruptions()?;
    let directory = ResultDirectory::named_or_free(arguments.out.as_deref(), &scenario.name)?;
    let existing = if arguments.force { IfExists::Replace } else { IfExists::Refuse };
    let mut kept = RunDirectory::create(&directory, resolved, keep, existing).map_err(|error| not_kept(&error))?;
    if arguments.regret {
        kept = kept.with_regret(scenario);
    }
    let saving = (&*directory, arguments.checkpoint_every);
    let finished = finish(simulation, kept, scenario, saving, &interrupted, console)?;
    Ok((finished, directory.to_owned()))
}

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

/// Runs a simulation to its end, with progress, checkpoints and warnings about exhausted budgets. A signal stops it
/// with an error.
fn finish(
    simulation: Simulation<'_>,
    kept: RunDirectory<'_>,
    scenario: &Scenario,
    (directory, every): (&Path, CheckpointInterval),
    interrupted: &AtomicBool,
    console: &Console,
) -> Result<Finished, Failure> {
    let _watcher = BudgetWatcher::begin(&simulation, scenario, console);
    let progress = console.progress_bar(scenario.end(), simulation.now(), simulation.statistics().emitted);
    let mut shown = Shown { progress, interrupted, console };
    let finished = drive::finish(simulation, kept, scenario, (directory, every), &mut shown);
    drop(shown);
    let finished = finished.inspect_err(|failure| {
        let is_broken = !matches!(failure, Failure::Interrupted(_));
        if is_broken && Checkpoint::is_in(directory) {
            let command = resuming(directory);
            console.inform(format!("when the cause is fixed, resume the run from its last checkpoint: {command}"));
        }
    })?;
    let statistics = &finished.statistics;
    console.detail(format!("policies were evaluated for {} of {} decisions", statistics.evaluated, statistics.due));
    Ok(finished)
}
