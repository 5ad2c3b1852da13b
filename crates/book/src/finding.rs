//! A problem in a page or in a source file.

use std::fmt;

/// A problem in a page or in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file, with a line number if there is one.
    pub place: String,
    /// The problem, and in most cases how to fix it.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}
