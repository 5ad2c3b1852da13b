//! Typed indices into the tables of a scenario, four bytes each.

/// Declares types for indices into tables. The ids that users see are in `mario_domain`.
// For `simulator`.
#[doc(hidden)]
#[macro_export]
macro_rules! indices {
    ($($(#[$doc:meta])* $visibility:vis $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, ::serde::Serialize, ::serde::Deserialize)]
        $visibility struct $name(pub u32);

        impl $name {
            /// The index as a number, for use with slices.
            #[inline]
            $visibility const fn position(self) -> usize {
                self.0 as usize
            }

            /// The index with this number.
            ///
            /// # Panics
            ///
            /// If the number does not fit into 32 bits.
            #[inline]
            $visibility fn at(position: usize) -> Self {
                $name(u32::try_from(position).expect("tables have fewer than 2^32 entries"))
            }
        }
    )* };
}

indices! {
    /// The index of a node in the topology.
    pub NodeIndex;
    /// The index of an application in `Scenario::applications`.
    pub ApplicationIndex;
    /// The index of an agent policy in `Scenario::policies`.
    pub PolicyIndex;
    /// The index of a user in `Scenario::users` and in `Attachments::users`.
    pub UserIndex;
}
