//! The syntax errors of the parser.

use super::error::SyntaxError;
use super::parser::{Bracket, Frame, Parser};
use super::scanner::{Lexeme, Token};
use crate::operators::Operator;
use std::ops::Range;

impl Parser<'_, '_, '_> {
    /// The error for a token that cannot start a term.
    pub(super) fn cannot_start_term(&self, lexeme: &Lexeme) -> SyntaxError {
        let is_end = matches!(lexeme.token, Token::End | Token::EndOfText);
        let (kind, hint) = match lexeme.token {
            Token::Comma | Token::Bar => {
                ("quoted_punctuation", Some(format!("write `'{}'` for the atom", self.text(lexeme))))
            }
            Token::EndOfText if !self.end_is_optional => ("end_of_file", Some("end the clause with `.`".to_owned())),
            _ if is_end && self.waiting().is_some() => ("operator_balance", None),
            _ if is_end => ("end_of_clause", None),
            _ => ("cannot_start_term", None),
        };
        let before = self.scanner.text[..lexeme.start].trim_end();
        let message = match before.chars().next_back() {
            Some(last @ (',' | '|' | '(' | '[' | '{' | ';')) if !before.ends_with(['\'', '"']) => {
                format!("expected a term after `{last}`")
            }
            _ => "expected a term".to_owned(),
        };
        let mut error = SyntaxError::new(lexeme.span(), kind, message);
        error.hint = hint;
        error
    }

    /// The error for a complete term followed by a token that is neither an operator nor closes the innermost bracket.
    pub(super) fn operator_expected(&self, lexeme: &Lexeme) -> SyntaxError {
        let frame = self.frame();
        let kind = match (&lexeme.token, frame.bracket) {
            (Token::Comma | Token::Bar, Bracket::Tail) => "list_rest",
            (Token::Close | Token::CloseList | Token::CloseCurly, _) => "cannot_start_term",
            (Token::EndOfText, _) if !self.end_is_optional => "end_of_file",
            _ => "operator_expected",
        };
        let message = match frame.bracket {
            Bracket::Clause if matches!(lexeme.token, Token::EndOfText) => "the last clause has no final `.`".into(),
            Bracket::Clause => match self.text(lexeme) {
                closer @ (")" | "]" | "}") => format!("there is nothing open that this `{closer}` closes"),
                _ => "expected an operator or `.`".into(),
            },
            Bracket::Parentheses => "expected an operator or `)`".to_owned(),
            Bracket::Curly => "expected an operator or `}`".into(),
            Bracket::Arguments(_) => "expected `,` or `)`".into(),
            Bracket::List => "expected `,`, `|` or `]`".into(),
            Bracket::Tail => "expected `]`".into(),
        };
        let mut error = SyntaxError::new(lexeme.span(), kind, message);
        error.hint = self.hint_for(lexeme, frame);
        if let (Token::End | Token::EndOfText, Some((start, end))) = (&lexeme.token, frame.neck)
            && let Some((what, _)) = name_of(frame.bracket)
        {
            error.span = start..end;
            error.hint = Some(format!("close the {what} before `{}`", &self.scanner.text[start..end]));
        }
        error
    }

    fn hint_for(&self, lexeme: &Lexeme, frame: Frame) -> Option<String> {
        let text = self.text(lexeme);
        if let Some(hint) = foreign_operator(&self.scanner.text[lexeme.start..]) {
            return Some(hint.to_owned());
        }
        match (&lexeme.token, name_of(frame.bracket)) {
            (Token::End, Some((what, _))) => Some(format!("close the {what} before the end of the clause")),
            (Token::EndOfText, Some((what, _))) => Some(format!("close the {what}")),
            (Token::EndOfText, None) => Some("a clause ends with `.`".into()),
            (Token::Close | Token::CloseList | Token::CloseCurly, Some((what, closer))) => {
                Some(format!("close the {what} with `{closer}`"))
            }
            (Token::Open, _) => self.hint_for_open(lexeme.start),
            (Token::Name(_), _) if text.starts_with('.') => {
                Some("put a space or a line end after the final `.`".into())
            }
            (_, None) if self.starts_line(lexeme.start) => Some("end the clause before with `.`".into()),
            _ => None,
        }
    }

    /// The hint for an opening parenthesis after a complete term, as in `foo (` and `X(`.
    fn hint_for_open(&self, start: usize) -> Option<String> {
        let before = self.scanner.text[..start].trim_end();
        let name = &before[before
            .rfind(|c: char| !super::characters::is_name_part(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8))..];
        let first = name.chars().next()?;
        if super::characters::is_variable_start(first) {
            return Some(format!("call a goal that is only known at run time with `call({name}, …)`"));
        }
        (before.len() < start).then(|| format!("write `{name}(` without a space"))
    }

    /// Whether only layout precedes `position` on its line; false on the first line.
    fn starts_line(&self, position: usize) -> bool {
        let line = self.scanner.text[..position].rfind('\n');
        line.is_some_and(|line| self.scanner.text[line..position].trim().is_empty())
    }

    /// The error for an empty argument list, as in `foo()`.
    pub(super) fn no_arguments(&self, start: usize, end: usize) -> SyntaxError {
        let name = &self.scanner.text[start..end - 1];
        SyntaxError::new(start..end + 1, "cannot_start_term", "expected an argument")
            .with_hint(format!("write `{name}` without parentheses"))
    }

    /// The error for a prefix operator whose priority is too high at this position.
    pub(super) fn too_strong(&self, lexeme: &Lexeme, operator: Operator) -> SyntaxError {
        let name = self.text(lexeme);
        let message = format!("a term with `{name}`, of priority {}, cannot stand here", operator.priority);
        SyntaxError::new(lexeme.span(), "operator_clash", message).with_hint("put the term in parentheses")
    }

    /// The error for two operators whose priorities conflict.
    pub(super) fn clash(&self, lexeme: &Lexeme, other: Option<Range<usize>>) -> SyntaxError {
        let name = self.text(lexeme);
        let message = match other {
            Some(other) => format!("`{name}` clashes with `{}` before it", &self.scanner.text[other]),
            None => format!("`{name}` clashes with the operator before it"),
        };
        let hint = match name {
            ":-" | "-->" => "end the clause before with `.`, or put the inner term in parentheses",
            _ => "put one of the terms in parentheses",
        };
        SyntaxError::new(lexeme.span(), "operator_clash", message).with_hint(hint)
    }
}

