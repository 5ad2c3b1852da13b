//! Problems in a source, with their places.

use super::Source;
use crate::reader::SyntaxError;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The severity of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The program cannot be used.
    Error,
    /// The program can be used, but something looks wrong.
    Warning,
}

/// The kind of a problem, for hosts that treat some kinds specially.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    /// A variable that occurs once although its name does not start with `_`.
    Singleton,
    /// Clauses of one predicate that are not consecutive, or that replace those of another source.
    Order,
    /// A directive that failed, raised an exception, or exceeded its limit on memory, trail entries or choice points.
    Directive,
    /// Any other problem.
    Other,
}

/// A range of a source.
#[derive(Clone, Debug)]
pub struct Place {
    /// The byte range in the text.
    pub span: Range<usize>,
    pub(super) source: Arc<Source>,
}

impl Place {
    pub(crate) fn new(source: &Arc<Source>, span: Range<usize>) -> Place {
        Place { span, source: Arc::clone(source) }
    }

    /// Another range of the same source.
    #[must_use]
    pub fn at(&self, span: Range<usize>) -> Place {
        Place::new(&self.source, span)
    }

    /// The name under which the source was loaded.
    pub fn source_name(&self) -> &str {
        &self.source.name
    }

    /// The whole text of the source.
    pub fn source_text(&self) -> &str {
        &self.source.text
    }

    /// One-based line and column; the column counts characters.
    pub fn position(&self) -> (usize, usize) {
        position(&self.source.text, self.span.start)
    }
}

/// One problem in a source.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The severity.
    pub severity: Severity,
    /// The kind.
    pub topic: Topic,
    /// The byte range in the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// How to fix it; `None` if that is unknown.
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

    /// An error found by the host.
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

    /// The name under which the source was loaded.
    pub fn source_name(&self) -> &str {
        &self.source.name
    }

    /// The whole text of the source.
    pub fn source_text(&self) -> &str {
        &self.source.text
    }

    /// The range of the source that the problem refers to.
    pub fn place(&self) -> Place {
        Place::new(&self.source, self.span.clone())
    }

    /// One-based line and column; the column counts characters.
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

/// The errors that prevent a program from being loaded.
#[derive(Clone, Debug)]
pub struct LoadError {
    /// The first errors found: at least one, and at most [`ERRORS_MAX`](crate::ERRORS_MAX). If there were more, one
    /// additional error at the end says so.
    pub errors: Vec<Problem>,
    /// Warnings found as well.
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
