//! Alternatives to judging by managers: the prototype's arbitration, and a planner that sees the whole infrastructure.
//! Both enact each operation before they judge the next one.

mod central;
mod sequential;

pub use central::Plan;
