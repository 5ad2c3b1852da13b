//! The value of an allocation.

use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// The value of an allocation, or the difference of two values. Greater is better. Compared in this order: more
/// applications with an instance, more satisfied users, more users who reach an instance, less total latency, fewer
/// instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PlacementValue {
    /// Applications with at least one instance.
    pub present: i64,
    /// Users whose nearest instances are all within the latency that the application tolerates, and not overloaded.
    pub satisfied: i64,
    /// Users who reach an instance.
    pub served: i64,
    /// The total latency of the users in `served`, in millionths of a millisecond.
    pub latency_millionths: i64,
    /// Instances.
    pub instances: i64,
}

impl PlacementValue {
    /// The value of an empty allocation, and the difference of equal values.
    pub const ZERO: PlacementValue =
        PlacementValue { present: 0, satisfied: 0, served: 0, latency_millionths: 0, instances: 0 };
}

impl Ord for PlacementValue {
    fn cmp(&self, other: &PlacementValue) -> Ordering {
        let key = |value: &PlacementValue| {
            (value.present, value.satisfied, value.served, -value.latency_millionths, -value.instances)
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for PlacementValue {
    fn partial_cmp(&self, other: &PlacementValue) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Add for PlacementValue {
    type Output = PlacementValue;

    fn add(self, other: PlacementValue) -> PlacementValue {
        PlacementValue {
            present: self.present + other.present,
            satisfied: self.satisfied + other.satisfied,
            served: self.served + other.served,
            latency_millionths: self.latency_millionths + other.latency_millionths,
            instances: self.instances + other.instances,
        }
    }
}

impl Sub for PlacementValue {
    type Output = PlacementValue;

    fn sub(self, other: PlacementValue) -> PlacementValue {
        PlacementValue {
            present: self.present - other.present,
            satisfied: self.satisfied - other.satisfied,
            served: self.served - other.served,
            latency_millionths: self.latency_millionths - other.latency_millionths,
            instances: self.instances - other.instances,
        }
    }
}

impl Sum for PlacementValue {
    fn sum<I: Iterator<Item = PlacementValue>>(values: I) -> PlacementValue {
        values.fold(PlacementValue::ZERO, Add::add)
    }
}
