//! Why the book could not be built.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why the book could not be built. A broken link is not such an error but a [`Finding`](crate::Finding).
#[derive(Debug)]
pub enum BookError {
    /// A file cannot be read or written.
    File(PathBuf, io::Error),
    /// A program cannot be started.
    Start(String, io::Error),
    /// A program failed, or printed warnings: its name and its standard error.
    Failed(String, String),
}

impl BookError {
    /// Adds a hint to the output of a failed program; other errors stay unchanged.
    pub(crate) fn with_hint(self, hint: &str) -> Self {
        match self {
            Self::Failed(program, said) => Self::Failed(program, format!("{}\n{hint}", said.trim_end())),
            other => other,
        }
    }

    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File(path, error)
    }
}

impl fmt::Display for BookError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, _) => write!(formatter, "cannot read or write `{}`", path.display()),
            Self::Start(program, _) => write!(formatter, "cannot start `{program}`"),
            Self::Failed(program, said) => write!(formatter, "`{program}` failed:\n{}", said.trim_end()),
        }
    }
}

impl Error for BookError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File(_, error) | Self::Start(_, error) => Some(error),
            Self::Failed(..) => None,
        }
    }
}
