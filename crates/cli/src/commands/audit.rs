//! `mario audit`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use mario_audit::reader::TraceReader;
use mario_audit::{Audit, AuditReport, DecisionCheck, INFERENCE_BUDGET_DEFAULT, Options};
use mario_experiments::run_files::{RunFiles, RunFilesCheck};

use crate::traces::{cannot_audit, cannot_read, open, refuse, spent, trace_path};
use crate::{Console, Failure, Outcome};

/// Arguments of `mario audit`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario audit results/trace.jsonl
  mario audit results
  mario audit trace.jsonl.gz --format json --limit 1000 > findings.json
  mario audit large/trace.jsonl --no-decisions")]
pub struct Arguments {
    /// A trace, plain or compressed with gzip, or the directory of a run
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// How to print the findings
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Trust recorded decisions instead of recomputing each from its facts
    #[arg(long)]
    pub no_decisions: bool,
    /// Print only the first N findings; all are counted
    #[arg(long, value_name = "N", default_value_t = Options::default().limit)]
    pub limit: usize,
    /// Spend at most N inferences (calls of a predicate) on recomputing decisions
    #[arg(long, value_name = "N", default_value_t = INFERENCE_BUDGET_DEFAULT, conflicts_with = "no_decisions")]
    pub budget: u64,
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

The state of nodes, instances and users is replayed from the trace alone, and each record is checked against it: hardware is \
never allocated twice; instances do not appear or vanish without an operation; an inhibited operation has no effect, and the \
recorded reason holds; targets are neighbours; an agent performs at most one operation per cycle, the one it proposed; agents \
observe and remember what they should; and each decision follows from the policy and the facts recorded with it.

For the directory of a run, summary.json, run.json and the tables are recomputed from the trace and compared. The report \
ends with what was checked, what had to be taken as recorded because no other record confirms it, and what could not be checked.

The policies are part of the trace. Recomputing a decision has a budget of inferences, and so has the whole trace (--budget). \
When the budget of the trace is exhausted, the remaining decisions are not checked, and the exit code is 2.

A truncated trace is checked up to its last whole line. The exit code is 1 if there are findings, and 2 if the file cannot be \
read or is not a trace.";

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    let path = trace_path(&arguments.trace);
    let report = report(arguments, &path, console)?;
    console.write_data(|stdout| match arguments.format {
        Format::Text => write!(stdout, "{report}"),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *stdout, &report)?;
            writeln!(stdout)
        }
    })?;
    if let Some(line) = report.spent_at {
        let title = format!("the policies in `{}` take too long to decide from line {line} on", path.display());
        let hint = "allow more with --budget, or take decisions as recorded with --no-decisions";
        return Err(Failure::input(spent(&title, arguments.budget).hint(hint)));
    }
    Ok(if report.is_clean() { Outcome::Done } else { Outcome::CheckFailed })
}

/// Audits the trace, and the other files of the run if a directory was named.
fn report(arguments: &Arguments, path: &Path, console: &Console) -> Result<AuditReport, Failure> {
    let input = open(path, "auditing", console).map_err(|error| cannot_read(path, &error))?;
    let decisions = if arguments.no_decisions { DecisionCheck::AsRecorded } else { DecisionCheck::Recompute };
    let options = Options { decisions, limit: arguments.limit, inferences: arguments.budget };
    let reader = TraceReader::new(input).map_err(|error| cannot_audit(path, error))?;
    let audit = Audit::new(Arc::clone(reader.header()), options);
    let mut report = audit.read(reader, &mut |_| ()).map_err(|error| cannot_audit(path, error))?;
    if arguments.trace.is_dir() {
        let checked = check_files(&arguments.trace, path, console)?;
        report.add_beside(checked.findings, &checked.checked, checked.unchecked);
    }
    Ok(report)
}

/// Checks the other files of a run against its trace. The trace is read a second time, because the auditor shares no
/// reader with anyone.
fn check_files(directory: &Path, path: &Path, console: &Console) -> Result<RunFilesCheck, Failure> {
    let cannot_read_beside =
        |error: io::Error| Failure::file(format!("cannot read what is beside `{}`", path.display()), &error);
    let input = open(path, "checking tables", console).map_err(|error| cannot_read(path, &error))?;
    let mut reader = mario_trace::reader::TraceReader::new(input).map_err(|error| refuse(path, &error))?;
    let mut files = RunFiles::open(directory, reader.header()).map_err(cannot_read_beside)?;
    while let Some(record) = reader.next_record().map_err(|error| refuse(path, &error))? {
        files.read(&record).map_err(cannot_read_beside)?;
    }
    files.finish().map_err(cannot_read_beside)
}
