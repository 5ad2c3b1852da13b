//! Starts in progress. A start runs on a thread of its own and continues if its future is dropped, so ending a copy waits
//! for a start of it that has begun: otherwise the program could appear after the copy has been ended.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use mario_colony::WorkloadId;

/// The workloads that are being started.
#[derive(Debug, Default)]
pub(super) struct Starting {
    workloads: Mutex<BTreeSet<WorkloadId>>,
    finished: Condvar,
}

/// A start in progress; it is over when this value is dropped.
pub(super) struct Start {
    starting: Arc<Starting>,
    workload: WorkloadId,
}

impl Starting {
    /// Notes that a start of a workload begins.
    pub(super) fn begin(self: &Arc<Starting>, workload: WorkloadId) -> Start {
        self.workloads().insert(workload);
        Start { starting: Arc::clone(self), workload }
    }

    /// Blocks until no start of a workload is in progress.
    pub(super) fn wait(&self, workload: WorkloadId) {
        let is_starting = |workloads: &mut BTreeSet<WorkloadId>| workloads.contains(&workload);
        drop(self.finished.wait_while(self.workloads(), is_starting).unwrap_or_else(PoisonError::into_inner));
    }

    fn workloads(&self) -> MutexGuard<'_, BTreeSet<WorkloadId>> {
        self.workloads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        self.starting.workloads().remove(&self.workload);
        self.starting.finished.notify_all();
    }
}
