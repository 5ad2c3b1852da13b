//! The transition system: one test for each clause of its rules.

mod acceptance;
mod context;
mod driving;
mod history;
mod memory;
mod operations;
mod parking;
mod snapshots;
mod world;
