//! The value of an allocation.

use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// The value of an allocation, or the difference of two values. Greater is better. Compared in this order: more
/// applications with an instance, more satisfied users, more users who reach an instance, less total latency, fewer
/// instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Value {
    /// Applications with at least one instance.
    pub present: i64,
    /// Users whose nearest instances are all within the latency that the application tolerates, and not overloaded.
    pub satisfied: i64,
    /// Users who reach an instance.
    pub served: i64,
    /// The total latency of those users, in millionths of a millisecond.
    pub latency_millionths: i64,
    /// Instances.
    pub instances: i64,
}

impl Value {
    /// The value of an empty allocation, and the difference of equal values.
    pub const ZERO: Value = Value { present: 0, satisfied: 0, served: 0, latency_millionths: 0, instances: 0 };
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        let key =
            |value: &Value| (value.present, value.satisfied, value.served, -value.latency_millionths, -value.instances);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Add for Value {
    type Output = Value;

    fn add(self, other: Value) -> Value {
        Value {
            present: self.present + other.present,
            satisfied: self.satisfied + other.satisfied,
            served: self.served + other.served,
            latency_millionths: self.latency_millionths + other.latency_millionths,
            instances: self.instances + other.instances,
        }
    }
}

impl Sub for Value {
    type Output = Value;

    fn sub(self, other: Value) -> Value {
        Value {
            present: self.present - other.present,
            satisfied: self.satisfied - other.satisfied,
            served: self.served - other.served,
            latency_millionths: self.latency_millionths - other.latency_millionths,
            instances: self.instances - other.instances,
        }
    }
}

impl Sum for Value {
    fn sum<I: Iterator<Item = Value>>(values: I) -> Value {
        values.fold(Value::ZERO, Add::add)
    }
}
