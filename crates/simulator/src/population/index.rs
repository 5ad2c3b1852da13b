//! Positions of agents in their table, and the version of the links.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Which agent, in the order of creation. Never used again after the agent is gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct AgentIndex(pub u32);

impl AgentIndex {
    /// The position in a table that has one entry for each.
    pub const fn position(self) -> usize {
        self.0 as usize
    }

    /// The one at a position of such a table.
    ///
    /// # Panics
    /// When there are more than four thousand million.
    pub fn at(position: usize) -> Self {
        AgentIndex(u32::try_from(position).expect("tables have fewer than 2^32 entries"))
    }
}

/// Which state the links are in. Changes whenever a node has other neighbours than before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct LinksVersion(NonZeroU32);

impl LinksVersion {
    pub(crate) const FIRST: LinksVersion = LinksVersion(NonZeroU32::MIN);

    pub(crate) fn next(self) -> LinksVersion {
        LinksVersion(self.0.checked_add(1).expect("links change fewer than 2^32 times"))
    }
}
