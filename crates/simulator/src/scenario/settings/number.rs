//! Numbers that mean something, checked where they are read.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::scenario::read::HINT;

/// The units of time that may follow a number, in milliseconds.
const UNITS: [(&str, f64); 5] = [("ms", 1.0), ("s", 1_000.0), ("min", 60_000.0), ("h", 3_600_000.0), ("us", 0.001)];

/// What a number must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Demand {
    NotNegative,
    Positive,
}

impl Demand {
    fn words(self) -> &'static str {
        match self {
            Demand::NotNegative => "must not be negative",
            Demand::Positive => "must be more than 0",
        }
    }

    /// What is wrong with a number, and what to do.
    fn complaint(self, what: &str, value: f64) -> Option<String> {
        if !value.is_finite() {
            return Some(format!("{what} must be a finite number, not {value}{HINT}write a number such as 40"));
        }
        let ok = match self {
            Demand::NotNegative => value >= 0.0,
            Demand::Positive => value > 0.0,
        };
        let remedy = match self {
            Demand::NotNegative => "write 0 or more",
            Demand::Positive => "write a number above 0",
        };
        (!ok).then(|| format!("{what} {}, not {value}{HINT}{remedy}", self.words()))
    }
}

/// Declares a number: its name, what it must be, what it is called, and whether it may have a unit of time.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $demand:ident, $what:literal, $has_unit:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
        pub struct $name(f64);

        impl $name {
            /// This number.
            ///
            /// # Panics
            /// When the number is not one that this can be.
            pub fn of(value: f64) -> $name {
                if let Some(complaint) = Demand::$demand.complaint($what, value) {
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
                let visitor = NumberVisitor { demand: Demand::$demand, what: $what, has_unit: $has_unit };
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
                number_schema(Demand::$demand, $has_unit)
            }
        }
    )* };
}

numbers! {
    /// A point in time or a while, in milliseconds; not negative. Written as a number, or as a text with a unit: `"2 s"`.
    Time: NotNegative, "a time", true;
    /// The time between two events, in milliseconds; more than 0. Written as [`Time`] is.
    Period: Positive, "a period", true;
    /// An amount; not negative.
    Size: NotNegative, "a size", false;
    /// A number above 0.
    Positive: Positive, "this number", false;
}

fn write_number<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Whole numbers are written as people write them.
    if value.fract() == 0.0 && value.abs() < 9e15 {
        serializer.serialize_i64(value as i64)
    } else {
        serializer.serialize_f64(value)
    }
}

fn number_schema(demand: Demand, has_unit: bool) -> Schema {
    let number = match demand {
        Demand::NotNegative => json_schema!({ "type": "number", "minimum": 0 }),
        Demand::Positive => json_schema!({ "type": "number", "exclusiveMinimum": 0 }),
    };
    if !has_unit {
        return number;
    }
    let units: Vec<&str> = UNITS.iter().map(|(unit, _)| *unit).collect();
    let pattern = format!(r"^[0-9]+(\.[0-9]+)? *({})$", units.join("|"));
    json_schema!({ "anyOf": [number, { "type": "string", "pattern": pattern }] })
}

struct NumberVisitor {
    demand: Demand,
    what: &'static str,
    has_unit: bool,
}

impl NumberVisitor {
    fn with_unit(&self, text: &str) -> Result<f64, String> {
        let trimmed = text.trim();
        let end = trimmed
            .find(|character: char| !matches!(character, '0'..='9' | '.' | '-' | '+' | '_'))
            .unwrap_or(trimmed.len());
        let (number, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim());
        let Ok(value) = number.parse::<f64>() else {
            return Err(format!(
                "expected a number, found the text {text:?}{HINT}write a number, e.g. {}",
                self.example()
            ));
        };
        if !self.has_unit {
            return Err(format!("{} has no unit, but the text {text:?} has one{HINT}write {number}", self.what));
        }
        if unit.is_empty() {
            return Err(format!("expected a number, found the text {text:?}{HINT}write {number} without quotes"));
        }
        match UNITS.iter().find(|(known, _)| *known == unit) {
            Some((_, factor)) => Ok(value * factor),
            None => {
                let known: Vec<&str> = UNITS.iter().map(|(unit, _)| *unit).collect();
                Err(format!(
                    "`{unit}` is no unit of time{HINT}units of time: {}; a number alone is in ms",
                    known.join(", ")
                ))
            }
        }
    }

    fn example(&self) -> &'static str {
        if self.has_unit { "40 or \"40 ms\"" } else { "40" }
    }

    fn checked<E: de::Error>(&self, value: f64) -> Result<f64, E> {
        match self.demand.complaint(self.what, value) {
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
