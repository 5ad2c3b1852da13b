//! The crate from outside.

mod attachment;
mod checkpoints;
mod churn;
mod city;
mod dependents;
mod determinism;
mod documents;
mod extremes;
mod fidelity;
mod forged;
mod graphs;
mod lies;
mod mistakes;
mod network;
mod population;
mod prototype;
mod random_worlds;
mod recorded;
mod rest;
mod reuse;
mod scenarios;
mod wandering;
mod world;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

/// The bytes of a compressed file.
fn decompressed(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).expect("it is there")).read_to_end(&mut bytes).expect("compressed bytes");
    bytes
}
