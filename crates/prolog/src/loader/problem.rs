//! What is wrong with a source, and where.

use super::Source;
use crate::reader::SyntaxError;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The program cannot be used.
    Error,
    /// It can, but something looks wrong.
    Warning,
}

/// What a problem is about, for hosts that treat some of them in their own way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    /// A variable that occurs once though its name does not say so.
    Singleton,
    /// Clauses of one predicate that are apart from each other, or replace those of another source.
    Order,
    /// A directive that failed.
    Directive,
    /// Anything else.
    Other,
}

/// A stretch of a source.
#[derive(Clone, Debug)]
pub struct Place {
    /// The bytes of the text.
    pub span: Range<usize>,
    pub(super) source: Arc<Source>,
}

impl Place {
    pub(crate) fn new(source: &Arc<Source>, span: Range<usize>) -> Place {
        Place { span, source: Arc::clone(source) }
    }

    /// Another stretch of the same source.
    #[must_use]
    pub fn at(&self, span: Range<usize>) -> Place {
        Place::new(&self.source, span)
    }

    /// The name of the source, as it was given to the loader.
    pub fn source_name(&self) -> &str {
        &self.source.name
    }

    /// The whole text of the source.
    pub fn source_text(&self) -> &str {
        &self.source.text
    }

    /// Line and column, both from 1; the column counts characters.
    pub fn position(&self) -> (usize, usize) {
        position(&self.source.text, self.span.start)
    }
}

/// One problem in a source.
#[derive(Clone, Debug)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub topic: Topic,
    /// The bytes of the text that it is about.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    pub(super) source: Arc<Source>,
}

impl Problem {
    pub(crate) fn new(
        severity: Severity,
        source: &Arc<Source>,
        span: Range<usize>,
        message: String,
        hint: Option<String>,
    ) -> Problem {
        Problem { severity, topic: Topic::Other, span, message, hint, source: Arc::clone(source) }
    }

    /// An error that a host finds in a source.
    pub fn error(place: &Place, message: String, hint: Option<String>) -> Problem {
        Problem::new(Severity::Error, &place.source, place.span.clone(), message, hint)
    }

    pub(crate) fn about(mut self, topic: Topic) -> Problem {
        self.topic = topic;
        self
    }

    pub(crate) fn syntax(source: &Arc<Source>, error: SyntaxError) -> Problem {
        Problem::new(Severity::Error, source, error.span, error.message, error.hint)
    }

    /// The name of the source, as it was given to the loader.
    pub fn source_name(&self) -> &str {
        &self.source.name
    }

    /// The whole text of the source.
    pub fn source_text(&self) -> &str {
        &self.source.text
    }

    /// The stretch of the source that it is about.
    pub fn place(&self) -> Place {
        Place::new(&self.source, self.span.clone())
    }

    /// Line and column, both from 1; the column counts characters.
    pub fn position(&self) -> (usize, usize) {
        position(&self.source.text, self.span.start)
    }
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position();
        write!(formatter, "{}:{line}:{column}: {}", self.source.name, self.message)
    }
}

/// A program that cannot be used: everything that is wrong with its text.
#[derive(Clone, Debug)]
pub struct LoadError {
    /// At least one, and up to [`ERRORS_MAX`](crate::ERRORS_MAX). If there are more, one more error says so.
    pub errors: Vec<Problem>,
    /// Other things worth looking at.
    pub warnings: Vec<Problem>,
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}
