//! Writes checkpoints of a run, and resumes from them.
//!
//! A checkpoint adds two files to the run directory. `checkpoint.scenario` is written once: the resolved scenario with
//! the texts of all policies, so that resuming needs no other input. `checkpoint` is rewritten each time: the state of
//! the simulation and of its recorders, and the digests (length and checksum) of `checkpoint.scenario`, of `run.json`
//! and of each output. Resuming verifies the digests and truncates the outputs to their lengths at the checkpoint.
//! Events after the checkpoint are simulated and written again.

#![expect(clippy::disallowed_methods, reason = "the files of a run are written and read in this directory alone")]

use std::error::Error;
use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use mario_scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::digest::{Digest, DigestedFile};
use super::directory::{MARKER, Output, OutputError, OutputOptions, RUN, RunDirectory, SUMMARY, mark, remove};
use super::sealed::{self, CHECKPOINT_VERSION, PROGRAM, SealError};
use super::tables::{TableOutputs, Tables};
use super::trace::TraceRecorder;
use crate::figures::{Regret, Tally};
use crate::simulation::{Reuse, RunOptions, Simulation, SimulationError};
use crate::validation::{TableSizes, scenario_is_consistent};

const CHECKPOINT: &str = "checkpoint";
const SCENARIO: &str = "checkpoint.scenario";

/// All files of a checkpoint, including the temporary one.
pub(super) const FILES: [&str; 3] = [CHECKPOINT, SCENARIO, "checkpoint.new"];

/// The last checkpoint of an incomplete run, with the lock on its directory.
pub struct Checkpoint {
    directory: PathBuf,
    scenario: Scenario,
    head: Head,
    /// The bytes after the head.
    state: Vec<u8>,
    marker: File,
}

/// The head of a checkpoint, which is decoded before the state.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head {
    scenario: Digest,
    /// The digest of `run.json`.
    run: Digest,
    keep: OutputOptions,
    reuse: Reuse,
    has_regret: bool,
    /// The digests of the enabled outputs, in the order of [`OutputOptions::outputs`].
    outputs: Vec<Digest>,
}

/// Why a run cannot be resumed.
#[derive(Debug)]
pub enum ResumeError {
    /// There is no such directory, or it holds no run.
    NoRun(PathBuf),
    /// The run is complete.
    Complete(PathBuf),
    /// Another process runs it.
    Busy(PathBuf),
    /// It has no checkpoint.
    NoCheckpoint(PathBuf),
    /// This file of the checkpoint is damaged, truncated or inconsistent, or it is `run.json`, which has changed since.
    Damaged(PathBuf),
    /// The checkpoint has another format.
    Version {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        found: u32,
        /// The version that this program reads.
        read: u32,
    },
    /// Another build of the program wrote the checkpoint.
    Foreign {
        /// The file.
        path: PathBuf,
        /// The program that wrote it.
        by: String,
        /// This program.
        this: &'static str,
    },
    /// An output is shorter than at the checkpoint, or missing.
    Short {
        /// The output.
        path: PathBuf,
        /// Its size at the checkpoint, in bytes.
        saved: u64,
        /// Its current size in bytes; `None` if it is missing.
        found: Option<u64>,
    },
    /// The bytes of an output up to the checkpoint have changed.
    Altered {
        /// The output.
        path: PathBuf,
        /// Its size at the checkpoint, in bytes.
        saved: u64,
    },
    /// Resuming panicked: the checkpoint passes validation but contradicts itself, or the program has a bug.
    Contradictory {
        /// The checkpoint.
        path: PathBuf,
        /// The message of the panic.
        message: String,
    },
    /// A file cannot be read or changed.
    File(PathBuf, io::Error),
    /// The scenario cannot be run.
    Simulation(SimulationError),
}

impl RunDirectory<'_> {
    /// Writes a checkpoint that replaces the previous one. Returns its size in bytes.
    pub fn save(&mut self, simulation: &Simulation<'_>) -> Result<u64, OutputError> {
        let path = self.path.clone();
        let failed = |error| OutputError::Write(path.clone(), error);
        let mut outputs = Vec::new();
        for output in self.outputs() {
            output.flush().map_err(failed)?;
            output.get_ref().file().sync_data().map_err(failed)?;
            outputs.push(output.get_ref().digest());
        }
        let scenario = match self.sealed {
            Some(scenario) => scenario,
            None => sealed::write(&path.join(SCENARIO), |file| file.put(self.scenario)).map_err(failed)?,
        };
        self.sealed = Some(scenario);
        let ((tally, regret), (trace, tables)) = &self.recorders;
        let reuse = simulation.options().reuse;
        let head = Head { scenario, keep: self.keep, reuse, has_regret: regret.is_some(), outputs, run: self.run };
        let state = sealed::write(&path.join(CHECKPOINT), |file| {
            file.put(&head)?;
            file.put(&simulation.saved())?;
            file.put(tally)?;
            if let Some(regret) = regret {
                file.put(&regret.saved())?;
            }
            file.put(&trace.saved())?;
            file.put(&tables.saved())
        });
        state.map(|digest| digest.bytes).map_err(failed)
    }

    /// The enabled outputs, in the order of [`OutputOptions::outputs`].
    fn outputs(&mut self) -> impl Iterator<Item = &mut Output> {
        let (_, (trace, tables)) = &mut self.recorders;
        let TableOutputs { operations, moves, handovers, messages } = tables.outs();
        [Some(trace.out()), Some(operations), moves, handovers, messages].into_iter().flatten()
    }
}

