//! Positions of things in the tables of a scenario: four bytes each, and not to be confused with one another.

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
    /// Which user, in the order in which they appear.
    UserIndex;
}
