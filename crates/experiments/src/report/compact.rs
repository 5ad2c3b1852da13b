//! Writes numbers with as few characters as possible, because a page contains hundreds of thousands of them.

use serde::{Serialize, Serializer};

/// A number that is written without a fraction if it is whole.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "number"))]
pub(crate) struct Compact(pub(crate) f64);

/// Larger whole numbers are not exact in JavaScript.
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
    fn whole_numbers_are_written_without_a_fraction() {
        let written = serde_json::to_string(&[Compact(300.0), Compact(0.25), Compact(-2.0)]).expect("numbers");
        assert_eq!(written, "[300,0.25,-2]");
    }
}
