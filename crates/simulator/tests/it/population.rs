//! The transition system from outside: the clauses of its rules, one test each.

mod acceptance;
mod context;
mod driving;
mod history;
mod memory;
mod operations;
mod parking;
mod snapshots;
mod world;
