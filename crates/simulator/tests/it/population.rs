//! Tests of the rules of the transition system, on small populations that are driven by hand.

mod acceptance;
mod context;
mod driving;
mod history;
mod memory;
mod operations;
mod parking;
mod snapshots;
mod world;
