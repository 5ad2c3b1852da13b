//! Opens the traces that a user names.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use mario_audit::reader::ReadError;
use mario_diagnostics::Diagnostic;
use mario_experiments::report::Run;

use crate::{Failure, gzip};

/// The name of the trace in the directory of a run.
const TRACE_NAME: &str = "trace.jsonl";

/// Reads what is shown of a run.
pub(crate) fn read_run(typed: &Path) -> Result<Run, Failure> {
    read_run_with(typed, Run::read)
}

/// The same for a run that is read again and again as it grows.
pub(crate) fn read_growing_run(typed: &Path) -> Result<Run, Failure> {
    read_run_with(typed, if typed.join("PARTIAL").exists() { Run::read_unexplained } else { Run::read })
}

fn read_run_with(typed: &Path, read: impl Fn(Box<dyn BufRead>) -> Result<Run, ReadError>) -> Result<Run, Failure> {
    let path = trace_path(typed);
    let input = open(&path).map_err(|error| cannot_read(&path, &error))?;
    read(input).map_err(|error| refuse(&path, &error))
}

/// The trace that is meant: the one in the directory, if a directory was named.
pub(crate) fn trace_path(typed: &Path) -> PathBuf {
    let inside = typed.join(TRACE_NAME);
    let compressed = typed.join(format!("{TRACE_NAME}.gz"));
    if !typed.is_dir() {
        typed.to_path_buf()
    } else if !inside.exists() && compressed.exists() {
        compressed
    } else {
        inside
    }
}

/// The runs that a directory means: itself, if it has a trace, else those in it, by name.
pub(crate) fn runs_in(directory: &Path) -> Vec<PathBuf> {
    let has_trace = |path: &Path| path.is_dir() && trace_path(path).exists();
    if has_trace(directory) {
        return vec![directory.to_path_buf()];
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| has_trace(path)).collect();
    runs.sort();
    runs
}

/// Opens a trace, plain or compressed.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = BufReader::with_capacity(1 << 16, File::open(path)?);
    if path.extension().is_some_and(|ending| ending == "gz") {
        return Ok(gzip::lines(file));
    }
    Ok(Box::new(file))
}

/// A trace cannot be read.
pub(crate) fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    Failure::file(format!("cannot read `{}`", path.display()), error)
}

/// What was read is no trace.
pub(crate) fn refuse(path: &Path, error: &ReadError) -> Failure {
    let shown = path.display();
    match error {
        ReadError::Io { error, .. } => cannot_read(path, error),
        ReadError::NotATrace => {
            let diagnostic = Diagnostic::error(format!("`{shown}` is no trace")).caused_by(error);
            Failure::input(diagnostic.hint("`mario run` leaves a trace as trace.jsonl in the directory of its results"))
        }
        ReadError::Format(_) => {
            let diagnostic = Diagnostic::error(format!("cannot read `{shown}`")).caused_by(error);
            Failure::input(diagnostic.hint("use the version of mario that wrote it"))
        }
        ReadError::Header(_) | ReadError::Record { .. } => {
            let diagnostic = Diagnostic::error(format!("`{shown}` is no valid trace")).caused_by(error);
            Failure::input(diagnostic.hint("docs/trace.md describes the format"))
        }
    }
}
