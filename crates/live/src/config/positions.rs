//! The errors in a configuration, with the positions of the wrong values in its TOML text.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::LiveError;

/// One error in a configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// The message, in one line.
    pub message: String,
    /// The byte range of the wrong value in the text; `None` if the error has no position.
    pub span: Option<Range<usize>>,
    /// How the user can fix it, if a hint is known.
    pub hint: Option<String>,
}

/// All errors in a configuration, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The name of the text.
    pub name: String,
    /// The whole text.
    pub text: Arc<str>,
    /// The errors.
    pub mistakes: Vec<Mistake>,
}

impl Mistake {
    /// An error without a position.
    pub fn new(message: impl Into<String>) -> Mistake {
        Mistake { message: message.into(), span: None, hint: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Mistake {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl Error for Mistake {}

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

/// A text, and the positions of its values.
pub(crate) struct Positions<'a> {
    text: &'a str,
    table: Option<Spanned<DeTable<'a>>>,
}

impl<'a> Positions<'a> {
    pub(crate) fn new(text: &'a str) -> Positions<'a> {
        Positions { text, table: DeTable::parse(text).ok() }
    }

    /// The span of a value, by a path of keys and list positions. For a missing value, the span of its nearest
    /// ancestor; `None` if it has none, or the text is not TOML.
    pub(crate) fn span(&self, path: &[&str]) -> Option<Range<usize>> {
        let table = self.table.as_ref()?;
        let mut span = None;
        let mut value = table.get_ref().get(*path.first()?)?;
        for step in path.iter().skip(1).map(Some).chain([None]) {
            span = Some(value.span());
            let below = match (value.get_ref(), step) {
                (DeValue::Table(table), Some(key)) => table.get(*key),
                (DeValue::Array(list), Some(index)) => index.parse().ok().and_then(|index: usize| list.get(index)),
                _ => None,
            };
            match below {
                Some(below) => value = below,
                None => break,
            }
        }
        span
    }

    pub(crate) fn mistake(&self, path: &[&str], message: String) -> Mistake {
        Mistake { message, span: self.span(path), hint: None }
    }

    /// Returns the value, or records the error and returns `None`.
    pub(crate) fn keep<T>(
        &self,
        mistakes: &mut Vec<Mistake>,
        path: &[&str],
        result: Result<T, LiveError>,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                mistakes.push(self.fault(path, &fault));
                None
            }
        }
    }

    /// Turns a fault into an error at the position of a value.
    pub(crate) fn fault(&self, path: &[&str], fault: &LiveError) -> Mistake {
        let mut message = fault.to_string();
        let mut cause = fault.source();
        while let Some(next) = cause {
            message += &format!(": {next}");
            cause = next.source();
        }
        Mistake { message, span: self.span(path), hint: fault.help().map(str::to_owned) }
    }

    pub(crate) fn error(&self, name: &str, mistakes: Vec<Mistake>) -> ConfigError {
        ConfigError { name: name.to_owned(), text: self.text.into(), mistakes }
    }

    /// The error for a text that is not TOML, or has unknown keys, missing keys or values of wrong types.
    pub(crate) fn unreadable(&self, name: &str, error: &toml::de::Error, hint: &str) -> ConfigError {
        let hint = Some(hint.to_owned());
        let mistake = Mistake { message: error.message().to_owned(), span: error.span(), hint };
        self.error(name, vec![mistake])
    }
}
