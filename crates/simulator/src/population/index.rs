//! Positions of things in their tables: four bytes each, and not to be confused with one another.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// Ids of things for people are `mario_domain` ids; these are for tables.
macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in a table that has one entry for each.
            pub const fn position(self) -> usize {
                self.0 as usize
            }

            /// The one at a position of such a table.
            ///
            /// # Panics
            /// When there are more than four thousand million.
            pub fn at(position: usize) -> Self {
                $name(u32::try_from(position).expect("tables have fewer than 2^32 entries"))
            }
        }
    )* };
}

indices! {
    /// Which node, in the order of the infrastructure.
    NodeIndex;
    /// Which application, in the order of their descriptors.
    ApplicationIndex;
    /// Which policy, in the order in which they were loaded.
    PolicyIndex;
    /// Which agent, in the order of creation. Never used again after the agent is gone.
    AgentIndex;
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
