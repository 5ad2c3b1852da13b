//! The output directory of a run.
//!
//! | file | content |
//! |---|---|
//! | `trace.jsonl` | the events, at the chosen level of detail |
//! | `operations.csv`, `moves.csv`, `handovers.csv`, `messages.csv` | tables |
//! | `summary.json` | the figures, written when the run is complete |
//! | `run.json` | the settings with all defaults, the texts of the files that they name, and the version of mario |
//! | `measures.json` | the measures of a complete run, if the scenario asks for them (written by the caller) |
//! | `PARTIAL` | exists until the run is complete |
//! | `checkpoint`, `checkpoint.scenario` | the state from which an incomplete run can be resumed, see [`Checkpoint`](super::Checkpoint) |

#![expect(clippy::disallowed_methods, reason = "the files of a run are written and read in this directory alone")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use mario_domain::Duration;
use mario_scenario::{Resolved, Scenario, Settings};
use mario_trace::Detail;
use serde::{Deserialize, Serialize};

use super::checkpoint;
use super::digest::{Digest, DigestedFile};
use super::tables::{TableOutputs, Tables};
use super::trace::TraceRecorder;
use super::whole::write_atomically;
use crate::figures::{Figures, Regret, Tally};
use crate::recorder::Recorder;
use crate::simulation::{AcceptanceStatistics, RunStatistics};

/// Marks an incomplete run. It is the first file to be created, and is removed once all outputs are written.
pub(super) const MARKER: &str = "PARTIAL";

/// Written by `mario-frontend` after a complete run if the scenario asks for measures. It is listed here so that
/// [`IfExists::Replace`] removes it.
const MEASURES: &str = "measures.json";

/// The outputs that may be written during a run.
const OUTPUTS: [&str; 5] = ["trace.jsonl", "operations.csv", "moves.csv", "handovers.csv", "messages.csv"];

/// Written once, at the end of a run.
pub(super) const SUMMARY: &str = "summary.json";
/// Written once, at the start of a run.
pub(super) const RUN: &str = "run.json";

/// Which outputs a run writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OutputOptions {
    /// The level of detail of the trace. At [`Detail::Summary`], `moves.csv` and `handovers.csv` are not written.
    pub detail: Detail,
    /// Whether each served client request is written to `messages.csv`. Traffic as rates yields no rows.
    pub messages: bool,
}

impl OutputOptions {
    /// The outputs during a run, and whether each is enabled.
    pub(super) fn outputs(self) -> [(&'static str, bool); 5] {
        // Moves are recorded per agent, and handovers per user; both are too detailed for a summary.
        let is_single = self.detail != Detail::Summary;
        let [trace, operations, moves, handovers, messages] = OUTPUTS;
        [(trace, true), (operations, true), (moves, is_single), (handovers, is_single), (messages, self.messages)]
    }
}

/// What to do if the directory of a run is not empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IfExists {
    /// Fail.
    Refuse,
    /// Remove the files of an earlier run; fail if a process is still writing it. Other files in the directory stay.
    Replace,
}

/// Why a run cannot be stored.
#[derive(Debug)]
pub enum OutputError {
    /// The directory is not empty.
    Exists(PathBuf),
    /// Another process stores its run there.
    Busy(PathBuf),
    /// A file or the directory cannot be created, written or removed.
    Write(PathBuf, io::Error),
}

/// Stores a run in a directory. [`RunDirectory::recorder`] receives its events.
pub struct RunDirectory<'a> {
    pub(super) path: PathBuf,
    pub(super) scenario: &'a Scenario,
    pub(super) keep: OutputOptions,
    pub(super) recorders: Recorders<'a>,
    /// Locked during the run, so that no other process resumes or replaces it.
    pub(super) marker: File,
    /// The digest of `run.json`.
    pub(super) run: Digest,
    /// The digest of `checkpoint.scenario`; `None` before the first checkpoint.
    pub(super) sealed: Option<Digest>,
}

/// An output that is being written.
pub(super) type Output = BufWriter<DigestedFile>;

