//! `mario replay`.

use std::path::PathBuf;

use clap::Args;
use mario_frontend::replay::{Replay, replay};
use mario_frontend::snapshots::of_run;
use mario_policy::PolicyFunctions;
use mario_simulator::IfExists;

use super::run::Shown;
use super::snapshot;
use crate::arguments::parse_time;
use crate::scenarios::Disk;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario replay`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario replay runs/paper-1 --until 20000 --policy latency-aware
  mario replay runs/live-1 --until 15000 --policy mine.pl --out what-if")]
pub struct Arguments {
    /// A trace, or the directory of a run
    #[arg(value_name = "TRACE|DIR")]
    pub run: PathBuf,
    /// The time at which the other policy takes over, in milliseconds: simulated time, or for a live run the time since
    /// its first record
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub until: f64,
    /// The policy of all applications from then on, or with APP=POLICY of one application: a path, or the name of a
    /// built-in policy
    #[arg(long = "policy", value_name = "POLICY|APP=POLICY", required = true,
        value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub policies: Vec<String>,
    /// The directory for the run; by default, the first unused one of `runs/SCENARIO-1`,
    /// `runs/SCENARIO-2`, …
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the run that is in the directory
    #[arg(long, requires = "out")]
    pub force: bool,
}

pub(super) const LONG_ABOUT: &str = "Resume a recorded run at a given time under another policy.

This is `mario snapshot` and `mario run` in one. The resumed run continues to the end of its scenario; what happened in it after \
--until is compared with what happened in the recorded run. A simulated run in a directory is resumed exactly. A live run is \
resumed from the state that its trace records. If it ended before its scenario, only as much of the resumed run is compared with it; its \
client requests, which real clients measured, are not compared with simulated ones.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let snapshot = of_run(&arguments.run, arguments.until, console)?;
    if !snapshot.is_exact {
        snapshot::tell(&snapshot, console);
    }
    let wanted = Replay {
        recorded: &arguments.run,
        snapshot: &snapshot,
        from: arguments.until,
        policies: arguments.policies.clone(),
        files: Box::new(Disk),
        functions: PolicyFunctions::default(),
        out: arguments.out.clone(),
        existing: if arguments.force { IfExists::Replace } else { IfExists::Refuse },
    };
    let replayed = replay(wanted, &mut Shown::without_notes(console), console)?;
    console.write_data(|stdout| stdout.write_all(replayed.text().as_bytes()))?;
    console.inform(format!("kept in {}", replayed.directory.display()));
    Ok(Outcome::Done)
}
