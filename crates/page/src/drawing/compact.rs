//! Serialises whole numbers without a fraction, to save space: a page may hold many numbers.

use serde::Serializer;
use serde::ser::SerializeSeq;

/// Whole numbers from this one on are not all exact in JavaScript.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Serialises a number without a fraction if it is whole.
pub fn compact<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && value.abs() < WHOLE_MAX {
        serializer.serialize_i64(value as i64)
    } else {
        serializer.serialize_f64(value)
    }
}

/// A number that is serialised by [`compact`].
pub(super) struct Compact(pub(super) f64);

impl serde::Serialize for Compact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        compact(self.0, serializer)
    }
}

/// Serialises a list of numbers, each by [`compact`].
pub(super) fn list<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(values.len()))?;
    values.iter().try_for_each(|value| list.serialize_element(&Compact(*value)))?;
    list.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_written_without_a_fraction() {
        let mut written = Vec::new();
        list(&[300.0, 0.25, -2.0, 1e300], &mut serde_json::Serializer::new(&mut written)).expect("numbers");
        assert_eq!(written, b"[300,0.25,-2,1e+300]");
    }
}
