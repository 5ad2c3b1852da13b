//! Typed indices into the tables of a header.

use serde::{Deserialize, Serialize};

macro_rules! references {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);
    )* };
}

references! {
    /// An index into the header's `nodes`.
    NodeRef;
    /// An index into the header's `applications`.
    ApplicationRef;
    /// An index into the header's `policies`.
    PolicyRef;
    /// An index into the header's `acceptances`.
    AcceptanceRef;
    /// An index into the header's `users`.
    UserRef;
    /// An index into the header's `calls`.
    CallRef;
    /// An index into the instances of a run, in the order in which they appeared.
    InstanceRef;
}

impl CallRef {
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}

impl InstanceRef {
    /// The index.
    pub const fn position(self) -> usize {
        self.0 as usize
    }
}

impl ApplicationRef {
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}

impl NodeRef {
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}

impl UserRef {
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}
