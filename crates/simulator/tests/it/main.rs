//! Integration tests of the simulator.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod anchors;
mod call_rates;
mod calls;
mod checkpoints;
mod churn;
mod city;
mod determinism;
mod extremes;
mod fidelity;
mod forged;
mod lies;
mod network;
mod nodes;
mod overload;
mod parking;
mod population;
mod prototype;
mod random_worlds;
mod reuse;
mod updates;
mod world;
