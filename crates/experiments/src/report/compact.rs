//! Numbers in as few characters as they need: a page holds hundreds of thousands of them.

use serde::{Serialize, Serializer};

/// A number that is written without a fraction where it has none.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub(crate) struct Compact(pub(crate) f64);

/// Greater whole numbers than this are not exact in the reader of the page.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

impl Serialize for Compact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Compact(value) = *self;
        if value.fract() == 0.0 && value.abs() < WHOLE_MAX {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_a_fraction_only_where_there_is_one() {
        let written = serde_json::to_string(&[Compact(300.0), Compact(0.25), Compact(-2.0)]).expect("numbers");
        assert_eq!(written, "[300,0.25,-2]");
    }
}
