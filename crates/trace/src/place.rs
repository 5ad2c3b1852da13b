//! Typed indices into the tables of a header.

use serde::{Deserialize, Serialize};

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);
    )* };
}

places! {
    /// An index into the header's `nodes`.
    NodePlace;
    /// An index into the header's `applications`.
    ApplicationPlace;
    /// An index into the header's `policies`.
    PolicyPlace;
    /// An index into the header's `acceptances`.
    AcceptancePlace;
    /// An index into the header's `users`.
    UserPlace;
    /// An index into the header's `calls`.
    CallPlace;
}

impl CallPlace {
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}

impl ApplicationPlace {
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}

impl NodePlace {
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}

impl UserPlace {
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}
