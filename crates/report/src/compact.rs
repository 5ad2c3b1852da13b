//! Writes whole numbers without a fraction, because a page contains very many numbers.

use mario_page::drawing::compact;
use serde::{Serialize, Serializer};

/// A number that is serialised without a fraction if it is whole.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "number"))]
pub(crate) struct Compact(pub(crate) f64);

impl Serialize for Compact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        compact(self.0, serializer)
    }
}
