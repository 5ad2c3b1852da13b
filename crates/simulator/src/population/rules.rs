//! The settings of the transition system.

use serde::{Deserialize, Serialize};

/// How requests to manage are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Arbitration {
    /// By the managers of all nodes concerned; what is accepted is enacted together.
    Managers,
    /// As in the prototype: last come first judged, each enacted at once, by free hardware, and by acceptance policies where
    /// nodes have them; who migrates gets a new id and loses its memory.
    Sequential,
    /// By a plan that somebody with a view of the whole infrastructure made: see [`Colony::r1_by_plan`](crate::population::Colony::r1_by_plan).
    Central,
}

/// How long agents remember what was inhibited.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Memory {
    /// For as many of their last evaluations as their policy says.
    Sliding,
    /// As in the prototype: everything is forgotten at every so-manieth evaluation, whatever the policy says.
    Periodic {
        /// At every so-manieth; positive.
        every: u32,
    },
}

/// Which numbers new instances get.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Numbers {
    /// The next one.
    pub next: i64,
    /// How many a new instance takes; the first of them is its id.
    pub per_instance: i64,
}

impl Numbers {
    /// 1, 2, 3 and so on.
    pub const COUNTED: Numbers = Numbers { next: 1, per_instance: 1 };

    /// Takes so many numbers, and gives the first of them.
    pub fn take(&mut self, count: i64) -> i64 {
        let first = self.next;
        self.next += count;
        first
    }
}
