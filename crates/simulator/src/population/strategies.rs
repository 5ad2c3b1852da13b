//! Other ways to judge than rule r1: the prototype's, and a planner's that sees the whole infrastructure. Nodes by themselves
//! cannot do either.

mod central;
mod sequential;

pub use central::Plan;
