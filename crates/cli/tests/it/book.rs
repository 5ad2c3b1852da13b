//! Checks the book: its commands run and print the output shown, and its examples work as described.

mod applications;
mod citation;
mod clean_clone;
mod cluster;
mod commands;
mod figures;
mod gallery;
mod page;
mod trace;
mod walk;
mod yaml;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mario_testing::empty_directory;

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace is there")
}

/// Creates an empty directory for one test, with links to the examples, policies and scenarios of the repository.
fn place(name: &str) -> PathBuf {
    let place = empty_directory(env!("CARGO_TARGET_TMPDIR"), &format!("book/{name}"));
    for entry in ["examples", "policies", "scenarios"] {
        std::os::unix::fs::symlink(root().join(entry), place.join(entry)).expect("the place is empty");
    }
    place
}

/// A function that returns a command to run a script in a directory.
type Shell = fn(&str, &Path) -> Command;

/// Returns a command that runs a script in a directory, where `mario` is the binary under test.
fn shell(script: &str, directory: &Path) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_mario")).parent().expect("it is in a directory");
    let mut path = OsString::from(binary);
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command.args(["-euc", script]).current_dir(directory).env("PATH", path).env_remove("NO_COLOR");
    command
}

/// The paths of the Markdown pages in a directory of the repository, sorted.
fn pages_in(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(directory)).expect("the directory is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let pages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let name = |path: PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut pages: Vec<String> = pages.map(|path| format!("{directory}/{}", name(path))).collect();
    pages.sort();
    assert!(!pages.is_empty(), "{directory} has pages");
    pages
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
