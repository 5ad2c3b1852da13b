//! Integration tests of scenarios.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod attachment;
mod beyond;
mod city;
mod dependents;
mod documents;
mod graphs;
mod groups;
mod mistakes;
mod node_tables;
mod recorded;
mod scenarios;
mod units;
mod wandering;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

/// The decompressed content of a gzip file.
fn decompressed(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).expect("it is there")).read_to_end(&mut bytes).expect("compressed bytes");
    bytes
}
