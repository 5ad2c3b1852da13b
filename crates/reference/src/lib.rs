//! Recorded runs of the paper's prototype, which tests compare mario with.
//!
//! [`RecordedRun::of_policy`] returns the part of a run that is stored in the repository: the evaluations, the
//! activations of the managers, the first messages, and checksums of all messages. The full records are too large for
//! the repository. They are in `shared/reference` next to the checkout, or in the directory named by the variable
//! `MARIO_REFERENCE`. A test that can compare more with them calls [`full`]:
//!
//! ```no_run
//! // The part that is stored in the repository has already been compared.
//! let Some(positions) = mario_reference::full("prototype/positions.csv.gz") else { return };
//! ```
//!
//! [`synthetic_positions`] generates positions for the recorded users.
//!
//! **Invariant:** missing records are never skipped silently. On a developer's machine, the test prints which records
//! are missing. With `CI=true`, it fails.
//!
//! This crate is internal to mario: its interface changes without notice.

#![allow(clippy::disallowed_methods, reason = "it reads the full records if they are available")]

mod recorded;
mod users;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use recorded::{
    Activation, ConvertError, Evaluation, Facts, Judged, MESSAGES_PER_CHECKSUM, Message, Messages, Node, Operation,
    ParseError, Proposal, RecordedRun, name,
};
pub use users::synthetic_positions;

/// The path of one part of the full records. Returns `None`, and prints a message, if the part is missing.
///
/// # Panics
///
/// Panics if the part is missing and `CI` is `true`.
pub fn full(part: &str) -> Option<PathBuf> {
    let directory = directory(env::var_os("MARIO_REFERENCE"));
    match find(&directory, part) {
        Ok(path) => Some(path),
        Err(message) if env::var_os("CI").is_some_and(|value| value == "true") => {
            panic!("{message}")
        }
        Err(message) => {
            eprintln!("not compared with the full records: {message}");
            None
        }
    }
}

/// All messages of the run of a policy; `None` if the full records are not available.
///
/// # Panics
///
/// Panics like [`full`], and if the records are damaged.
pub fn full_messages(policy: usize) -> Option<Vec<Message>> {
    let directory = full(&format!("prototype/P{policy}"))?;
    Some(recorded::messages(&directory).unwrap_or_else(|error| panic!("{error}")))
}

fn directory(named: Option<OsString>) -> PathBuf {
    match named {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference"),
    }
}

fn find(directory: &Path, part: &str) -> Result<PathBuf, String> {
    let path = directory.join(part);
    if path.exists() {
        return Ok(path);
    }
    Err(format!("`{part}` is not in `{}`; set MARIO_REFERENCE to the directory that holds it", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_next_to_the_checkout_by_default() {
        assert!(directory(None).ends_with("../shared/reference"));
        assert_eq!(directory(Some("elsewhere".into())), Path::new("elsewhere"));
    }

    #[test]
    fn finds_existing_records_and_names_missing_ones() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(find(here, "src/lib.rs"), Ok(here.join("src/lib.rs")));
        let message = find(here, "src/gone.csv").expect_err("there is no such file");
        assert!(message.contains("`src/gone.csv`"), "{message}");
        assert!(message.contains("MARIO_REFERENCE"), "{message}");
    }
}
