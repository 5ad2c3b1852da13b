//! The hosted applications in full, for snapshots that the simulator can resume from.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::core::Core;

impl Core {
    /// The applications of the instances on this node, with their policies and facts, and the facts about the node itself.
    pub(super) fn applications(&self) -> Value {
        let owned = self.node.ledger().owned();
        let hosted: BTreeMap<_, _> = owned.map(|owned| (&owned.descriptor.application.id, &owned.descriptor)).collect();
        let applications = hosted.into_values().map(|descriptor| {
            json!({ "application": descriptor.application, "facts": descriptor.facts, "policy": descriptor.policy })
        });
        json!({ "applications": applications.collect::<Vec<_>>(), "facts": self.config.facts })
    }
}
