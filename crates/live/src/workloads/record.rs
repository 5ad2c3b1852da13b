//! The files of workloads. Each workload has a directory with its start record, exit record, logs and private files.

use std::error::Error;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mario_colony::WorkloadId;
use mario_domain::{ApplicationId, InstanceId};
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use super::cgroup::Enforcement;

/// The directory of one workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Workspace {
    path: PathBuf,
}

/// The record of a start. It is on disk before the shim receives its plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartRecord {
    /// The copy.
    pub workload: WorkloadId,
    /// The instance.
    pub instance: InstanceId,
    /// The application.
    pub application: ApplicationId,
    /// The process id of the shim, which is also the id of its session.
    pub pid: i32,
    /// When the shim started, in ticks after the boot of the system.
    pub started: u64,
    /// The id of the system boot in which the shim started.
    pub system_boot: String,
    /// The port of the workload.
    pub port: u16,
    /// How its limits are enforced.
    pub enforcement: Vec<Enforcement>,
    /// The checksum of how it is run: see [`Task::shape`](crate::seams::Task::shape). `None` in records of older
    /// versions.
    #[serde(default)]
    pub shape: Option<u32>,
}

/// The record of an exit. The shim writes it when the program has ended, or the exec stage when it cannot execute the
/// program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct ExitRecord {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) not_executed: Option<String>,
}

/// Why a start record cannot be used.
#[derive(Debug)]
pub enum RecordError {
    /// It cannot be read.
    Read(io::Error),
    /// It is not a start record.
    Parse(serde_json::Error),
}

const START: &str = "start.json";
const EXIT: &str = "exit.json";
const KILL: i32 = Signal::SIGKILL as i32;
const RECORD_BYTES_MAX: u64 = 4 << 20;

impl Workspace {
    pub(super) fn of(parent: &Path, workload: WorkloadId) -> Workspace {
        Workspace { path: parent.join(format!("{}.{}", workload.boot, workload.counter)) }
    }

    /// The ids and directories of all workloads, sorted by id: the oldest first.
    pub(super) fn all(parent: &Path) -> io::Result<Vec<(WorkloadId, Workspace)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(parent)? {
            let path = entry?.path();
            if let Some(workload) = path.file_name().and_then(|name| parse_id(name.to_str()?)) {
                found.push((workload, Workspace { path }));
            }
        }
        found.sort_by_key(|(workload, _)| *workload);
        Ok(found)
    }

    pub(super) fn at(path: PathBuf) -> Workspace {
        Workspace { path }
    }

    /// The directory in which the program starts.
    pub fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The private directory with the values that are passed as files.
    pub fn given(&self) -> PathBuf {
        self.path.join("given")
    }

    /// The directory of the logs.
    pub fn logs(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Creates the directories. The private files and the exit record of an earlier attempt are removed first.
    pub(super) fn create(&self) -> io::Result<()> {
        self.remove_given()?;
        remove_if_there(&self.path.join(EXIT))?;
        for path in [self.path.clone(), self.given(), self.logs(), self.work()] {
            DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        }
        Ok(())
    }

    pub(super) fn write_start(&self, record: &StartRecord) -> io::Result<()> {
        write_durably(&self.path, START, &serde_json::to_vec(record)?)
    }

    /// The start record; `None` if no workload was started here, or the driver has ended it and removed the record.
    pub fn start_record(&self) -> Result<Option<StartRecord>, RecordError> {
        let bytes = match read_bounded(&self.path.join(START)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RecordError::Read(error)),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(RecordError::Parse)
    }

    pub(super) fn write_exit(&self, record: &ExitRecord) -> io::Result<()> {
        write_durably(&self.path, EXIT, &serde_json::to_vec(record)?)
    }

    pub(super) fn has_exit(&self) -> bool {
        self.path.join(EXIT).exists()
    }

    /// Describes how the program ended. `memory_limit` is the memory limit that has killed a process of the workload, if
    /// one has.
    pub(super) fn ended(&self, memory_limit: Option<u64>) -> String {
        let record = read_bounded(&self.path.join(EXIT)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let limit = memory_limit.map(|bytes| format!("its memory limit ({})", bytes_text(bytes)));
        match (record, limit) {
            (Some(ExitRecord { not_executed: Some(cause), .. }), _) => format!("cannot start: {cause}"),
            (Some(ExitRecord { signal: Some(KILL), .. }) | None, Some(limit)) => format!("killed by {limit}"),
            (Some(ExitRecord { code: Some(code), .. }), None) => format!("exited with status {code}"),
            (Some(ExitRecord { code: Some(code), .. }), Some(limit)) => {
                format!("exited with status {code} after {limit} had killed one of its processes")
            }
            (Some(ExitRecord { signal: Some(signal), .. }), _) => match Signal::try_from(signal) {
                Ok(name) => format!("killed by signal {signal} ({name})"),
                Err(_) => format!("killed by signal {signal}"),
            },
            _ => "ended with an unknown exit status".to_owned(),
        }
    }

    /// Removes the start record and the private files; all other files stay. Called when no process of the workload
    /// runs any more.
    pub(super) fn close(&self) -> io::Result<()> {
        self.remove_given()?;
        remove_if_there(&self.path.join(START))?;
        sync_directory(&self.path)
    }

    fn remove_given(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.given()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether there is a start record, readable or not.
    pub(super) fn is_open(&self) -> bool {
        self.path.join(START).exists()
    }
}

/// An amount of memory, in the largest unit in which it is a whole number.
fn bytes_text(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

fn parse_id(name: &str) -> Option<WorkloadId> {
    let (boot, counter) = name.split_once('.')?;
    let workload = WorkloadId { boot: boot.parse().ok()?, counter: counter.parse().ok()? };
    // Rejects other spellings of a number, such as `01.2`.
    (format!("{}.{}", workload.boot, workload.counter) == name).then_some(workload)
}

/// Replaces a file atomically and durably: after a crash it has either the old or the new content.
fn write_durably(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = directory.join(format!("{name}.new"));
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(temporary, directory.join(name))?;
    sync_directory(directory)
}

fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(directory) => directory.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.len() > RECORD_BYTES_MAX {
        return Err(io::Error::other("it is longer than any record"));
    }
    fs::read(path)
}

impl fmt::Display for RecordError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("cannot read a start record")
    }
}

impl Error for RecordError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RecordError::Read(error) => Some(error),
            RecordError::Parse(error) => Some(error),
        }
    }
}
