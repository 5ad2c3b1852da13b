//! Alternatives to rule r1: the prototype's arbitration, and that of a planner that sees the whole infrastructure.
//! Neither is possible for nodes by themselves.

mod central;
mod sequential;

pub use central::Plan;
