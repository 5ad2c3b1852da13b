//! Tests of the transition system: one for each clause of its rules.

mod acceptance;
mod context;
mod driving;
mod history;
mod memory;
mod operations;
mod parking;
mod snapshots;
mod world;
