//! The table of targets.

mod applications;
mod checkpoints;
mod language;
mod nodes;
mod requests;
mod scenarios;
mod traces;
mod tracks;

use std::fs;
use std::path::{Path, PathBuf};

/// Whether a reader accepted an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The reader returned a value, or a server answered the request as valid.
    Accepted,
    /// The reader returned an error, or a server did not answer, or answered that the request is malformed.
    Rejected,
}

/// A reader of untrusted bytes, and how it is tested.
pub struct Target {
    /// The name, here and in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// A description of the format that it reads.
    pub reads: &'static str,
    /// Reads an input. Panics if the reader violates an invariant.
    pub run: fn(&[u8]) -> Outcome,
    /// Returns the inputs that mutations start from, such as files of the repository, texts in this crate, or files of
    /// a small run. At least half of them are valid.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format, which mutations insert.
    pub pieces: &'static [&'static str],
    /// How many inputs the tests run.
    pub inputs: u64,
}

/// All targets.
pub const TARGETS: [Target; 18] = [
    language::READER,
    language::MACHINE,
    language::PROGRAM,
    language::KNOWLEDGE_BASE,
    scenarios::SCENARIO,
    scenarios::ATTACHMENTS,
    scenarios::GRAPH,
    tracks::TRACKS,
    traces::TRACE,
    traces::TRACE_PART,
    checkpoints::CHECKPOINT,
    nodes::WIRE,
    nodes::NODE_CONFIG,
    nodes::CERTIFICATE,
    applications::APPLICATION,
    applications::APPLICATION_FILE,
    requests::INGRESS,
    requests::OPERATORS,
];

/// Returns the target with this name; `None` if there is none.
pub fn target(name: &str) -> Option<&'static Target> {
    static ALL: [Target; TARGETS.len()] = TARGETS;
    ALL.iter().find(|target| target.name == name)
}

impl Outcome {
    /// Returns `Accepted` if `is_accepted`, else `Rejected`.
    fn of(is_accepted: bool) -> Outcome {
        if is_accepted { Outcome::Accepted } else { Outcome::Rejected }
    }
}

/// A path in the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The content of a file of the repository.
fn file(path: &str) -> Vec<u8> {
    let path = repository(path);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The contents of all files in a folder of the repository whose names end with `ending`, sorted by name.
fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(repository(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(ending));
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("it is there")).collect()
}
