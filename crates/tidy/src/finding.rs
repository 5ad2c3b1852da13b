//! The findings of rules.

use std::fmt;

/// One place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A file of the workspace, with a line number if there is one, or the name of a package, for some rules with its
    /// version.
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
