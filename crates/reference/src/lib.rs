//! Finds the reference data that tests compare mario with.
//!
//! The data, measurements of the paper's prototype and the like, is too large for the repository. It lies in
//! `shared/reference` beside the checkout, or where the variable `MARIO_REFERENCE` says. A test that needs a part of it
//! asks [`path`]:
//!
//! ```no_run
//! let Some(handovers) = mario_reference::path("prototype/P1/handovers.csv") else {
//!     return;
//! };
//! ```
//!
//! **Invariant:** a missing part is never passed over in silence. On a developer's machine the test says that it skips;
//! where `CI=true`, it fails.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The path of one part of the reference data; `None` when the test is to be skipped, which has then been said.
///
/// # Panics
///
/// When the part is missing and `CI` is `true`.
pub fn path(part: &str) -> Option<PathBuf> {
    let directory = directory(env::var_os("MARIO_REFERENCE"));
    match find(&directory, part) {
        Ok(path) => Some(path),
        Err(message) if env::var_os("CI").is_some_and(|value| value == "true") => {
            panic!("{message}")
        }
        Err(message) => {
            eprintln!("skipped: {message}");
            None
        }
    }
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
    Err(format!(
        "reference data `{part}` is not in `{}`; set MARIO_REFERENCE to the directory that holds it",
        directory.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_beside_the_checkout_unless_told_otherwise() {
        assert!(directory(None).ends_with("../shared/reference"));
        assert_eq!(directory(Some("elsewhere".into())), Path::new("elsewhere"));
    }

    #[test]
    fn finds_what_is_there_and_names_what_is_not() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(find(here, "src/lib.rs"), Ok(here.join("src/lib.rs")));
        let message = find(here, "src/gone.csv").expect_err("there is no such file");
        assert!(message.contains("`src/gone.csv`"), "{message}");
        assert!(message.contains("MARIO_REFERENCE"), "{message}");
    }
}
