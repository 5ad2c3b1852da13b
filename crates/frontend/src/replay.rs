//! Replays a recorded run from a given time on under another policy, and compares the two.

use std::ops::Range;
use std::path::{Path, PathBuf};

use mario_experiments::replay::{CountsSince, table};
use mario_policy::PolicyFunctions;
use mario_scenario::Files;
use mario_simulator::{Detail, IfExists, OutputOptions, RunOptions};
use mario_trace::reader::TraceReader;
use serde_json::{Value, json};

use crate::checkpoint_interval::CheckpointInterval;
use crate::failure::Failure;
use crate::run::{NewRun, Observer, store};
use crate::scenarios::Choices;
use crate::snapshots::Snapshot;
use crate::traces::{Reading, cannot_read, open, refuse, trace_path};

/// What to replay.
pub struct Replay<'a> {
    /// The recorded run: a trace, or the directory of a run.
    pub recorded: &'a Path,
    /// Its state at the time `from`.
    pub snapshot: &'a Snapshot,
    /// The time at which the other policies take over, in milliseconds.
    pub from: f64,
    /// The policies from then on: `POLICY` for all applications, `APP=POLICY` for one.
    pub policies: Vec<String>,
    /// Reads the files of these policies.
    pub files: Box<dyn Files + 'a>,
    /// Host functions that decide for the policies whose texts name them.
    pub functions: PolicyFunctions,
    /// The directory for the run; with `None`, the first unused one of `runs/SCENARIO-1`, `runs/SCENARIO-2` and so on.
    pub out: Option<PathBuf>,
    /// What to do if the directory is not empty.
    pub existing: IfExists,
}

/// A run that replayed another one.
pub struct Replayed {
    /// The directory of the run.
    pub directory: PathBuf,
    /// The time at which the other policies took over, in milliseconds.
    pub from: f64,
    /// What was recorded from then on.
    pub recorded: CountsSince,
    /// What happened under the other policies instead.
    pub replayed: CountsSince,
}

impl Replayed {
    /// The two side by side, as a table.
    pub fn text(&self) -> String {
        table(self.from, &self.recorded, &self.replayed)
    }

    /// The counts of both.
    pub fn json(&self) -> Value {
        json!({ "recorded": self.recorded.json(), "replayed": self.replayed.json() })
    }
}

/// Runs the scenario of a snapshot to its end under other policies, stores the run, and compares it with the recorded
/// one.
pub fn replay(replay: Replay<'_>, observer: &mut dyn Observer, reading: &dyn Reading) -> Result<Replayed, Failure> {
    let Replay { recorded, snapshot, from, policies, files, functions, out, existing } = replay;
    let mut document = snapshot.document();
    Choices { policies, ..Choices::default() }.apply(&mut document);
    let new = NewRun {
        document,
        files,
        functions,
        options: RunOptions::default(),
        keep: OutputOptions { detail: Detail::Full, messages: false },
        regret: false,
        out,
        existing,
        every: CheckpointInterval::DEFAULT,
    };
    let directory = store(new, observer)?.directory;
    let recorded = counts(&trace_path(recorded), from..f64::INFINITY, reading)?;
    let begin = if snapshot.is_exact { from } else { 0.0 };
    // A live run may have ended before its scenario: only as much of the replayed run is comparable.
    let end = if recorded.is_live { begin + recorded.duration } else { f64::INFINITY };
    let replayed = counts(&trace_path(&directory), begin..end, reading)?;
    Ok(Replayed { directory, from, recorded, replayed })
}

fn counts(path: &Path, part: Range<f64>, reading: &dyn Reading) -> Result<CountsSince, Failure> {
    let input = open(path, "reading", reading).map_err(|error| cannot_read(path, &error))?;
    let reader = TraceReader::new(input).map_err(|error| refuse(path, &error))?;
    CountsSince::read(reader, part).map_err(|error| refuse(path, &error))
}
