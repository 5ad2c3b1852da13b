//! Typed numbers, which are checked when they are read.

use std::borrow::Cow;
use std::fmt;

use mario_domain::Duration;
use mario_settings::{HINT, shown};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::units::number_and_unit;

/// The units of time that may follow a number, each with its length in milliseconds.
pub(crate) const UNITS: [(&str, f64); 5] =
    [("ms", 1.0), ("s", 1_000.0), ("min", 60_000.0), ("h", 3_600_000.0), ("us", 0.001)];

/// The range of a number, and its reason.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Range {
    min: f64,
    max: f64,
    why: &'static str,
}

impl Range {
    /// The error message for an invalid number, with a remedy; `None` for a valid number.
    fn complaint(self, what: &str, value: f64) -> Option<String> {
        if !value.is_finite() {
            return Some(format!("{what} must be a finite number, not {value}{HINT}write a number such as 40"));
        }
        if self.min > 0.0 && value <= 0.0 {
            let [value, min] = [value, self.min].map(shown);
            return Some(format!("{what} must be positive, not {value}{HINT}write a number of at least {min}"));
        }
        (!(self.min..=self.max).contains(&value)).then(|| {
            let [min, max, value] = [self.min, self.max, value].map(shown);
            format!("{what} must be from {min} to {max}, not {value}{HINT}write a number in that range: {}", self.why)
        })
    }
}

/// Declares a type of number: its name, its range, its description, whether it may have a unit of time, and the reason
/// for the range.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $min:literal to $max:literal, $what:literal, $has_unit:literal, $why:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
        pub struct $name(f64);

        impl $name {
            const RANGE: Range = Range { min: $min, max: $max, why: $why };

            /// Wraps a number.
            ///
            /// # Panics
            ///
            /// If the number is not finite or out of range.
            pub fn of(value: f64) -> $name {
                if let Some(complaint) = Self::RANGE.complaint($what, value) {
                    panic!("{complaint}");
                }
                $name(value)
            }

            /// The number.
            pub fn value(self) -> f64 {
                self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                write_number(self.0, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let visitor = NumberVisitor { range: Self::RANGE, what: $what, has_unit: $has_unit };
                deserializer.deserialize_any(visitor).map($name)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                number_schema(Self::RANGE, $has_unit)
            }
        }
    )* };
}

numbers! {
    /// A point in time or a duration, in milliseconds; not negative. Written as a number, or as a string with a unit,
    /// such as `"2 s"`.
    Time: 0.0 to 1e12, "a time", true,
        "1e12 ms are 31 years, and times far beyond are not told apart to the microsecond";
    /// The time between two events, in milliseconds; at least a microsecond. Written like [`Time`].
    Period: 1e-3 to 1e12, "a period", true,
        "a clock tells microseconds apart, for up to 1e12 ms, which are 31 years";
    /// The size of a message; not negative.
    Size: 0.0 to 1e12, "a size", false,
        "quotients of such numbers are finite";
    /// A positive number, at least 1e-9.
    Positive: 1e-9 to 1e12, "this number", false,
        "products and quotients of such numbers are finite and above 0";
    /// Power, energy, a price or an intensity; not negative.
    Amount: 0.0 to 1e12, "an amount", false,
        "sums and products of such numbers are finite";
    /// A limit on the cost of a run.
    Limit: 1.0 to 1e18, "a limit", false,
        "no machine does more";
}

impl Default for Amount {
    fn default() -> Amount {
        Amount::of(0.0)
    }
}

impl Time {
    /// As a point in time, from the start of a run.
    pub fn moment(self) -> mario_domain::Time {
        mario_domain::Time::at(self.0)
    }

    /// As a duration.
    pub fn span(self) -> Duration {
        Duration::of(self.0)
    }
}

impl Period {
    /// The time between the two events.
    pub fn span(self) -> Duration {
        Duration::of(self.0)
    }
}

fn write_number<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Integers are written without a fraction.
    if value.fract() == 0.0 && value.abs() < 9e15 {
        serializer.serialize_i64(value as i64)
    } else {
        serializer.serialize_f64(value)
    }
}

fn number_schema(range: Range, has_unit: bool) -> Schema {
    let Range { min, max, why } = range;
    let number = json_schema!({ "type": "number", "minimum": min, "maximum": max, "$comment": why });
    if !has_unit {
        return number;
    }
    let units: Vec<&str> = UNITS.iter().map(|(unit, _)| *unit).collect();
    let pattern = format!(r"^[0-9]+(\.[0-9]+)? *({})$", units.join("|"));
    json_schema!({ "anyOf": [number, { "type": "string", "pattern": pattern }] })
}

struct NumberVisitor {
    range: Range,
    what: &'static str,
    has_unit: bool,
}

impl NumberVisitor {
    fn with_unit(&self, text: &str) -> Result<f64, String> {
        let (number, unit) = number_and_unit(text).unwrap_or_else(|| (text.trim().replace('_', ""), ""));
        let Ok(value) = number.parse::<f64>() else {
            return Err(format!(
                "expected a number, found the text {text:?}{HINT}write a number, e.g. {}",
                self.example()
            ));
        };
        if unit.is_empty() {
            return Err(format!("expected a number, found the text {text:?}{HINT}write {number} without quotes"));
        }
        // The number alone is no remedy: the unit of the text may be another one than that of the key.
        if !self.has_unit {
            let hint = "write a number alone; the documentation of the key says what it counts";
            return Err(format!("{} has no unit, but the text {text:?} has one{HINT}{hint}", self.what));
        }
        match UNITS.iter().find(|(known, _)| *known == unit) {
            Some((_, factor)) => Ok(value * factor),
            None => {
                let known: Vec<&str> = UNITS.iter().map(|(unit, _)| *unit).collect();
                Err(format!(
                    "unknown unit of time: `{unit}`{HINT}units of time: {}; a number alone is in ms",
                    known.join(", ")
                ))
            }
        }
    }

    fn example(&self) -> &'static str {
        if self.has_unit { "40 or \"40 ms\"" } else { "40" }
    }

    fn checked<E: de::Error>(&self, value: f64) -> Result<f64, E> {
        match self.range.complaint(self.what, value) {
            Some(complaint) => Err(E::custom(complaint)),
            None => Ok(value),
        }
    }
}

impl Visitor<'_> for NumberVisitor {
    type Value = f64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        self.checked(value as f64)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        self.checked(value as f64)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        self.checked(value)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<f64, E> {
        let value = self.with_unit(value).map_err(E::custom)?;
        self.checked(value)
    }
}
