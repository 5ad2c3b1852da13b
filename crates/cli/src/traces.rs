//! Finds, opens and reads the traces of the runs that a user names.

use std::fs;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use mario_audit::reader as audit;
use mario_frontend::Diagnostic;
use mario_frontend::traces::{self, ReadProgress, Reading};
use mario_report::{EXPLAINING_INFERENCES_DEFAULT, Explained, Run};
use mario_trace::reader::ReadError;

pub(crate) use mario_frontend::traces::{cannot_read, refuse, trace_path};

use crate::{Console, Failure};

/// Whether to explain decisions, and the budget for it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Explain {
    /// Explain them with at most this many inferences per trace.
    Within(u64),
    No,
}

/// Reads the parts of a run that a report shows. Warns if the budget did not suffice for all explanations.
pub(crate) fn read_run(typed: &Path, explain: Explain, console: &Console) -> Result<Run, Failure> {
    let path = trace_path(typed);
    let input = open(&path, "reading", console).map_err(|error| cannot_read(&path, &error))?;
    let Explain::Within(inferences) = explain else {
        return Run::read_unexplained(input).map_err(|error| refuse(&path, &error));
    };
    let mut progress = console.progress("decisions explained");
    let run = Run::read_within(input, inferences, &mut |done, all| progress.done_of(done, all));
    drop(progress);
    let run = run.map_err(|error| refuse(&path, &error))?;
    if let Some(explained) = run.explained() {
        console.show(&left_unexplained(&path, explained, inferences));
    }
    Ok(run)
}

/// A warning if the budget left decisions of a trace unexplained, or cut their explanations short.
fn left_unexplained(path: &Path, explained: Explained, inferences: u64) -> Option<Diagnostic> {
    let Explained { all, explained, cut, limit } = explained;
    let missing = all.min(limit) - explained;
    let mut parts = Vec::new();
    if missing > 0 {
        parts.push(format!("{missing} of {all} decisions are not explained"));
    }
    if cut > 0 {
        parts.push(format!("the explanations of {cut} are cut short"));
    }
    if parts.is_empty() {
        return None;
    }
    let title =
        format!("`{}`: the budget of {inferences} inferences was used up: {}", path.display(), parts.join(", "));
    let hint = "the page marks them; allow more with --budget, or explain one with `mario policy explain --run`";
    Some(Diagnostic::warning(title).hint(hint))
}

/// Like [`read_run`], for a run that may be in progress. Decisions are explained only once the run is complete, because
/// a run in progress is read repeatedly.
pub(crate) fn read_growing_run(typed: &Path, console: &Console) -> Result<Run, Failure> {
    let is_growing = typed.join("PARTIAL").exists();
    read_run(typed, if is_growing { Explain::No } else { Explain::Within(EXPLAINING_INFERENCES_DEFAULT) }, console)
}

/// The failure for a trace that the auditor cannot read. Its reader is its own, but a user need not know that.
pub(crate) fn cannot_audit(path: &Path, error: audit::ReadError) -> Failure {
    let error = match error {
        audit::ReadError::Io { line, error } => ReadError::Io { line, error },
        audit::ReadError::NotATrace => ReadError::NotATrace,
        audit::ReadError::Format(format) => ReadError::Format(format),
        audit::ReadError::Header(message) => ReadError::Header(message),
        audit::ReadError::Record { line, column, message } => ReadError::Record { line, column, message },
    };
    refuse(path, &error)
}

/// Returns a diagnostic for policies of a trace that exhausted their budget. `title` says which task is incomplete.
pub(crate) fn spent(title: &str, inferences: u64) -> Diagnostic {
    Diagnostic::error(format!("{title}: they have used all of {inferences} inferences"))
}

/// Returns the directory itself if it has a trace, or else its subdirectories that have one, sorted by name.
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

/// Opens a trace, plain or compressed, and shows the progress of reading it.
pub(crate) fn open(path: &Path, task: &'static str, console: &Console) -> io::Result<Box<dyn BufRead>> {
    traces::open(path, task, console)
}

impl Reading for Console {
    fn opened(&self, task: &'static str, bytes: u64) -> ReadProgress {
        let mut progress = self.file_progress(task, bytes);
        Box::new(move |read| {
            progress.read(read);
            true
        })
    }
}