/// The recorders of the figures, the trace and the tables.
pub(super) type Recorders<'a> = ((Tally, Option<Regret<'a>>), (TraceRecorder<Output>, Tables<'a, Output>));

/// The content of `run.json`.
#[derive(Serialize)]
struct RunFile<'a> {
    program: &'static str,
    seed: u64,
    trace: &'static str,
    messages: bool,
    scenario: &'a Settings,
    /// The texts of the files that the scenario names, without those in `left_out`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    files: &'a BTreeMap<String, String>,
    /// The files that the scenario names and whose texts are not included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: &'a Vec<String>,
    /// The names of policies that differ from the paths under which `scenario` has them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    names: &'a BTreeMap<String, String>,
}

/// The content of `summary.json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// The name of the scenario.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// The simulated duration of the run.
    pub duration: Duration,
    /// The name of the management strategy.
    pub management: &'static str,
    /// The names of the scenario's policies for agents.
    pub policies: Vec<String>,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of users.
    pub users: usize,
    /// Client requests that were sent, including the requests of calls between applications.
    pub emitted: u64,
    /// The total number of links that the requests in `emitted` passed.
    pub hops: u64,
    /// How often the acceptance policies of nodes were evaluated and failed, and the first failure; `None` if none
    /// failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_acceptances: Option<AcceptanceStatistics>,
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Summary {
    /// Client requests that were neither served nor lost: at the end of the run they wait or are on their way.
    pub fn unanswered(&self) -> u64 {
        self.emitted.saturating_sub(self.figures.served).saturating_sub(self.figures.lost)
    }

    /// Summarises a run.
    pub fn new(scenario: &Scenario, figures: Figures, statistics: RunStatistics) -> Summary {
        Summary {
            scenario: scenario.name.clone(),
            seed: scenario.seed,
            duration: scenario.duration,
            management: scenario.management.as_str(),
            policies: scenario.policies.iter().map(|policy| policy.name.clone()).collect(),
            nodes: scenario.topology.node_count(),
            users: scenario.users.len(),
            emitted: statistics.emitted,
            hops: statistics.hops,
            failed_acceptances: (statistics.acceptances.failed > 0).then_some(statistics.acceptances),
            figures,
        }
    }
}

impl<'a> RunDirectory<'a> {
    /// Starts to store a run in a directory, which is created if needed. Writes `run.json`, and opens the outputs.
    pub fn create(
        path: &Path,
        resolved: &'a Resolved,
        keep: OutputOptions,
        existing: IfExists,
    ) -> Result<RunDirectory<'a>, OutputError> {
        prepare(path, existing)?;
        let file = |name: &str| {
            let path = path.join(name);
            let file = File::create(&path).map(|file| BufWriter::new(DigestedFile::new(file)));
            file.map_err(|error| OutputError::Write(path, error))
        };
        let marker_path = path.join(MARKER);
        let marker = mark(&marker_path).map_err(|error| match error.kind() {
            // Another process has started here since the check.
            io::ErrorKind::AlreadyExists => OutputError::Busy(path.to_owned()),
            _ => OutputError::Write(marker_path, error),
        })?;
        let scenario = &resolved.scenario;
        let run = RunFile {
            program: concat!("mario ", env!("CARGO_PKG_VERSION")),
            seed: scenario.seed,
            trace: keep.detail.as_str(),
            messages: keep.messages,
            scenario: &resolved.settings,
            files: &resolved.files,
            left_out: &resolved.left_out,
            names: &resolved.names,
        };
        let run = write_json(&path.join(RUN), &run)?;
        let [trace, operations, moves, handovers, messages] = keep.outputs();
        let wanted = |(name, is_kept)| if is_kept { file(name).map(Some) } else { Ok(None) };
        let outputs = TableOutputs {
            operations: file(operations.0)?,
            moves: wanted(moves)?,
            handovers: wanted(handovers)?,
            messages: wanted(messages)?,
        };
        let trace = TraceRecorder::new(file(trace.0)?, scenario, keep.detail);
        let recorders = ((Tally::new(scenario), None), (trace, Tables::new(scenario, outputs)));
        Ok(RunDirectory { path: path.to_owned(), scenario, keep, recorders, marker, run, sealed: None })
    }

    /// Compares the placement with the best one at each activation of the managers. This may take longer than the run
    /// itself.
    #[must_use]
    pub fn with_regret(mut self, scenario: &'a Scenario) -> RunDirectory<'a> {
        self.recorders.0.1 = Some(Regret::new(scenario));
        self
    }

    /// The recorder of all events.
    pub fn recorder(&mut self) -> &mut impl Recorder {
        &mut self.recorders
    }

    /// Whether a write failed.
    pub fn is_broken(&self) -> bool {
        self.recorders.is_broken()
    }

    /// Completes a run that reached its end: finishes the outputs, writes `summary.json`, and removes the marker and
    /// the checkpoint.
    pub fn complete(self, scenario: &Scenario, statistics: RunStatistics) -> Result<Summary, OutputError> {
        let RunDirectory { path, scenario: _, keep: _, recorders, marker, run: _, sealed } = self;
        let ((tally, regret), (mut trace, tables)) = recorders;
        trace.traffic(statistics.hops);
        let failed = |error| OutputError::Write(path.clone(), error);
        let trace = trace.finish(scenario.end()).map_err(failed)?;
        let tables = tables.finish().map_err(failed)?;
        let figures = Figures { regret: regret.and_then(|regret| regret.figures()), ..tally.figures() };
        let summary = Summary::new(scenario, figures, statistics);
        write_json(&path.join(SUMMARY), &summary)?;
        drop(marker);
        if sealed.is_none() {
            remove(&path, &[MARKER])?;
            return Ok(summary);
        }
        // The outputs must be on disk before the checkpoint that could restore them is removed.
        let TableOutputs { operations, moves, handovers, messages } = tables;
        for output in [Some(trace), Some(operations), moves, handovers, messages].into_iter().flatten() {
            output.get_ref().file().sync_all().map_err(failed)?;
        }
        remove(&path, &[MARKER])?;
        remove(&path, &checkpoint::FILES)?;
        Ok(summary)
    }

    /// Closes an interrupted run. Its files stay and are marked as partial.
    pub fn break_off(self) -> Result<(), OutputError> {
        let (path, (_, (trace, tables))) = (self.path, self.recorders);
        let failed = |error| OutputError::Write(path.clone(), error);
        trace.close().map_err(failed)?;
        tables.finish().map_err(failed)?;
        Ok(())
    }
}

