//! Rates, latencies and similar non-negative numbers.

use std::error::Error;
use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// A rate, a latency or a similar measure: a finite, non-negative number.
///
/// An integer remains an integer: a policy sees `10`, not `10.0`, and the two are not equal. Rates count client
/// requests in one evaluation period, latencies are in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quantity(Number);

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Number {
    Whole(u32),
    Fraction(f64),
}

/// Why a number is not a valid quantity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QuantityError {
    /// It is below zero.
    Negative,
    /// It is infinite or NaN.
    NotFinite,
    /// It is an integer that does not fit in 32 bits.
    TooLarge,
}

impl Quantity {
    /// Zero.
    pub const ZERO: Quantity = Quantity::whole(0);

    /// An integer quantity.
    pub const fn whole(value: u32) -> Quantity {
        Quantity(Number::Whole(value))
    }

    /// A quantity stored as a float, even if it is a whole number.
    pub fn fraction(value: f64) -> Result<Quantity, QuantityError> {
        if !value.is_finite() {
            Err(QuantityError::NotFinite)
        } else if value < 0.0 {
            Err(QuantityError::Negative)
        } else {
            Ok(Quantity(Number::Fraction(value)))
        }
    }

    /// The value if it is stored as an integer; `None` if it is stored as a float.
    pub fn as_whole(self) -> Option<u32> {
        match self.0 {
            Number::Whole(value) => Some(value),
            Number::Fraction(_) => None,
        }
    }

    /// The value as a float.
    pub fn value(self) -> f64 {
        match self.0 {
            Number::Whole(value) => f64::from(value),
            Number::Fraction(value) => value,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Number::Whole(value) => write!(formatter, "{value}"),
            Number::Fraction(value) => write!(formatter, "{value:?}"),
        }
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            QuantityError::Negative => "a rate or latency is not negative",
            QuantityError::NotFinite => "a rate or latency is finite",
            QuantityError::TooLarge => "a whole rate or latency has at most 32 bits",
        })
    }
}

impl Error for QuantityError {}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.0.serialize(serializer);
        }
        match self.0 {
            Number::Whole(value) => serializer.serialize_u32(value),
            Number::Fraction(value) => serializer.serialize_f64(value),
        }
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Quantity, D::Error> {
        if !deserializer.is_human_readable() {
            return match Number::deserialize(deserializer)? {
                Number::Whole(value) => Ok(Quantity::whole(value)),
                Number::Fraction(value) => Quantity::fraction(value).map_err(de::Error::custom),
            };
        }
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a rate or latency: a number that is not negative")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Quantity, E> {
        u32::try_from(value).map(Quantity::whole).map_err(|_| E::custom(QuantityError::TooLarge))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Quantity, E> {
        u64::try_from(value).map_err(|_| E::custom(QuantityError::Negative)).and_then(|value| self.visit_u64(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Quantity, E> {
        Quantity::fraction(value).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_numbers_in_json_and_whole_ones_stay_whole() {
        let half = Quantity::fraction(2.5).expect("finite");
        for (json, quantity) in [("10", Quantity::whole(10)), ("2.5", half)] {
            assert_eq!(serde_json::from_str::<Quantity>(json).expect("a quantity"), quantity);
            assert_eq!(serde_json::to_string(&quantity).expect("a quantity"), json);
            assert_eq!(quantity.to_string(), json);
        }
        assert_eq!(Quantity::fraction(10.0).expect("finite").to_string(), "10.0");
    }

    #[test]
    fn refuses_invalid_quantities() {
        assert_eq!(Quantity::fraction(-0.5), Err(QuantityError::Negative));
        assert_eq!(Quantity::fraction(f64::NAN), Err(QuantityError::NotFinite));
        for json in ["-1", "-0.1", "4294967296", "\"10\"", "null"] {
            assert!(serde_json::from_str::<Quantity>(json).is_err(), "{json}");
        }
    }
}
