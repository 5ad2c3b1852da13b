//! The restarts of copies and the state of links, for operators.

use mario_colony::{Owned, WorkloadId};

use super::core::Core;
use crate::api;

impl Core {
    /// Why a copy ended or did not start the last time, how often in a row, and when it is started again, if it was not
    /// since; `None` if it never was down.
    pub(super) fn restart(&self, workload: WorkloadId) -> Option<api::RestartStatus> {
        self.node.restart(workload).map(|restart| api::RestartStatus {
            cause: restart.cause.clone(),
            failures: restart.failures,
            starts_in_ms: restart.at.map(|at| (at - self.now()).units().max(0.0) as u64),
        })
    }

    /// Why the copy of an instance must not run now; `None` if it may.
    pub(super) fn held_back(&self, owned: &Owned) -> Option<String> {
        self.node.is_held_back(owned).then(|| {
            "no neighbour has confirmed the journal of its node since the node restarted, and only one copy of its \
             application may run"
                .to_owned()
        })
    }

    /// The links, each with whether this node rejects the neighbour's journal.
    pub(super) fn links_status(&self) -> api::Links {
        let links = self.links.status().into_iter().map(|mut link| {
            link.is_rejected = self.node.rejects(&link.neighbour);
            if link.is_rejected {
                let name = &link.neighbour;
                link.fault = Some(format!(
                    "this node rejects `{name}`: its journal is an old copy, or was replaced and declared lost"
                ));
            }
            link
        });
        api::Links { links: links.collect() }
    }
}
