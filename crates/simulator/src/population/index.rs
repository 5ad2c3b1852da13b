//! Indices of agents, and the version of the links.

use std::num::NonZeroU32;

use mario_scenario::indices;
use serde::{Deserialize, Serialize};

indices! {
    /// The index of an agent, in the order of creation. Never reused.
    pub AgentIndex;
}

/// The version of the links. Changes whenever the neighbours of a node change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct LinksVersion(NonZeroU32);

impl LinksVersion {
    pub(crate) const FIRST: LinksVersion = LinksVersion(NonZeroU32::MIN);

    pub(crate) fn next(self) -> LinksVersion {
        LinksVersion(self.0.checked_add(1).expect("links change fewer than 2^32 times"))
    }
}
