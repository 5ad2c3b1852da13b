//! Which copies run, and which directories of ended copies are kept.

use std::fs;

use mario_colony::WorkloadId;

use super::super::identity;
use super::super::record::Workspace;
use super::{Shared, failed, parse_name};
use crate::seams::DriverError;

/// How many directories of ended copies are kept for their logs.
const ENDED_KEPT: usize = 16;

impl Shared {
    pub(super) fn running(&self) -> Result<Vec<WorkloadId>, DriverError> {
        let workspaces = Workspace::all(&self.context.directory).map_err(failed("cannot list workloads"))?;
        let recorded =
            workspaces.into_iter().filter(|(_, workspace)| workspace.is_open()).map(|(workload, _)| workload);
        let prefix = format!("{:032x}/", self.context.journal.0);
        let marks = identity::marks_with_prefix(&prefix).map_err(failed("cannot list processes"))?;
        let marked = marks.iter().filter_map(|mark| parse_name(mark.strip_prefix(&prefix)?));
        let mut running: Vec<WorkloadId> = recorded.chain(marked).collect();
        running.sort();
        running.dedup();
        Ok(running)
    }

    /// The value of `PLACE` for the processes of this node's workloads.
    pub(super) fn place(&self) -> String {
        format!("{} {}", self.context.node, self.context.directory.display())
    }

    /// Removes the oldest directories of ended copies; the newest [`ENDED_KEPT`] stay.
    pub(super) fn prune(&self) {
        let Ok(workspaces) = Workspace::all(&self.context.directory) else { return };
        let closed: Vec<_> = workspaces.into_iter().filter(|(_, workspace)| !workspace.is_open()).collect();
        let excess = closed.len().saturating_sub(ENDED_KEPT);
        for (workload, workspace) in closed.into_iter().take(excess) {
            if self.copy(workload).is_none() {
                // If a directory cannot be removed, the removal is retried when the next copy ends.
                let _ = fs::remove_dir_all(workspace.path());
            }
        }
    }
}
