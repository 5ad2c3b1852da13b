//! Builds text token by token, with a space wherever a token would be read differently without it.

use crate::reader::characters::{is_name_part, is_symbol};

/// The kind of the last token, as far as the next one depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Last {
    /// Ordinary text.
    Token,
    /// A prefix operator: an opening parenthesis directly after it would make it a functor.
    Prefix,
    /// The prefix operator `-`: a digit after it would make a negative number.
    Minus,
}

pub(super) struct Tokens<'t> {
    pub(super) text: &'t mut String,
    start: usize,
    last: Last,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t mut String) -> Tokens<'t> {
        let start = text.len();
        Tokens { text, start, last: Last::Token }
    }

    /// The number of bytes written so far.
    pub(super) fn written(&self) -> usize {
        self.text.len() - self.start
    }

    /// The allocated size of the whole text, in bytes.
    pub(super) fn capacity(&self) -> usize {
        self.text.capacity()
    }

    fn last_character(&self) -> Option<char> {
        self.text[self.start..].chars().next_back()
    }

    /// Appends a token; returns whether a space was inserted before it.
    pub(super) fn token(&mut self, token: &str) -> bool {
        let spaced = token.chars().next().is_some_and(|first| self.needs_space(first));
        if spaced {
            self.text.push(' ');
        }
        self.raw(token);
        spaced
    }

    /// Appends text without a space before it.
    pub(super) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
        self.last = Last::Token;
    }

    pub(super) fn prefix_operator(&mut self, token: &str) {
        self.token(token);
        self.last = if token == "-" { Last::Minus } else { Last::Prefix };
    }

    pub(super) fn needs_space(&self, first: char) -> bool {
        let Some(last) = self.last_character() else { return false };
        match first {
            '(' => self.last != Last::Token,
            '\'' => last == '\'' || last.is_ascii_digit(),
            '0'..='9' if self.last == Last::Minus => true,
            _ => (is_name_part(last) && is_name_part(first)) || (is_symbol(last) && is_symbol(first)),
        }
    }
}
