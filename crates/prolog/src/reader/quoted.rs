//! Reads quoted text and escape sequences.

use super::characters::is_layout;
use super::error::{SyntaxError, SyntaxErrorKind};
use super::scanner::Scanner;

/// The meaning of an escape sequence.
pub(super) enum Escape {
    Character(char),
    /// A backslash at the end of a line, or `\c` and the layout after it: no character.
    Continuation,
}

impl Scanner<'_> {
    /// Reads the text up to the closing quote; the opening quote was consumed.
    ///
    /// As in ISO, quoted text cannot contain a line break, except after a backslash or in the layout after `\c`. So a
    /// missing quote invalidates one clause and not the rest of the file.
    pub(super) fn quoted(&mut self, quote: char) -> Result<String, SyntaxError> {
        let start = self.position - 1;
        let mut text = String::new();
        let mut first_error = None;
        loop {
            match self.peek() {
                None | Some('\n') => return Err(self.open_quote(start, quote)),
                Some('\\') => match self.escape() {
                    Ok(Escape::Character(character)) => text.push(character),
                    Ok(Escape::Continuation) => {}
                    Err(error) => first_error = first_error.or(Some(error)),
                },
                Some(character) => {
                    self.bump();
                    if character == quote && !self.eat(quote) {
                        break;
                    }
                    text.push(character);
                }
            }
        }
        first_error.map_or(Ok(text), Err)
    }

    fn open_quote(&mut self, start: usize, quote: char) -> SyntaxError {
        let line = self.text[start..self.position].trim_end();
        self.clause_ended = line.ends_with('.');
        let error = SyntaxError::new(start..start + line.len(), "", format!("the closing `{quote}` is missing"))
            .with_kind(SyntaxErrorKind::OpenQuote(quote));
        if self.bump().is_some() {
            error.with_hint(format!(
                "close it with `{quote}`; write `\\n` for a line break, `\\` at the end to continue"
            ))
        } else {
            error.with_hint(format!("close it with `{quote}`"))
        }
    }

    /// Reads an escape sequence; the scanner is at the backslash.
    pub(super) fn escape(&mut self) -> Result<Escape, SyntaxError> {
        let start = self.position;
        self.bump();
        let Some(character) = self.peek() else { return Err(self.undefined_escape(start, '\\')) };
        if matches!(character, '0'..='7') {
            return self.character_code(start, 8);
        }
        self.bump();
        let value = match character {
            'a' => '\x07',
            'b' => '\x08',
            'e' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            's' => ' ',
            't' => '\t',
            'v' => '\x0b',
            '\\' | '\'' | '"' | '`' => character,
            'x' => return self.character_code(start, 16),
            'u' => return self.unicode(start, 4),
            'U' => return self.unicode(start, 8),
            '\n' => return Ok(Escape::Continuation),
            '\r' if self.eat('\n') => return Ok(Escape::Continuation),
            'c' => {
                self.skip_while(is_layout);
                return Ok(Escape::Continuation);
            }
            _ => return Err(self.undefined_escape(start, character)),
        };
        Ok(Escape::Character(value))
    }

    fn undefined_escape(&self, start: usize, character: char) -> SyntaxError {
        let sequence = &self.text[start..self.position];
        SyntaxError::new(start..self.position, "", format!("`{sequence}` is not an escape sequence"))
            .with_kind(SyntaxErrorKind::Escape(character))
            .with_hint("write `\\\\` for a backslash")
    }

    /// Reads the digits of a character code and the closing backslash.
    fn character_code(&mut self, start: usize, radix: u32) -> Result<Escape, SyntaxError> {
        let digits = self.position;
        self.skip_while(|character| character.is_digit(radix));
        let digits = &self.text[digits..self.position];
        if digits.is_empty() || !self.eat('\\') {
            let span = start..self.position;
            let written = &self.text[span.clone()];
            let error = SyntaxError::new(span, "undefined_char_escape", format!("`{written}` has no closing `\\`"));
            return Err(error.with_hint("write the code of a character as in `\\x41\\`"));
        }
        self.character_of(start, digits, radix)
    }

    /// Reads a character code of exactly `count` hexadecimal digits.
    fn unicode(&mut self, start: usize, count: usize) -> Result<Escape, SyntaxError> {
        let rest = self.rest();
        let length = rest.chars().take(count).take_while(char::is_ascii_hexdigit).count();
        self.position += length;
        if length < count {
            let message = format!("expected {count} hexadecimal digits");
            return Err(SyntaxError::new(start..self.position, "Illegal \\u or \\U sequence", message));
        }
        self.character_of(start, &rest[..count], 16)
    }

    fn character_of(&self, start: usize, digits: &str, radix: u32) -> Result<Escape, SyntaxError> {
        u32::from_str_radix(digits, radix).ok().and_then(char::from_u32).map(Escape::Character).ok_or_else(|| {
            let span = start..self.position;
            let message = format!("`{}` is not the code of a character", &self.text[span.clone()]);
            SyntaxError::new(span, "Illegal character code", message)
        })
    }
}
