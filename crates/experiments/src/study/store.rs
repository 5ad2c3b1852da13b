//! The directory in which the runs of a study are stored.
//!
//! | file | content |
//! |---|---|
//! | `study.json` | the identity of the study: program, scenario, variants, policies, seeds, fingerprints of inputs |
//! | `runs.jsonl` | one line for each run: variant, policy, seed, and all figures |
//! | `runs.csv` | the content of `runs.jsonl` as a table |
//! | `runs/` | for the seeds whose runs are kept, the complete runs with their traces |
//!
//! Each run is appended to `runs.jsonl` when it has finished. At the end the file is rewritten, sorted by variant,
//! policy and seed, so that its content does not depend on the order in which the runs finished.

use std::error::Error;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use mario_simulator::write_atomically;
use serde::{Deserialize, Serialize};

use super::results::{Identity, MergeError, Results, RunKey};
use crate::measures::Values;

/// The format version of `study.json`.
const FORMAT: u64 = 1;

/// The file with the identity of a study.
pub const STUDY: &str = "study.json";
const RUNS: &str = "runs.jsonl";

/// An open directory to which runs are appended.
pub struct Store {
    directory: OwnDirectory,
    runs: File,
}

/// A directory that is locked against other processes while this value exists, if the system can lock directories.
pub struct OwnDirectory {
    path: PathBuf,
    _lock: Option<File>,
}

/// Why runs cannot be stored, or stored ones cannot be used.
#[derive(Debug)]
pub enum StoreError {
    /// Another process uses the directory.
    Busy(PathBuf),
    /// The directory has no `study.json`.
    NotAStudy(PathBuf),
    /// The directory or a file in it cannot be read or written.
    File(PathBuf, io::Error),
    /// A file or line is malformed, or has another format version.
    Content(PathBuf, String),
    /// The stored runs cannot be merged with the runs to add.
    Merge(PathBuf, MergeError),
}

#[derive(Serialize, Deserialize)]
struct StudyFile {
    mario_study: u64,
    #[serde(flatten)]
    identity: Identity,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    key: RunKey,
    figures: Values,
}

impl Store {
    /// Opens or creates a directory, locks it against other processes, reads the runs in it, and merges `identity` into
    /// theirs. Fails if another process has locked the directory, or if it has other content or runs of an incompatible
    /// study.
    pub fn open(directory: &Path, identity: Identity) -> Result<(Store, Results), StoreError> {
        let failed = |error| StoreError::File(directory.to_owned(), error);
        let own = OwnDirectory::open(directory)?;
        let is_empty = fs::read_dir(directory).map_err(failed)?.next().is_none();
        let notes = identity.notes.clone();
        let mut results = if is_empty {
            Results::new(identity)
        } else {
            let mut known = load(directory)?;
            let merged = known.merge(Results::new(identity));
            merged.map_err(|error| StoreError::Merge(directory.to_owned(), error))?;
            known
        };
        results.identity.notes = notes;
        write_identity(directory, &results.identity)?;
        // Drops a last line that was truncated by an interruption, so that appended runs start on a new line.
        write_runs(directory, &results)?;
        let path = directory.join(RUNS);
        let runs = OpenOptions::new().append(true).open(&path).map_err(|error| StoreError::File(path, error))?;
        Ok((Store { directory: own, runs }, results))
    }

    /// Appends a run to `runs.jsonl`.
    pub(super) fn append(&mut self, key: &RunKey, values: &Values) -> Result<(), StoreError> {
        let line = line(key, values);
        let failed = |error| StoreError::File(self.directory.path.join(RUNS), error);
        self.runs.write_all(line.as_bytes()).map_err(failed)
    }

    /// Rewrites `study.json`, `runs.jsonl` and `runs.csv`, with the runs in the order of tables.
    pub(super) fn finish(self, results: &Results) -> Result<(), StoreError> {
        save(&self.directory, results)
    }
}