impl Checkpoint {
    /// Whether a directory contains the file of a checkpoint.
    pub fn is_in(directory: &Path) -> bool {
        directory.join(CHECKPOINT).exists()
    }

    /// Reads the last checkpoint of the run in a directory. Does not modify the directory, except that it restores a
    /// missing `PARTIAL` marker, and removes the leftover checkpoint of a complete run.
    pub fn open(directory: &Path) -> Result<Checkpoint, ResumeError> {
        if !directory.join(RUN).is_file() {
            return Err(ResumeError::NoRun(directory.to_owned()));
        }
        let marker_path = directory.join(MARKER);
        let marker = match File::open(&marker_path) {
            Ok(marker) => marker,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if directory.join(SUMMARY).is_file() {
                    // The process that completed the run may have been killed before it removed the checkpoint.
                    let _ = remove(directory, &FILES);
                    return Err(ResumeError::Complete(directory.to_owned()));
                }
                if !Checkpoint::is_in(directory) {
                    return Err(ResumeError::NoCheckpoint(directory.to_owned()));
                }
                mark(&marker_path).map_err(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists => ResumeError::Busy(directory.to_owned()),
                    _ => ResumeError::File(marker_path, error),
                })?
            }
            Err(error) => return Err(ResumeError::File(marker_path, error)),
        };
        if let Err(TryLockError::WouldBlock) = marker.try_lock() {
            return Err(ResumeError::Busy(directory.to_owned()));
        }
        let path = directory.join(CHECKPOINT);
        if !Checkpoint::is_in(directory) {
            return Err(ResumeError::NoCheckpoint(directory.to_owned()));
        }
        let (state, _) = sealed::read(&path).map_err(|error| ResumeError::seal(path.clone(), error))?;
        let damaged = |_| ResumeError::Damaged(path.clone());
        let (head, rest) = postcard::take_from_bytes::<Head>(&state).map_err(damaged)?;
        let scenario_path = directory.join(SCENARIO);
        let read = sealed::read(&scenario_path);
        let (content, found) = read.map_err(|error| ResumeError::seal(scenario_path.clone(), error))?;
        if found != head.scenario {
            return Err(ResumeError::Damaged(scenario_path));
        }
        let scenario = postcard::from_bytes(&content).ok().filter(scenario_is_consistent);
        let scenario = scenario.ok_or(ResumeError::Damaged(scenario_path))?;
        let state = rest.to_vec();
        Ok(Checkpoint { directory: directory.to_owned(), scenario, head, state, marker })
    }

    /// Runs `body`, which resumes from the checkpoint in a directory. If `body` panics, returns
    /// [`ResumeError::Contradictory`]: validation does not find all contradictions in a forged checkpoint, and those
    /// can cause a panic later.
    pub fn guarded<T>(directory: &Path, body: impl FnOnce() -> T) -> Result<T, ResumeError> {
        panic::catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let message = message.unwrap_or_else(|| "no message".to_owned());
            ResumeError::Contradictory { path: directory.join(CHECKPOINT), message }
        })
    }

    /// The scenario of the run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns the scenario of the run.
    pub fn into_scenario(self) -> Scenario {
        self.scenario
    }

    /// Returns the simulation at the checkpoint, and the directory of the run, both ready to continue. Truncates the
    /// outputs to their lengths at the checkpoint, if the checkpoint, `run.json` and the outputs up to these lengths
    /// are valid; otherwise changes nothing.
    pub fn resume(&self, threads: usize) -> Result<(Simulation<'_>, RunDirectory<'_>), ResumeError> {
        let Head { scenario, run, keep, reuse, has_regret, outputs } = &self.head;
        let run_path = self.directory.join(RUN);
        match fs::read(&run_path) {
            Ok(content) if Digest::of(&content) == *run => {}
            Ok(_) => return Err(ResumeError::Damaged(run_path)),
            Err(error) => return Err(ResumeError::File(run_path, error)),
        }
        let mut digests = outputs.iter();
        let mut opened = |(name, is_kept): (&str, bool)| match (is_kept, is_kept.then(|| digests.next()).flatten()) {
            (true, Some(digest)) => self.output(name, *digest).map(Some),
            (true, None) => Err(self.damaged()),
            (false, _) => Ok(None),
        };
        let [trace, operations, moves, handovers, messages] = keep.outputs();
        let (trace, operations) = (opened(trace)?, opened(operations)?);
        let (Some(trace), Some(operations)) = (trace, operations) else { return Err(self.damaged()) };
        let tables = TableOutputs {
            operations,
            moves: opened(moves)?,
            handovers: opened(handovers)?,
            messages: opened(messages)?,
        };
        let damaged = |_| self.damaged();
        let limits = TableSizes::of(&self.scenario);
        let mut state = postcard::Deserializer::from_bytes(&self.state);
        let options = RunOptions { threads, reuse: *reuse };
        let simulation = Simulation::restored(&self.scenario, options, &mut state).map_err(ResumeError::Simulation)?;
        let simulation = simulation.map_err(damaged)?;
        let tally = Tally::deserialize(&mut state).map_err(damaged)?;
        let regret = has_regret.then(|| Regret::resumed(&self.scenario, &mut state));
        let mut regret = regret.transpose().map_err(damaged)?;
        let trace = TraceRecorder::resumed(trace, keep.detail, &mut state).map_err(damaged)?;
        let tables = Tables::resumed(&self.scenario, tables, &mut state).map_err(damaged)?;
        let is_whole = limits.hold_for(&tally)
            && limits.hold_for(&trace.saved())
            && tally.is_of(&self.scenario)
            && trace.is_of(&self.scenario)
            && tables.are_of(&simulation)
            && regret.as_mut().is_none_or(Regret::is_consistent)
            && state.finalize().is_ok_and(<[u8]>::is_empty);
        if !is_whole {
            return Err(self.damaged());
        }
        let mut directory = RunDirectory {
            path: self.directory.clone(),
            scenario: &self.scenario,
            keep: *keep,
            recorders: ((tally, regret), (trace, tables)),
            marker: self.marker.try_clone().map_err(|error| ResumeError::File(self.directory.join(MARKER), error))?,
            run: *run,
            sealed: Some(*scenario),
        };
        let kept = keep.outputs().into_iter().filter(|(_, is_kept)| *is_kept);
        for ((output, (name, _)), written) in directory.outputs().zip(kept).zip(outputs) {
            let cut = output.get_ref().file().set_len(written.bytes);
            cut.map_err(|error| ResumeError::File(self.directory.join(name), error))?;
        }
        Ok((simulation, directory))
    }

    /// Opens an output to append to it, after verifying its digest.
    fn output(&self, name: &str, written: Digest) -> Result<Output, ResumeError> {
        let path = self.directory.join(name);
        let saved = written.bytes;
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ResumeError::Short { path, saved, found: None });
            }
            Err(error) => return Err(ResumeError::File(path, error)),
        };
        let failed = |error| ResumeError::File(path.clone(), error);
        let found = file.metadata().map_err(failed)?.len();
        if found < saved {
            return Err(ResumeError::Short { path, saved, found: Some(found) });
        }
        match DigestedFile::resumed(file, written).map_err(failed)? {
            Some(file) => Ok(BufWriter::new(file)),
            None => Err(ResumeError::Altered { path, saved }),
        }
    }

    fn damaged(&self) -> ResumeError {
        ResumeError::Damaged(self.directory.join(CHECKPOINT))
    }
}

