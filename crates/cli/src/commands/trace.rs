//! `mario trace …`.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use mario_frontend::Diagnostic;
use mario_trace::join::{JoinError, JoinProblem, Joined, RunContext, join, join_run};

use crate::replacing::refuse_to_replace;
use crate::{Console, Failure, Outcome};

/// Arguments of `mario trace`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario trace join data-a data-b --out colony.jsonl")]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// A subcommand of `mario trace`.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Join the parts written by the nodes of a colony into one trace.
    #[command(long_about = JOIN_ABOUT)]
    Join(JoinArguments),
}

const JOIN_ABOUT: &str = "Join the parts written by the nodes of a colony into one trace.

Each daemon writes its parts into `trace` in its data directory. The records are ordered by their hybrid logical clocks and by \
the ids of transfers: an arrival comes after its departure. `mario audit` checks the trace, and `mario report` shows it.

A node whose data directory is missing appears only in the parts of its neighbours. The same parts yield the same trace.";

/// Arguments of `mario trace join`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  mario trace join data-a data-b --out colony.jsonl
  mario trace join runs/live-1/nodes/*/data --out colony.jsonl")]
pub struct JoinArguments {
    /// The data directories of the nodes, or the directories with their parts
    #[arg(value_name = "DIR", required = true)]
    pub directories: Vec<PathBuf>,
    /// Where to write the trace; an existing file is replaced only if it is a trace
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, console: &Console) -> Result<Outcome, Failure> {
    match &arguments.command {
        Command::Join(arguments) => join_parts(arguments, console),
    }
}

fn join_parts(arguments: &JoinArguments, console: &Console) -> Result<Outcome, Failure> {
    let joined = join_directories(&arguments.directories, None, &arguments.out)?;
    tell(&joined, &arguments.out, console);
    Ok(Outcome::Done)
}

/// Joins the parts in these directories into one trace, in the file `out`. `run` has what else is known of the run.
pub(super) fn join_directories(
    directories: &[PathBuf],
    run: Option<&RunContext>,
    out: &Path,
) -> Result<Joined, Failure> {
    let mut parts = Vec::new();
    for directory in directories {
        parts.push(parts_in(directory)?);
    }
    refuse_to_replace(out, |opening| opening.starts_with(b"{\"mario_trace\""), "a trace", "--out")?;
    let unfinished = unfinished_name(out);
    let cannot_write = |error: &std::io::Error| Failure::file(format!("cannot write `{}`", out.display()), error);
    let file = File::create(&unfinished).map_err(|error| cannot_write(&error))?;
    let open = |path: &Path| -> std::io::Result<Box<dyn std::io::BufRead>> {
        Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(path)?)))
    };
    let file = BufWriter::with_capacity(1 << 16, file);
    let joined = match run {
        Some(run) => join_run(&parts, run, &open, file),
        None => join(&parts, &open, file),
    };
    let joined = joined.map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        failed(&error, out)
    });
    let (_, joined) = joined?;
    fs::rename(&unfinished, out).map_err(|error| cannot_write(&error))?;
    Ok(joined)
}

fn tell(joined: &Joined, out: &Path, console: &Console) {
    let Joined { nodes, silent, lines, reordered, unordered, .. } = joined;
    console.inform(format!("{}: {nodes} nodes, {lines} lines of their parts", out.display()));
    if *reordered > 0 {
        console.inform(format!(
            "{reordered} records were moved after their causes, although their timestamps were earlier"
        ));
    }
    if *unordered > 0 {
        console.inform(format!("note: {unordered} records come before their causes: the parts contradict each other"));
    }
    if !silent.is_empty() {
        let names: Vec<String> = silent.iter().map(ToString::to_string).collect();
        console.inform(format!(
            "note: there are no parts of {}; `mario audit` cannot check what they did",
            names.join(", ")
        ));
    }
}

/// Returns the parts in a directory, or in its subdirectory `trace`, in the order in which they were written.
fn parts_in(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let inside = directory.join("trace");
    let directory = if inside.is_dir() { &inside } else { directory };
    let entries = fs::read_dir(directory)
        .map_err(|error| Failure::file(format!("cannot read the directory `{}`", directory.display()), &error))?;
    let number = |path: &Path| -> Option<u64> { path.file_name()?.to_str()?.strip_suffix(".jsonl")?.parse().ok() };
    let mut parts: Vec<(u64, PathBuf)> =
        entries.flatten().filter_map(|entry| Some((number(&entry.path())?, entry.path()))).collect();
    parts.sort();
    if parts.is_empty() {
        let diagnostic = Diagnostic::error(format!("`{}` has no parts of a trace", directory.display()));
        let hint = "name the data directory of a node that ran with a `bytes_max` above 0 in `[trace]`";
        return Err(Failure::input(diagnostic.hint(hint)));
    }
    Ok(parts.into_iter().map(|(_, path)| path).collect())
}

fn unfinished_name(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(".unfinished");
    out.with_file_name(name)
}

fn failed(error: &JoinError, out: &Path) -> Failure {
    let path = if error.path.as_os_str().is_empty() { out } else { &error.path };
    let title = format!("cannot join `{}`", path.display());
    match &error.problem {
        JoinProblem::Io(cause) => Failure::file(title, cause),
        JoinProblem::Version(_) => {
            Failure::input(Diagnostic::error(title).caused_by(error).hint("use the version of mario that wrote it"))
        }
        JoinProblem::Mixed { .. } => {
            let hint = "each node has a data directory of its own: name each one";
            Failure::input(Diagnostic::error(title).caused_by(error).hint(hint))
        }
        JoinProblem::NotAPart | JoinProblem::Record(_) | JoinProblem::Empty => {
            Failure::input(Diagnostic::error(title).caused_by(error).hint("docs/trace.md describes parts of traces"))
        }
    }
}
