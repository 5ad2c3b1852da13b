//! Places in the tables of a header, by which records name things.

use serde::{Deserialize, Serialize};

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);
    )* };
}

places! {
    /// A place in the header's `nodes`.
    NodePlace;
    /// A place in the header's `applications`.
    ApplicationPlace;
    /// A place in the header's `policies`.
    PolicyPlace;
    /// A place in the header's `acceptances`.
    AcceptancePlace;
    /// A place in the header's `users`.
    UserPlace;
    /// A place in the header's `calls`.
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
