//! The errors in a configuration, with the places of the wrong values in its text.

use std::error::Error;
use std::fmt;

use mario_settings::{At, File, Mistake};

use crate::error::LiveError;

/// All errors in a configuration, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The name of the text.
    pub name: String,
    /// The errors.
    pub mistakes: Vec<Mistake>,
}

impl ConfigError {
    pub(crate) fn new(name: &str, mistakes: Vec<Mistake>) -> ConfigError {
        ConfigError { name: name.to_owned(), mistakes }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot use the configuration `{}`", self.name)
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.mistakes.first().map(|mistake| mistake as &dyn Error)
    }
}

/// Returns the value, or records the error about the value at `path` and returns `None`.
pub(crate) fn keep<T>(
    source: &File,
    path: &[At<'_>],
    result: Result<T, LiveError>,
    mistakes: &mut Vec<Mistake>,
) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(fault) => {
            let mut message = fault.to_string();
            let mut cause = fault.source();
            while let Some(next) = cause {
                message += &format!(": {next}");
                cause = next.source();
            }
            let mistake = source.mistake(path, message);
            mistakes.push(match fault.help() {
                Some(hint) => mistake.hint(hint),
                None => mistake,
            });
            None
        }
    }
}
