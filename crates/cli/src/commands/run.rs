//! `mario run`.

mod shown;
mod summary;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mario_frontend as frontend;
use mario_frontend::checkpoint_interval::CheckpointInterval;
use mario_frontend::run::{Finished, NewRun, Request, ResumedRun};
use mario_policy::PolicyFunctions;
use mario_report::measured_text;
use mario_simulator::{Detail, IfExists, OutputOptions, Reuse, RunOptions};

pub(super) use shown::Shown;

use crate::bug::quietly;
use crate::scenarios::{Disk, ScenarioArguments};
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
    let mut shown = Shown::new(console);
    let finished = match (&arguments.scenario, &arguments.resume) {
        (Some(scenario), None) => frontend::run(Request::New(Box::new(new_run(arguments, scenario)?)), &mut shown)?,
        (_, directory) => {
            let directory = directory.clone().unwrap_or_else(|| PathBuf::from("."));
            let (threads, every) = (usize::from(arguments.threads), arguments.checkpoint_every);
            // A panic is reported as a contradictory checkpoint.
            quietly(|| frontend::run(Request::Resume(ResumedRun { directory, threads, every }), &mut shown))?
        }
    };
    tell(arguments.format, &finished, console)
}

fn new_run(arguments: &Arguments, scenario: &ScenarioArguments) -> Result<NewRun<'static>, Failure> {
    let detail = match arguments.trace {
        TraceDetail::Full => Detail::Full,
        TraceDetail::Operations => Detail::Operations,
        TraceDetail::Summary => Detail::Summary,
    };
    Ok(NewRun {
        document: scenario.document()?,
        files: Box::new(Disk),
        functions: PolicyFunctions::default(),
        options: RunOptions {
            threads: usize::from(arguments.threads),
            reuse: if arguments.no_reuse { Reuse::Nothing } else { Reuse::Proposals },
        },
        keep: OutputOptions { detail, messages: arguments.messages },
        regret: arguments.regret,
        out: arguments.out.clone(),
        existing: if arguments.force { IfExists::Replace } else { IfExists::Refuse },
        every: arguments.checkpoint_every,
    })
}

/// Prints the result of a run, and its warnings.
fn tell(format: SummaryFormat, finished: &Finished, console: &Console) -> Result<Outcome, Failure> {
    let Finished { run, measures, warnings } = finished;
    match format {
        SummaryFormat::Text => {
            let mut text = summary::text(&run.summary, &run.scenario);
            let fidelity = run.scenario.network.fidelity;
            text += &measures.as_ref().map(|measured| measured_text(measured, fidelity)).unwrap_or_default();
            console.write_data(|stdout| stdout.write_all(text.as_bytes()))?;
        }
        SummaryFormat::Json => console.write_data(|stdout| {
            serde_json::to_writer_pretty(&mut *stdout, &run.summary)?;
            stdout.write_all(b"\n")
        })?,
    }
    console.show(warnings);
    console.inform(format!("kept in {}", run.directory.display()));
    Ok(Outcome::Done)
}
