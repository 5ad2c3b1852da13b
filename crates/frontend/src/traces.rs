//! Finds the traces that a user names, and reports errors in them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use mario_trace::reader::ReadError;

use crate::failure::Failure;
use crate::gzip;
use crate::hints::{Diagnostic, Hint};

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
        return Failure::input(diagnostic.hint(Hint::NameRunOrLive));
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
            Failure::input(diagnostic.hint(Hint::FindTrace))
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

/// Follows the reading of a file: called with the number of bytes read so far, returns whether to continue.
pub type ReadProgress = Box<dyn FnMut(u64) -> bool>;

/// Follows the reading of large files.
pub trait Reading {
    /// Called when a file of `bytes` bytes is opened for a task, such as `comparing`.
    fn opened(&self, task: &'static str, bytes: u64) -> ReadProgress;
}

/// Opens a trace, plain or compressed, for a task.
pub fn open(path: &Path, task: &'static str, reading: &dyn Reading) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    let progress = reading.opened(task, file.metadata()?.len());
    let file = BufReader::with_capacity(1 << 16, Watched { file, read: 0, progress });
    if path.extension().is_some_and(|ending| ending == "gz") {
        return Ok(gzip::lines(file));
    }
    Ok(Box::new(file))
}

/// A file that reports how many of its bytes were read. Reading fails once its progress is not to continue.
struct Watched {
    file: File,
    read: u64,
    progress: ReadProgress,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read += count as u64;
        // Not `ErrorKind::Interrupted`, after which readers try again.
        if (self.progress)(self.read) { Ok(count) } else { Err(io::Error::other("interrupted")) }
    }
}
