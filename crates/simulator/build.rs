//! Tells the crate which sources it is built from.
//!
//! A checkpoint is taken up only by the very program that wrote it: another one might read its bytes otherwise, or go on
//! otherwise than the run began. A version number alone does not tell two builds in development apart.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates that a run depends on.
const CRATES: [&str; 7] = ["prolog", "domain", "policy", "colony", "scenario", "trace", "simulator"];

fn main() {
    let crates = Path::new("..");
    // Which versions of libraries are linked is in the lock file.
    let mut files = vec![crates.join("../Cargo.lock")];
    for name in CRATES {
        let sources = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        collect(&sources, &mut files);
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    files.sort();
    // FNV-1a with 64 bits: enough to notice a change, and the same everywhere.
    let mut fingerprint = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in fs::read(&file).unwrap_or_default() {
            fingerprint = (fingerprint ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=MARIO_SOURCES={fingerprint:016x}");
}

/// All files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