fn prepare(path: &Path, existing: IfExists) -> Result<(), OutputError> {
    let failed = |error| OutputError::Write(path.to_owned(), error);
    fs::create_dir_all(path).map_err(failed)?;
    let is_empty = fs::read_dir(path).map_err(failed)?.next().is_none();
    if is_empty {
        return Ok(());
    }
    if existing == IfExists::Refuse {
        return Err(OutputError::Exists(path.to_owned()));
    }
    if let Ok(marker) = File::open(path.join(MARKER))
        && let Err(TryLockError::WouldBlock) = marker.try_lock()
    {
        return Err(OutputError::Busy(path.to_owned()));
    }
    remove(path, &OUTPUTS)?;
    remove(path, &[SUMMARY, RUN, MARKER, MEASURES])?;
    remove(path, &checkpoint::FILES)
}

/// Creates the file that marks an incomplete run, and locks it while it is open. If several processes try at once, only
/// one succeeds.
pub(super) fn mark(path: &Path) -> io::Result<File> {
    let mut marker = File::create_new(path)?;
    marker.write_all(b"This run is not complete. What is here is true up to where it ends.\n")?;
    // On systems without file locks, other processes are not kept out.
    let _ = marker.try_lock();
    Ok(marker)
}

/// Removes those of these files that exist.
pub(super) fn remove(path: &Path, names: &[&str]) -> Result<(), OutputError> {
    for name in names {
        match fs::remove_file(path.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(OutputError::Write(path.join(name), error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes a JSON file atomically, and returns its digest.
fn write_json(path: &Path, content: &impl Serialize) -> Result<Digest, OutputError> {
    let mut text = Vec::new();
    serde_json::to_writer_pretty(&mut text, content).expect("writing to memory does not fail");
    text.push(b'\n');
    write_atomically(path, |file| file.write_all(&text)).map_err(|error| OutputError::Write(path.to_owned(), error))?;
    Ok(Digest::of(&text))
}

impl fmt::Display for OutputError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputError::Exists(path) => write!(formatter, "`{}` is there already and not empty", path.display()),
            OutputError::Busy(path) => write!(formatter, "the run in `{}` is going on", path.display()),
            OutputError::Write(path, _) => write!(formatter, "cannot write to `{}`", path.display()),
        }
    }
}

impl Error for OutputError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            OutputError::Exists(_) | OutputError::Busy(_) => None,
            OutputError::Write(_, error) => Some(error),
        }
    }
}
