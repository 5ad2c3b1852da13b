//! Checkpoints of simulated runs.
//!
//! A checkpoint ends with a checksum, which no mutation would get right. So an input is only the content of a
//! checkpoint; the target compresses it and computes the checksum.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use lz4_flex::block::{compress, decompress};
use mario_domain::Time;
use mario_scenario::{Document, NoFiles, Resolved};
use mario_simulator::{
    Checkpoint, Detail, IfExists, OutputOptions, ResumeError, Reuse, RunDirectory, RunOptions, Simulation,
};

use super::{Outcome, Target};
use crate::scratch::Scratch;

/// How long a resumed run continues, in calls of `wants_pause`. It continues because some errors of a checkpoint only
/// show in use.
const PAUSE_CHECKS: u32 = 1_000;

/// Resumes a run with bytes as the content of a checkpoint file. The first byte selects the file: `0` for
/// `checkpoint.scenario`, anything else for `checkpoint`.
pub(super) const CHECKPOINT: Target =
    Target { name: "checkpoint", reads: "a checkpoint", run: checkpoint, seeds, pieces: &[], inputs: 150 };

/// The files of an interrupted run.
struct Interrupted {
    files: Vec<(String, Vec<u8>)>,
    /// The first line of its file `checkpoint`.
    opening: Vec<u8>,
    state: Vec<u8>,
    scenario: Vec<u8>,
}

static INTERRUPTED: LazyLock<Interrupted> = LazyLock::new(|| {
    let scratch = Scratch::new("interrupted");
    let path = scratch.path().join("run");
    let resolved = small_world();
    let (mut simulation, mut kept) = begin(&resolved, &path);
    let mut left = 3;
    simulation.run_until_pause(Time::NEVER, kept.recorder(), || {
        left -= 1;
        left == 0
    });
    assert!(!simulation.is_over(), "the run is interrupted");
    kept.save(&simulation).expect("the temporary directory is writable");
    let entries = fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry"));
    let files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).expect("a file")))
        .collect();
    let content = |name: &str| {
        let (_, file) = files.iter().find(|(known, _)| known == name).expect("a checkpoint");
        unpacked(file)
    };
    let ((opening, state), (_, scenario)) = (content("checkpoint"), content("checkpoint.scenario"));
    Interrupted { files, opening, state, scenario }
});

fn small_world() -> Resolved {
    let mut document = Document::preset("paper").expect("it ships");
    let keys = ["topology.size=2", "mobility.users=6", "duration=3000"];
    document.set(&keys.map(str::to_owned));
    document.resolve(&mut NoFiles).expect("a scenario")
}

fn begin<'a>(resolved: &'a Resolved, path: &Path) -> (Simulation<'a>, RunDirectory<'a>) {
    let options = RunOptions { threads: 1, reuse: Reuse::Proposals };
    let simulation = Simulation::new(&resolved.scenario, options).expect("it can be run");
    let keep = OutputOptions { detail: Detail::Full, messages: false };
    (simulation, RunDirectory::create(path, resolved, keep, IfExists::Refuse).expect("a new directory"))
}

/// The trace of a complete run.
pub(super) fn finished_trace() -> Vec<u8> {
    let scratch = Scratch::new("finished");
    let path = scratch.path().join("run");
    let resolved = small_world();
    let (mut simulation, mut kept) = begin(&resolved, &path);
    let statistics = simulation.run(kept.recorder());
    kept.complete(&resolved.scenario, statistics).expect("the temporary directory is writable");
    fs::read(path.join("trace.jsonl")).expect("a trace")
}

fn seeds() -> Vec<Vec<u8>> {
    let Interrupted { state, scenario, .. } = &*INTERRUPTED;
    vec![[b"1", state.as_slice()].concat(), [b"0", scenario.as_slice()].concat()]
}

/// Returns the first line of a checkpoint file, and its content.
fn unpacked(file: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let line = file.iter().position(|byte| *byte == b'\n').expect("a first line") + 1;
    let (mut content, mut packed) = (Vec::new(), &file[line..file.len() - 4]);
    while let Some((numbers, rest)) = packed.split_first_chunk::<8>() {
        let number = |at: usize| u32::from_le_bytes(numbers[at..at + 4].try_into().expect("four bytes")) as usize;
        content.extend(decompress(&rest[..number(0)], number(4)).expect("it was packed"));
        packed = &rest[number(0)..];
    }
    (file[..line].to_vec(), content)
}

/// Returns a checkpoint file, and its checksum.
fn packed(opening: &[u8], content: &[u8]) -> (Vec<u8>, u32) {
    let mut file = opening.to_vec();
    for chunk in content.chunks(1 << 20) {
        let packed = compress(chunk);
        for number in [packed.len(), chunk.len()] {
            file.extend_from_slice(&(number as u32).to_le_bytes());
        }
        file.extend_from_slice(&packed);
    }
    let checksum = crc32fast::hash(&file);
    file.extend_from_slice(&checksum.to_le_bytes());
    (file, checksum)
}

fn checkpoint(bytes: &[u8]) -> Outcome {
    let Interrupted { files, opening, state, .. } = &*INTERRUPTED;
    let Some((which, content)) = bytes.split_first() else { return Outcome::Rejected };
    let scratch = Scratch::new("checkpoint");
    let path = scratch.path();
    for (name, file) in files {
        fs::write(path.join(name), file).expect("the temporary directory is writable");
    }
    let state = if *which == b'0' {
        let (file, checksum) = packed(opening, content);
        // The state begins with the size and the checksum of the file `checkpoint.scenario`.
        let (_, rest): ((u64, u32), _) = postcard::take_from_bytes(state).expect("a digest");
        let digest = postcard::to_extend(&(file.len() as u64, checksum), Vec::new()).expect("two numbers");
        fs::write(path.join("checkpoint.scenario"), file).expect("the temporary directory is writable");
        [&digest, rest].concat()
    } else {
        content.to_vec()
    };
    fs::write(path.join("checkpoint"), packed(opening, &state).0).expect("the temporary directory is writable");
    match resumed(path) {
        // A panic of the resumed run, which `guarded` returns as an error.
        Err(ResumeError::Contradictory { .. }) => Outcome::Rejected,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            Outcome::Rejected
        }
        Ok(()) => Outcome::Accepted,
    }
}

/// Resumes the run in a directory, and continues it for a while.
fn resumed(path: &Path) -> Result<(), ResumeError> {
    Checkpoint::guarded(path, || {
        let checkpoint = Checkpoint::open(path)?;
        let (mut simulation, mut kept) = checkpoint.resume(1)?;
        let mut left = PAUSE_CHECKS;
        simulation.run_until_pause(Time::NEVER, kept.recorder(), || {
            left -= 1;
            left == 0
        });
        Ok(())
    })?
}