impl OwnDirectory {
    /// Creates a directory if necessary, and locks it against other processes. Fails if another process has locked it.
    pub fn open(directory: &Path) -> Result<OwnDirectory, StoreError> {
        fs::create_dir_all(directory).map_err(|error| StoreError::File(directory.to_owned(), error))?;
        // On systems where directories cannot be opened or locked, the directory is not protected against other
        // processes.
        let lock = File::open(directory).ok();
        match lock.as_ref().map(File::try_lock) {
            Some(Err(TryLockError::WouldBlock)) => Err(StoreError::Busy(directory.to_owned())),
            _ => Ok(OwnDirectory { path: directory.to_owned(), _lock: lock }),
        }
    }
}

/// Reads the runs in a directory.
pub fn load(directory: &Path) -> Result<Results, StoreError> {
    let path = directory.join(STUDY);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && directory.is_dir() => {
            return Err(StoreError::NotAStudy(directory.to_owned()));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(StoreError::File(directory.to_owned(), error));
        }
        Err(error) => return Err(StoreError::File(path, error)),
        Ok(text) => text,
    };
    let study: StudyFile =
        serde_json::from_str(&text).map_err(|error| StoreError::Content(path.clone(), error.to_string()))?;
    if study.mario_study != FORMAT {
        let message = format!("it has format {}; this mario reads {FORMAT}", study.mario_study);
        return Err(StoreError::Content(path, message));
    }
    let mut results = Results::new(study.identity);
    let path = directory.join(RUNS);
    let mut input = BufReader::new(File::open(&path).map_err(|error| StoreError::File(path.clone(), error))?);
    let mut text = String::new();
    for number in 1.. {
        text.clear();
        input.read_line(&mut text).map_err(|error| StoreError::File(path.clone(), error))?;
        // A last line without a line break was truncated when the program was stopped.
        if !text.ends_with('\n') {
            break;
        }
        let line: Line = serde_json::from_str(&text)
            .map_err(|error| StoreError::Content(path.clone(), format!("line {number}: {error}")))?;
        results.runs.insert(line.key, line.figures);
    }
    Ok(results)
}

/// Writes `study.json`, `runs.jsonl` and `runs.csv` into a directory, replacing existing ones.
pub fn save(directory: &OwnDirectory, results: &Results) -> Result<(), StoreError> {
    write_identity(&directory.path, &results.identity)?;
    write_runs(&directory.path, results)?;
    replace(&directory.path.join("runs.csv"), &results.csv())
}

fn write_identity(directory: &Path, identity: &Identity) -> Result<(), StoreError> {
    let study = StudyFile { mario_study: FORMAT, identity: identity.clone() };
    let mut text = serde_json::to_string_pretty(&study).expect("an identity is plain data");
    text.push('\n');
    replace(&directory.join(STUDY), &text)
}

fn write_runs(directory: &Path, results: &Results) -> Result<(), StoreError> {
    let text: String = results.in_order().map(|(key, values)| line(key, values)).collect();
    replace(&directory.join(RUNS), &text)
}

fn line(key: &RunKey, values: &Values) -> String {
    let line = Line { key: key.clone(), figures: values.clone() };
    let mut text = serde_json::to_string(&line).expect("a run is plain data");
    text.push('\n');
    text
}

fn replace(path: &Path, text: &str) -> Result<(), StoreError> {
    let written = write_atomically(path, |file| file.write_all(text.as_bytes()));
    written.map_err(|error| StoreError::File(path.to_owned(), error))
}

impl fmt::Display for StoreError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Busy(path) => write!(formatter, "another process keeps runs in `{}`", path.display()),
            StoreError::NotAStudy(path) => {
                write!(formatter, "`{}` has files in it that are no runs to add to", path.display())
            }
            StoreError::File(path, _) => write!(formatter, "cannot use `{}`", path.display()),
            StoreError::Content(path, message) => write!(formatter, "cannot use `{}`: {message}", path.display()),
            StoreError::Merge(path, _) => write!(formatter, "cannot add to the runs in `{}`", path.display()),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            StoreError::Busy(_) | StoreError::NotAStudy(_) | StoreError::Content(..) => None,
            StoreError::File(_, error) => Some(error),
            StoreError::Merge(_, error) => Some(error),
        }
    }
}
