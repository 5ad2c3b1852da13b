//! The rules of the semantics as pure functions: one rule, one function.
//!
//! | rule | function |
//! |---|---|
//! | a manager accepts or inhibits a request that concerns its node | [`judge`] |
//! | an instance adapts to another flavour of its application | [`adapt`] |
//! | an instance falls asleep, or wakes | [`sleep`], [`wake`] |
//! | its own acceptance policy has the last word, and fails closed | [`consent`] |
//! | an owner shrinks what runs on its node, and announces evictions | [`initiative`] |
//! | an inhibited operation is remembered by the agent that asked | [`remember`] |
//! | a memory of `k` cycles holds what the last `k` evaluations asked in vain | [`expire`] |
//! | what a policy sees of that memory | [`visible`] |
//! | a policy that looks back is shown what happened before | [`History`] |
//! | what an agent knows when it evaluates its policy | [`know`] |
//!
//! A node that exchanges messages and a simulator that holds all nodes in one table call the same functions. So they are
//! generic over how each of them names things: by id, or by position in a table.

mod adapt;
mod history;
mod initiative;
mod judge;
mod know;
mod memory;
mod sleep;

pub use adapt::{HardwareChange, adapt};
pub use history::History;
pub use initiative::{Notice, OwnerAct, Present, initiative};
pub use judge::{Concern, Refusal, consent, judge};
pub use know::{Situation, know, number};
pub use memory::{Remembered, expire, remember, visible};
pub use sleep::{sleep, wake};
