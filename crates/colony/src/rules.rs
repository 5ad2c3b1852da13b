//! The rules of the semantics, as functions without I/O or hidden state.
//!
//! | rule | function |
//! |---|---|
//! | a manager accepts or inhibits a request that concerns its node | [`judge`] |
//! | an instance adapts to another flavour of its application | [`adapt`] |
//! | an instance falls asleep, or wakes | [`sleep`], [`wake`] |
//! | an anchor does not undeploy itself | [`anchor`] |
//! | a node's own acceptance policy may inhibit a request, and fails closed | [`consent`] |
//! | an owner shrinks instances on its node, and announces evictions | [`initiative`] |
//! | an agent remembers an operation that was inhibited or accepted | [`remember`] |
//! | a memory of `k` cycles holds the operations of the last `k` evaluations | [`expire`] |
//! | a policy sees its memory in standard order, without repeats | [`visible`] |
//! | an agent keeps the part of its history that its policy declares to read | [`History`] |
//! | the facts that an agent sees when it evaluates its policy | [`know`] |
//!
//! A node that exchanges messages, a simulator that holds all nodes in one table, and the small worlds in which policies
//! are checked call the same functions. So these are generic over how instances and nodes are identified: by ids, or by
//! indices into a table.

mod adapt;
mod anchor;
mod history;
mod initiative;
mod judge;
mod know;
mod memory;
mod sleep;

pub use adapt::{HardwareChange, adapt};
pub use anchor::anchor;
pub use history::History;
pub use initiative::{EvictionNotice, HostedInstance, OwnerAct, initiative};
pub use judge::{Concern, Refusal, consent, judge};
pub use know::{Situation, know, number};
pub use memory::{RememberedOperation, expire, remember, visible};
pub use sleep::{sleep, wake};
