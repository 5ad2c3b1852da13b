//! Syntax errors: a message for users, and a culprit for the error term that a Prolog program can catch.

use std::fmt;
use std::ops::Range;

/// A syntax error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The byte range that the message refers to.
    pub span: Range<usize>,
    /// What was expected, or what is wrong.
    pub message: String,
    /// How to fix it, if that can be guessed.
    pub hint: Option<String>,
    pub(crate) kind: SyntaxErrorKind,
}

/// The culprit of `syntax_error(Culprit)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SyntaxErrorKind {
    /// A plain atom.
    Named(&'static str),
    /// `undefined_char_escape(Character)`.
    Escape(char),
    /// `end_of_file_in_quoted(Quote)`.
    OpenQuote(char),
}

impl SyntaxError {
    pub(super) fn new(span: Range<usize>, kind: &'static str, message: impl Into<String>) -> SyntaxError {
        SyntaxError { span, message: message.into(), hint: None, kind: SyntaxErrorKind::Named(kind) }
    }

    pub(super) fn with_kind(mut self, kind: SyntaxErrorKind) -> SyntaxError {
        self.kind = kind;
        self
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> SyntaxError {
        self.hint = Some(hint.into());
        self
    }
}

impl SyntaxError {
    /// The culprit in the error term, `syntax_error(Culprit)`, as text.
    pub fn culprit(&self) -> String {
        match self.kind {
            SyntaxErrorKind::Named(name) => name.to_owned(),
            SyntaxErrorKind::Escape(character) => format!("undefined_char_escape('{}')", character.escape_default()),
            SyntaxErrorKind::OpenQuote(quote) => format!("end_of_file_in_quoted('{}')", quote.escape_default()),
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}
