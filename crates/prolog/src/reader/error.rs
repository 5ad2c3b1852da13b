//! What is wrong with a text, for people and for programs.

use std::fmt;
use std::ops::Range;

/// A mistake in a text: where, what, and how to mend it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyntaxError {
    /// The bytes of the text that the message is about.
    pub span: Range<usize>,
    /// What was expected, or what is wrong.
    pub message: String,
    /// How to mend it, when that can be guessed.
    pub hint: Option<String>,
    pub(crate) kind: SyntaxErrorKind,
    /// A better hint when all brackets of the clause turn out to be closed.
    pub(super) hint_if_closed: Option<String>,
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
        SyntaxError {
            span,
            message: message.into(),
            hint: None,
            kind: SyntaxErrorKind::Named(kind),
            hint_if_closed: None,
        }
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

impl fmt::Display for SyntaxError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}
