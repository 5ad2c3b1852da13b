//! Whether workloads can be started on this node: their records must reach the disk, and the system must have room for
//! their processes.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::seams::DriverError;

/// How much is written to find out whether the disk has room for the files of a workload.
const PROBE_BYTES: usize = 64 << 10;

/// How often a disk that had no room is checked again.
const CHECK_EVERY: Duration = Duration::from_secs(2);

/// The room for workloads on a node. A clone is a handle to the same room.
#[derive(Clone)]
pub(crate) struct Room {
    directory: Arc<PathBuf>,
    /// Why the last start of a workload, or the last check, failed.
    fault: Arc<Mutex<Option<Fault>>>,
}

/// Why workloads cannot be started.
#[derive(Clone)]
struct Fault {
    cause: String,
    /// Whether the disk is the cause, so that a check of the disk shows whether it still is.
    is_of_disk: bool,
}

impl Room {
    /// The room in the directory of the drivers.
    pub(crate) fn new(directory: PathBuf) -> Room {
        Room { directory: Arc::new(directory), fault: Arc::default() }
    }

    /// Why workloads cannot be started; `None` if the last start, or check, succeeded.
    pub(crate) fn fault(&self) -> Option<String> {
        self.lock().as_ref().map(|fault| fault.cause.clone())
    }

    /// Finds out whether the disk has room for a workload.
    pub(crate) fn check(&self) -> Result<(), String> {
        let result = self.probe().map_err(|error| format!("cannot start workloads: {error}"));
        *self.lock() = result.clone().err().map(|cause| Fault { cause, is_of_disk: true });
        result
    }

    /// Notes whether a driver could start a workload. A fault without a cause of the system is one of the workload.
    pub(crate) fn started(&self, result: Result<(), &DriverError>) {
        match result {
            Ok(()) => *self.lock() = None,
            Err(DriverError { cause: Some(cause), .. }) => {
                let is_of_disk = matches!(
                    cause.kind(),
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::ReadOnlyFilesystem
                );
                *self.lock() = Some(Fault { cause: format!("cannot start workloads: {cause}"), is_of_disk });
            }
            Err(DriverError { cause: None, .. }) => {}
        }
    }

    /// Checks the disk from time to time while it has no room: otherwise, a node to which nothing is deployed would not
    /// notice that there is room again. Never completes.
    pub(crate) async fn watch(self) {
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            if self.lock().as_ref().is_some_and(|fault| fault.is_of_disk) {
                let room = self.clone();
                let _ = tokio::task::spawn_blocking(move || room.check()).await;
            }
        }
    }

    fn probe(&self) -> io::Result<()> {
        let path = self.directory.join("room.probe");
        let written = fs::File::create(&path).and_then(|mut file| {
            file.write_all(&vec![0; PROBE_BYTES])?;
            // Some file systems notice only now that they are full.
            file.sync_all()
        });
        let _ = fs::remove_file(&path);
        written
    }

    fn lock(&self) -> MutexGuard<'_, Option<Fault>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
