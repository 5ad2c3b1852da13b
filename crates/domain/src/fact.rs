//! Extra facts: region, price, carbon, trust and so on.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::{Id, IdError};

/// An extra fact about an application or a node: `fact(Subject, Key, Value)` in a policy.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The subject: the id of an application or a node.
    pub subject: Id,
    /// The property, e.g. `region`.
    pub key: Id,
    /// The value, e.g. `eu`.
    pub value: FactValue,
}

/// The value of a [`Fact`].
#[derive(Clone, PartialEq, Debug)]
pub enum FactValue {
    /// A name or an integer.
    Id(Id),
    /// A float, which must be finite.
    Number(f64),
}

impl FactValue {
    /// A name as a value.
    pub fn name(name: &str) -> Result<FactValue, IdError> {
        Id::name(name).map(FactValue::Id)
    }
}

impl Serialize for FactValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            let id_or_number: Result<&Id, f64> = match self {
                FactValue::Id(id) => Ok(id),
                FactValue::Number(number) => Err(*number),
            };
            return id_or_number.serialize(serializer);
        }
        match self {
            FactValue::Id(id) => id.serialize(serializer),
            FactValue::Number(number) => serializer.serialize_f64(*number),
        }
    }
}

impl<'de> Deserialize<'de> for FactValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FactValue, D::Error> {
        if !deserializer.is_human_readable() {
            return match Result::<Id, f64>::deserialize(deserializer)? {
                Ok(id) => Ok(FactValue::Id(id)),
                Err(number) => FactValueVisitor.visit_f64(number),
            };
        }
        deserializer.deserialize_any(FactValueVisitor)
    }
}

struct FactValueVisitor;

impl Visitor<'_> for FactValueVisitor {
    type Value = FactValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the value of a fact: a name or a number")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<FactValue, E> {
        Ok(FactValue::Id(Id::Number(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<FactValue, E> {
        i64::try_from(value)
            .map(|value| FactValue::Id(Id::Number(value)))
            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<FactValue, E> {
        if value.is_finite() { Ok(FactValue::Number(value)) } else { Err(E::custom("a number is finite")) }
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<FactValue, E> {
        FactValue::name(value).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_has_this_json() {
        for value in ["\"eu\"", "3", "0.25"] {
            let json = format!(r#"{{"subject":"n42","key":"region","value":{value}}}"#);
            let fact: Fact = serde_json::from_str(&json).expect("valid");
            assert_eq!(serde_json::to_string(&fact).expect("plain data"), json);
        }
        assert!(serde_json::from_str::<FactValue>("[1]").is_err());
        for value in [FactValue::Number(0.1), FactValue::Id(Id::number(-1)), FactValue::name("eu").expect("a name")] {
            let mut memory = [0; 64];
            let bytes = postcard::to_slice(&value, &mut memory).expect("plain data");
            assert_eq!(postcard::from_bytes::<FactValue>(bytes).expect("the same"), value);
        }
        assert!(serde_json::from_str::<FactValue>("\"\"").is_err());
    }
}
