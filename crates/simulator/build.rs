//! Computes a fingerprint of the sources that the crate is built from.
//!
//! A checkpoint can only be resumed by the build that wrote it: another build might decode its bytes differently or
//! continue differently. The version number alone does not distinguish two development builds.

#![allow(clippy::disallowed_methods, reason = "a build script reads the sources")]

use std::fs;
use std::path::{Path, PathBuf};

/// The crates that a run depends on.
const CRATES: [&str; 8] = ["prolog", "domain", "policy", "colony", "settings", "scenario", "trace", "simulator"];

fn main() {
    let crates = Path::new("..");
    // The lock file fixes the versions of linked libraries.
    let mut files = vec![crates.join("../Cargo.lock")];
    for name in CRATES {
        let sources = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        collect(&sources, &mut files);
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    files.sort();
    // `mario_domain::Fnv1a`, which a build script could use only if the crate were built a second time for it.
    let mut fingerprint = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        for byte in fs::read(&file).unwrap_or_default() {
            fingerprint = (fingerprint ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=MARIO_SOURCES={fingerprint:016x}");
}

/// Appends all files below `folder` to `files`.
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
