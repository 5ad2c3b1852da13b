//! Finding the files that a program names.

#![expect(
    clippy::disallowed_methods,
    reason = "a host that uses this resolver gives access to the files below its directories"
)]

use super::limits::INCLUDE_BYTES_MAX;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Finds sources for the directives `consult/1`, `ensure_loaded/1`, `use_module/1,2`, `include/1` and `[File, ...]`.
pub trait Resolver: Send {
    /// Returns the name and the text of the source that `from` refers to as `wanted`, or the reason why it cannot be
    /// found.
    fn resolve(&mut self, from: &str, wanted: &str) -> Result<(String, String), String>;
}

impl Resolver for Box<dyn Resolver> {
    fn resolve(&mut self, from: &str, wanted: &str) -> Result<(String, String), String> {
        (**self).resolve(from, wanted)
    }
}

/// Finds files below certain directories only.
///
/// A relative name refers to the directory of the source that uses it; the extension `.pl` may be omitted. Symbolic
/// links and `..` are resolved before a path is checked. A file of more than [`INCLUDE_BYTES_MAX`] bytes is an error.
pub struct Directories {
    roots: Vec<PathBuf>,
}

impl Directories {
    /// Allows files below these directories. A directory that does not exist is ignored.
    pub fn new(roots: impl IntoIterator<Item = impl AsRef<Path>>) -> Directories {
        Directories { roots: roots.into_iter().filter_map(|root| fs::canonicalize(root).ok()).collect() }
    }
}

impl Resolver for Directories {
    fn resolve(&mut self, from: &str, wanted: &str) -> Result<(String, String), String> {
        let beside = Path::new(from).parent().unwrap_or(Path::new("")).join(wanted);
        let mut with_ending = beside.clone().into_os_string();
        with_ending.push(".pl");
        let found = [beside, PathBuf::from(with_ending)].into_iter().find(|path| path.is_file());
        let Some(path) = found else { return Err("there is no such file".to_owned()) };
        let real = fs::canonicalize(&path).map_err(|error| error.to_string())?;
        if !self.roots.iter().any(|root| real.starts_with(root)) {
            return Err("it is outside of the directories that this program may read".to_owned());
        }
        let mut text = String::new();
        let file = fs::File::open(&real).map_err(|error| error.to_string())?;
        file.take(INCLUDE_BYTES_MAX as u64 + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
        if text.len() > INCLUDE_BYTES_MAX {
            return Err(format!("it is larger than {} MiB", INCLUDE_BYTES_MAX >> 20));
        }
        Ok((path.to_string_lossy().into_owned(), text))
    }
}
