//! Typed indices into the tables of a scenario, four bytes each.

/// Declares index types, each with its visibility. They index tables; the ids that people see are in `mario_domain`.
#[macro_export]
macro_rules! indices {
    ($($(#[$doc:meta])* $visibility:vis $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, ::serde::Serialize, ::serde::Deserialize)]
        $visibility struct $name(pub u32);

        impl $name {
            /// The index as a number.
            #[inline]
            $visibility const fn position(self) -> usize {
                self.0 as usize
            }

            /// The index with this number.
            ///
            /// # Panics
            ///
            /// If it does not fit into 32 bits.
            #[inline]
            $visibility fn at(position: usize) -> Self {
                $name(u32::try_from(position).expect("tables have fewer than 2^32 entries"))
            }
        }
    )* };
}

indices! {
    /// The index of a node, in the order of the infrastructure.
    pub NodeIndex;
    /// The index of an application, in the order of the descriptors.
    pub ApplicationIndex;
    /// The index of a policy, in the order of loading.
    pub PolicyIndex;
    /// The index of a user, in the order of appearance.
    pub UserIndex;
}
