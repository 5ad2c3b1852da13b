//! The crate from outside.

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
mod population;
mod prototype;
mod random_worlds;
mod rest;
mod reuse;
mod world;