impl ResumeError {
    fn seal(path: PathBuf, error: SealError) -> ResumeError {
        match error {
            SealError::Read(error) => ResumeError::File(path, error),
            SealError::Broken => ResumeError::Damaged(path),
            SealError::Version(found) => ResumeError::Version { path, found, read: CHECKPOINT_VERSION },
            SealError::Foreign(by) => ResumeError::Foreign { path, by, this: PROGRAM },
        }
    }
}

impl fmt::Display for ResumeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResumeError::NoRun(path) => write!(formatter, "`{}` holds no run", path.display()),
            ResumeError::Complete(path) => write!(formatter, "the run in `{}` is complete", path.display()),
            ResumeError::Busy(path) => write!(formatter, "the run in `{}` is going on", path.display()),
            ResumeError::NoCheckpoint(path) => {
                write!(formatter, "the run in `{}` was interrupted before its first checkpoint", path.display())
            }
            ResumeError::Damaged(path) => {
                write!(formatter, "`{}` is damaged: it is not what was written, or not all of it", path.display())
            }
            ResumeError::Version { path, found, read } => {
                write!(formatter, "the checkpoint `{}` has format {found}, and this mario reads {read}", path.display())
            }
            ResumeError::Foreign { path, by, this } => {
                write!(formatter, "`{}` was written by another build: by {by}, and this is {this}", path.display())
            }
            ResumeError::Short { path, saved, found: Some(found) } => {
                write!(formatter, "`{}` has {found} bytes, and had {saved} when the run was saved", path.display())
            }
            ResumeError::Short { path, saved, found: None } => {
                write!(formatter, "`{}` is gone, and had {saved} bytes when the run was saved", path.display())
            }
            ResumeError::Altered { path, saved } => {
                let shown = path.display();
                write!(formatter, "`{shown}` is damaged: its first {saved} bytes are not those that the run wrote")
            }
            ResumeError::Contradictory { path, message } => {
                write!(formatter, "`{}` is damaged: its numbers contradict each other ({message})", path.display())
            }
            ResumeError::File(path, _) => write!(formatter, "cannot use `{}`", path.display()),
            ResumeError::Simulation(error) => error.fmt(formatter),
        }
    }
}

impl Error for ResumeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ResumeError::File(_, error) => Some(error),
            ResumeError::Simulation(error) => error.source(),
            _ => None,
        }
    }
}
