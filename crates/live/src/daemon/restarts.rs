//! The restarts of copies and the state of links, for operators.

use mario_colony::WorkloadId;
use serde_json::{Value, json};

use super::core::Core;

impl Core {
    /// Why a copy ended or did not start the last time, how often in a row, and when it is started again, if it was not
    /// since; `null` if it never was down.
    pub(super) fn restart(&self, workload: WorkloadId) -> Value {
        self.node.restart(workload).map_or(Value::Null, |restart| {
            let wait_ms = restart.at.map(|at| (at - self.now()).units().max(0.0) as u64);
            json!({ "cause": restart.cause, "failures": restart.failures, "starts_in_ms": wait_ms })
        })
    }

    /// The links, each with whether this node rejects the neighbour's journal.
    pub(super) fn links_status(&self) -> Value {
        let links = self.links.status().into_iter().map(|link| {
            let is_rejected = self.node.rejects(&link.neighbour);
            let mut shown = json!(link);
            shown["is_rejected"] = json!(is_rejected);
            if is_rejected {
                let name = &link.neighbour;
                shown["fault"] = json!(format!(
                    "this node rejects `{name}`: its journal is an old copy, or was replaced and declared lost"
                ));
            }
            shown
        });
        json!({ "links": links.collect::<Vec<_>>() })
    }
}
