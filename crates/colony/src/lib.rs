//! The transition system: management cycles, context changes, acceptance and memory.

mod index;

pub use index::{AgentIndex, ApplicationIndex, NodeIndex, PolicyIndex};
