//! Tests of figures and measures, of the reproduction, of studies and their comparisons, of reports, of traces of
//! counts, and of the check of a run's files.

#![allow(clippy::disallowed_methods, reason = "tests read files and wait for processes")]

mod figures;
mod measured;
mod reproduction;
mod run_files;
mod studies;
mod summaries;

use std::fs;
use std::path::{Path, PathBuf};

use mario_scenario::Files;

/// Reads files from the disk.
struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|error| error.to_string())
    }
}

/// Returns the path of a test's directory. If it exists from an earlier run, it is removed.
fn fresh_directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory).expect("a directory of an earlier test");
    }
    directory
}
