//! One problem as plain data, independent of its presentation.

use std::error::Error;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::render::nearest_valid;

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The command cannot do what was asked.
    Error,
    /// The command continues, but its result may be unexpected.
    Warning,
}

/// A text that a diagnostic refers to, and the name under which the user knows it.
///
/// Cheap to clone: many diagnostics about one file share its text and its line index.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the user wrote it, or a name such as `command line`.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// The byte offsets of all newlines. Computed on first use: most sources are never shown.
    line_ends: Arc<OnceLock<Vec<usize>>>,
}

impl Source {
    /// Creates a source from its name and its text.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), text: text.into(), line_ends: Arc::default() }
    }

    /// The one-based number of the line that contains this byte. A newline belongs to the line that it ends. The first
    /// call builds the line index.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        let ends = self.line_ends.get_or_init(|| self.text.match_indices('\n').map(|(place, _)| place).collect());
        ends.partition_point(|end| *end < byte) + 1
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.text == other.text
    }
}

impl Eq for Source {}

/// A place in the source with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// A byte range of the source text. Any value is accepted; see the crate's first invariant.
    pub span: Range<usize>,
    /// The text next to the caret; may be empty.
    pub text: String,
}

/// One problem: what was attempted, where it failed, why, and what may help.
///
/// Hints are texts, or data that each front end words: [`Diagnostic::worded`] turns them into texts, which can be
/// rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic<H = String> {
    /// The severity.
    pub severity: Severity,
    /// The problem in one line. For an error, usually the attempted action.
    pub title: String,
    /// The text that the labels point into; `None` if the problem is not in a text.
    pub source: Option<Source>,
    /// Places in the source. The first is the location of the fault, whose line and column appear in the header; the
    /// others are context.
    pub labels: Vec<Label>,
    /// Why it failed, outermost cause first.
    pub causes: Vec<String>,
    /// What the user can do about it.
    pub hints: Vec<H>,
}

impl<H> Diagnostic<H> {
    /// An error with only a title so far.
    pub fn error(title: impl Into<String>) -> Self {
        Self::new(Severity::Error, title)
    }

    /// A warning with only a title so far.
    pub fn warning(title: impl Into<String>) -> Self {
        Self::new(Severity::Warning, title)
    }

    /// An error created from a library's error: its `Display` is the title, its chain of `source()` the causes.
    pub fn from_error(error: &dyn Error) -> Self {
        match error.source() {
            Some(cause) => Self::error(error.to_string()).caused_by(cause),
            None => Self::error(error.to_string()),
        }
    }

    fn new(severity: Severity, title: impl Into<String>) -> Self {
        Self { severity, title: title.into(), source: None, labels: Vec::new(), causes: Vec::new(), hints: Vec::new() }
    }

    /// Sets the source, and inserts this place before all other labels: it becomes the location of the fault.
    #[must_use]
    pub fn at(mut self, source: &Source, span: Range<usize>, text: impl Into<String>) -> Self {
        self.source = Some(source.clone());
        self.labels.insert(0, Label { span, text: text.into() });
        self
    }

    /// Adds a place in the same source that explains the fault, such as the bracket that was never closed.
    #[must_use]
    pub fn context(mut self, span: Range<usize>, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The name of the source, and the one-based line and column of the fault; columns count characters. `None` without
    /// a source or a label.
    pub fn place(&self) -> Option<(&str, usize, usize)> {
        let (source, label) = (self.source.as_ref()?, self.labels.first()?);
        let start = nearest_valid(&source.text, &label.span).start;
        let line_start = source.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let column = source.text[line_start..start].chars().count() + 1;
        Some((&source.name, source.line_of(start), column))
    }

    /// Adds `error` and everything in its chain of `source()` as causes.
    #[must_use]
    pub fn caused_by(mut self, error: &dyn Error) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            self.causes.push(error.to_string());
            cause = error.source();
        }
        self
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<H>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same problem with its hints as texts.
    pub fn worded(&self, words: impl FnMut(&H) -> String) -> Diagnostic {
        Diagnostic {
            severity: self.severity,
            title: self.title.clone(),
            source: self.source.clone(),
            labels: self.labels.clone(),
            causes: self.causes.clone(),
            hints: self.hints.iter().map(words).collect(),
        }
    }
}
