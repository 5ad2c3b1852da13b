//! The numbers of instances.

use serde::{Deserialize, Serialize};

/// Assigns the numbers of new instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InstanceNumbers {
    /// The next number.
    pub next: i64,
    /// How many numbers a new instance takes: 1, or 2 if its agent takes one, too, as in the prototype's shared
    /// numbering. The first is the id of the instance.
    pub per_instance: i64,
}

impl InstanceNumbers {
    /// 1, 2, 3 and so on.
    pub const COUNTED: InstanceNumbers = InstanceNumbers { next: 1, per_instance: 1 };

    /// Takes `count` numbers; returns the first of them.
    pub fn take(&mut self, count: i64) -> i64 {
        let first = self.next;
        self.next += count;
        first
    }
}
