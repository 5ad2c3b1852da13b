//! `mario audit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mario_audit::{Decide, Options, audit};

use crate::traces::{cannot_read, open, refuse, trace_path};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario audit`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario audit results/trace.jsonl
  mario audit results
  mario audit trace.jsonl.gz --format json --limit 1000 > findings.json
  mario audit large/trace.jsonl --no-decisions")]
pub struct Arguments {
    /// The trace, plain or compressed with gzip, or the directory that has it as trace.jsonl
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// How to print what is found
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Take decisions as recorded instead of making each again from its facts
    #[arg(long)]
    pub no_decisions: bool,
    /// Show the first N findings; all are counted
    #[arg(long, value_name = "N", default_value_t = Options::default().limit)]
    pub limit: usize,
}

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

pub(super) const LONG_ABOUT: &str = "Check a trace without trusting the program that wrote it.

The state of nodes, instances and users is replayed from the trace alone and each record is held against it: hardware is never \
used twice, instances do not appear or go on their own, what is inhibited has no effect and a true reason, targets are \
neighbours, each agent has one operation in a cycle and it is the one that it proposed, agents see and remember what they \
should, and each decision follows from the policy and the facts recorded with it.

A trace that was cut off is checked up to its last whole line. With findings the exit code is 1; when the file cannot be read or \
is no trace, 2.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let path = trace_path(&arguments.trace);
    let input = open(&path).map_err(|error| cannot_read(&path, &error))?;
    let decide = if arguments.no_decisions { Decide::AsRecorded } else { Decide::Again };
    let mut progress = console.progress("records");
    let report = audit(input, Options { decide, limit: arguments.limit }, &mut |records| {
        progress.done(usize::try_from(records).unwrap_or(usize::MAX));
    });
    drop(progress);
    let report = report.map_err(|error| refuse(&path, &error))?;
    console.write_data(|stdout| match arguments.format {
        Format::Text => write!(stdout, "{report}"),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *stdout, &report)?;
            writeln!(stdout)
        }
    })?;
    Ok(if report.is_clean() { Outcome::Done } else { Outcome::CheckFailed })
}
