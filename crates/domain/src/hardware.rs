//! What applications need and nodes have.

use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// An amount of hardware.
///
/// Today that is a number of units. Everything that compares or adds amounts goes through the methods here, so that
/// several kinds of resource can take the place of the one number without a change elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hardware {
    units: u64,
}

/// How much hardware a node has, or has free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Capacity {
    /// This much.
    Bounded(Hardware),
    /// More than anybody will ask for, as in the cloud.
    Unbounded,
}

impl Hardware {
    /// Nothing.
    pub const NONE: Hardware = Hardware { units: 0 };

    /// So many units.
    pub const fn units(units: u64) -> Hardware {
        Hardware { units }
    }

    /// The number of units.
    pub const fn as_units(self) -> u64 {
        self.units
    }

    /// Whether this much can be taken from that much.
    pub fn fits(self, capacity: Capacity) -> bool {
        match capacity {
            Capacity::Bounded(available) => self.units <= available.units,
            Capacity::Unbounded => true,
        }
    }

    /// Both together; `None` beyond all numbers.
    #[must_use]
    pub fn checked_add(self, other: Hardware) -> Option<Hardware> {
        self.units.checked_add(other.units).map(Hardware::units)
    }
}

impl Capacity {
    /// So many units.
    pub const fn units(units: u64) -> Capacity {
        Capacity::Bounded(Hardware::units(units))
    }

    /// What is left when this much is taken; `None` when it does not fit.
    #[must_use]
    pub fn take(self, taken: Hardware) -> Option<Capacity> {
        match self {
            Capacity::Bounded(available) => available.units.checked_sub(taken.units).map(Capacity::units),
            Capacity::Unbounded => Some(Capacity::Unbounded),
        }
    }

    /// What there is when this much is given back; `None` beyond all numbers.
    #[must_use]
    pub fn give_back(self, given: Hardware) -> Option<Capacity> {
        match self {
            Capacity::Bounded(available) => available.checked_add(given).map(Capacity::Bounded),
            Capacity::Unbounded => Some(Capacity::Unbounded),
        }
    }
}

impl fmt::Display for Hardware {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.units)
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Bounded(hardware) => hardware.fmt(formatter),
            Capacity::Unbounded => formatter.write_str("unbounded"),
        }
    }
}

impl Serialize for Capacity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            let bound = match self {
                Capacity::Bounded(hardware) => Some(hardware),
                Capacity::Unbounded => None,
            };
            return bound.serialize(serializer);
        }
        match self {
            Capacity::Bounded(hardware) => hardware.serialize(serializer),
            Capacity::Unbounded => serializer.serialize_str("unbounded"),
        }
    }
}

impl<'de> Deserialize<'de> for Capacity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Capacity, D::Error> {
        if !deserializer.is_human_readable() {
            let bound = Option::<Hardware>::deserialize(deserializer)?;
            return Ok(bound.map_or(Capacity::Unbounded, Capacity::Bounded));
        }
        deserializer.deserialize_any(CapacityVisitor)
    }
}

struct CapacityVisitor;

impl Visitor<'_> for CapacityVisitor {
    type Value = Capacity;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a capacity: a number of units that is not negative, or \"unbounded\"")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Capacity, E> {
        Ok(Capacity::units(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Capacity, E> {
        u64::try_from(value).map(Capacity::units).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Capacity, E> {
        if value == "unbounded" {
            Ok(Capacity::Unbounded)
        } else {
            Err(E::invalid_value(de::Unexpected::Str(value), &self))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_units_or_unbounded_in_json() {
        for (json, capacity) in [("9", Capacity::units(9)), ("\"unbounded\"", Capacity::Unbounded)] {
            assert_eq!(serde_json::from_str::<Capacity>(json).expect("a capacity"), capacity);
            assert_eq!(serde_json::to_string(&capacity).expect("a capacity"), json);
            let mut memory = [0; 64];
            let bytes = postcard::to_slice(&capacity, &mut memory).expect("plain data");
            assert_eq!(postcard::from_bytes::<Capacity>(bytes).expect("the same"), capacity);
        }
        for json in ["-1", "1.5", "\"infinite\"", "null"] {
            let error = serde_json::from_str::<Capacity>(json).expect_err("not a capacity").to_string();
            assert!(error.contains("unbounded"), "{json}: {error}");
        }
    }

    #[test]
    fn never_takes_more_than_there_is() {
        let nine = Capacity::units(9);
        assert_eq!(nine.take(Hardware::units(9)), Some(Capacity::units(0)));
        assert_eq!(nine.take(Hardware::units(10)), None);
        assert!(!Hardware::units(10).fits(nine));
        assert!(Hardware::units(u64::MAX).fits(Capacity::Unbounded));
        assert_eq!(Capacity::Unbounded.take(Hardware::units(1)), Some(Capacity::Unbounded));
        assert_eq!(nine.give_back(Hardware::units(u64::MAX)), None);
    }
}