/// What to write instead of an operator of other languages, with which `rest` starts.
fn foreign_operator(rest: &str) -> Option<&'static str> {
    const OPERATORS: &[(&str, &str)] = &[
        ("<=", "less or equal is written `=<`"),
        ("!==", "write `\\==` for terms that differ"),
        ("!=", "write `=\\=` for numbers that differ, and `\\==` for other terms"),
        ("<>", "write `=\\=` for numbers that differ, and `\\==` for other terms"),
        ("===", "write `==` for identical terms, and `=:=` for equal numbers"),
        ("&&", "the conjunction of two goals is written `,`"),
        ("&", "the conjunction of two goals is written `,`"),
        ("%=", "the remainder of a division is written `X mod Y`"),
    ];
    // The whole operator is compared: `<=>` may be one that the author forgot to declare.
    let symbols = |text: &str| text.find(|c: char| !"<=!>&|%:\\+-*/@#~^?$.".contains(c)).unwrap_or(text.len());
    let written = &rest[..symbols(rest)];
    OPERATORS.iter().find(|(operator, _)| *operator == written).map(|(_, hint)| *hint)
}

/// The name of an open bracket, and its closing bracket; `None` for the clause itself.
fn name_of(bracket: Bracket) -> Option<(&'static str, &'static str)> {
    match bracket {
        Bracket::Clause => None,
        Bracket::Parentheses => Some(("parentheses", ")")),
        Bracket::Curly => Some(("braces", "}")),
        Bracket::Arguments(_) => Some(("argument list", ")")),
        Bracket::List | Bracket::Tail => Some(("list", "]")),
    }
}
