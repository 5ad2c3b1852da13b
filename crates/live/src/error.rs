//! Errors: what failed, why, and a hint.

use std::error::Error;
use std::fmt;

/// The failure of an operation.
#[derive(Debug)]
pub struct LiveError {
    attempted: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
    hint: Option<String>,
}

impl LiveError {
    /// Creates an error with a one-line description of what failed.
    pub fn new(attempted: impl Into<String>) -> LiveError {
        LiveError { attempted: attempted.into(), cause: None, hint: None }
    }

    /// Adds the cause.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> LiveError {
        self.cause = Some(cause.into());
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> LiveError {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the hint, or else the first hint in the chain of causes; `None` if there is none.
    pub fn help(&self) -> Option<&str> {
        let of_cause = || self.cause.as_deref()?.downcast_ref::<LiveError>()?.help();
        self.hint.as_deref().or_else(of_cause)
    }

    /// Returns the error and its causes in one line, for a message that has a hint of its own.
    pub fn line_without_hint(&self) -> String {
        let mut line = self.attempted.clone();
        let mut cause = self.source();
        while let Some(next) = cause {
            line += &format!(": {next}");
            cause = next.source();
        }
        line
    }

    /// Returns the error, its causes and its hint in one line, for a log or an answer.
    pub fn line(&self) -> String {
        let mut line = self.line_without_hint();
        if let Some(hint) = self.help() {
            line += &format!(" ({hint})");
        }
        line
    }
}

impl fmt::Display for LiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.attempted)
    }
}

impl Error for LiveError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}
