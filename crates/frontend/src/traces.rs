//! Finds the traces that a user names, and reports errors in them.

use std::io;
use std::path::{Path, PathBuf};

use mario_diagnostics::Diagnostic;
use mario_trace::reader::ReadError;

use crate::failure::Failure;

/// The name of the trace in the directory of a run.
const TRACE_NAME: &str = "trace.jsonl";

/// The path of the trace that the user named. For a directory, the path of the trace in it, which may be compressed.
pub fn trace_path(typed: &Path) -> PathBuf {
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

/// The failure for a trace that cannot be read.
pub fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    let directory = path.parent().filter(|_| path.ends_with(TRACE_NAME)).filter(|directory| directory.is_dir());
    if let (io::ErrorKind::NotFound, Some(directory)) = (error.kind(), directory) {
        let diagnostic = Diagnostic::error(format!("`{}` holds no run: it has no {TRACE_NAME}", directory.display()));
        return Failure::input(diagnostic.hint("name a directory that `mario run` or `mario live` has made"));
    }
    Failure::file(format!("cannot read `{}`", path.display()), error)
}

/// The failure for a trace that cannot be read or is not valid.
pub fn refuse(path: &Path, error: &ReadError) -> Failure {
    let shown = path.display();
    match error {
        ReadError::Io { error, .. } => cannot_read(path, error),
        ReadError::NotATrace => {
            let diagnostic = Diagnostic::error(format!("`{shown}` is not a trace: its first line is not a header"));
            Failure::input(diagnostic.hint("`mario run` leaves a trace as trace.jsonl in the directory of its results"))
        }
        ReadError::Format(_) => {
            let diagnostic = Diagnostic::error(format!("cannot read `{shown}`")).caused_by(error);
            Failure::input(diagnostic.hint("use the version of mario that wrote it"))
        }
        ReadError::Header(_) | ReadError::Record { .. } => {
            let diagnostic = Diagnostic::error(format!("`{shown}` is not a valid trace")).caused_by(error);
            Failure::input(diagnostic.hint("docs/trace.md describes the format"))
        }
    }
}
