//! Alternatives to rule r1: the prototype's arbitration, and a planner that sees the whole infrastructure. Neither can
//! be implemented by nodes that exchange messages.

mod central;
mod sequential;

pub use central::Plan;
