//! Positions of things in the tables of a scenario: four bytes each, and not to be confused with one another.

/// Declares types of positions in tables, each with its visibility. Ids of things for people are `mario_domain` ids; these are
/// for tables.
#[macro_export]
macro_rules! indices {
    ($($(#[$doc:meta])* $visibility:vis $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, ::serde::Serialize, ::serde::Deserialize)]
        $visibility struct $name(pub u32);

        impl $name {
            /// The position in a table that has one entry for each.
            #[inline]
            $visibility const fn position(self) -> usize {
                self.0 as usize
            }

            /// The one at a position of such a table.
            ///
            /// # Panics
            /// When there are more than four thousand million.
            #[inline]
            $visibility fn at(position: usize) -> Self {
                $name(u32::try_from(position).expect("tables have fewer than 2^32 entries"))
            }
        }
    )* };
}

indices! {
    /// Which node, in the order of the infrastructure.
    pub NodeIndex;
    /// Which application, in the order of their descriptors.
    pub ApplicationIndex;
    /// Which policy, in the order in which they were loaded.
    pub PolicyIndex;
    /// Which user, in the order in which they appear.
    pub UserIndex;
}
