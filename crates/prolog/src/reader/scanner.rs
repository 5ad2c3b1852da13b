//! Splits text into tokens.
//!
//! Written by hand rather than generated: quotes, `0'c`, digit groups and the end token all need lookahead, and after
//! an error the scanner must continue after the whole broken token.

use super::characters::{is_layout, is_name_part, is_name_start, is_symbol, is_variable_start};
use super::error::SyntaxError;
use crate::number::Number;
use crate::symbols::{Atom, Atoms, atoms};
use std::ops::Range;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Name(Atom),
    QuotedName(Atom),
    /// A variable, whose name is the text of the span.
    Variable,
    Number(Number),
    DoubleQuoted(String),
    BackQuoted(String),
    Open,
    Close,
    OpenList,
    CloseList,
    OpenCurly,
    CloseCurly,
    Comma,
    Bar,
    /// The full stop of a clause.
    End,
    EndOfText,
}

impl Token {
    /// Whether a term can start with this token.
    pub(super) fn starts_term(&self) -> bool {
        !matches!(
            self,
            Token::Close
                | Token::CloseList
                | Token::CloseCurly
                | Token::Comma
                | Token::Bar
                | Token::End
                | Token::EndOfText
        )
    }
}

/// A token and its place.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether the token is a name or a closing `]` or `}`, and an opening parenthesis follows immediately.
    pub(super) applied: bool,
}

impl Lexeme {
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.end
    }
}

pub(super) struct Scanner<'t> {
    pub(super) text: &'t str,
    pub(super) position: usize,
    /// Whether a quote was left open on a line that ends in `.`. The clause is then assumed to end there.
    pub(super) clause_ended: bool,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, position: 0, clause_ended: false }
    }

    /// Skips a byte order mark and a `#!` line at the start of a file.
    pub(super) fn skip_file_start(&mut self) {
        self.eat('\u{feff}');
        if self.rest().starts_with("#!") {
            self.skip_line();
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character after the next one.
    pub(super) fn peek_second(&self) -> Option<char> {
        let mut characters = self.rest().chars();
        characters.next();
        characters.next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.position += character.len_utf8();
        Some(character)
    }

    /// Consumes `character` if it is next.
    pub(super) fn eat(&mut self, character: char) -> bool {
        let found = self.peek() == Some(character);
        if found {
            self.position += character.len_utf8();
        }
        found
    }

    pub(super) fn skip_while(&mut self, wanted: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
    }

    fn skip_line(&mut self) {
        self.position += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    pub(super) fn skip_layout(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.skip_while(is_layout);
            if self.peek() == Some('%') {
                self.skip_line();
            } else if self.rest().starts_with("/*") {
                let start = self.position;
                let Some(length) = self.rest()[2..].find("*/") else {
                    self.position = self.text.len();
                    let kind = "end_of_file_in_block_comment";
                    let error = SyntaxError::new(start..start + 2, kind, "this comment never ends");
                    return Err(error.with_hint("close it with `*/`"));
                };
                self.position += length + 4;
            } else {
                return Ok(());
            }
        }
    }

    /// The next token. After an error, the scanner is after the broken token.
    pub(super) fn next(&mut self, atoms: &mut Atoms) -> Result<Lexeme, SyntaxError> {
        self.skip_layout()?;
        let start = self.position;
        let token = self.token(atoms)?;
        let applied = matches!(token, Token::Name(_) | Token::QuotedName(_) | Token::CloseList | Token::CloseCurly)
            && self.peek() == Some('(');
        Ok(Lexeme { token, start, end: self.position, applied })
    }

    fn token(&mut self, atoms: &mut Atoms) -> Result<Token, SyntaxError> {
        let start = self.position;
        let Some(character) = self.peek() else { return Ok(Token::EndOfText) };
        if character.is_ascii_digit() {
            return self.number().map(Token::Number);
        }
        if is_symbol(character) {
            return Ok(self.symbol_name(atoms));
        }
        if is_name_start(character) || is_variable_start(character) {
            self.skip_while(is_name_part);
            if is_variable_start(character) {
                return Ok(Token::Variable);
            }
            return Ok(Token::Name(atoms.intern(&self.text[start..self.position])));
        }
        self.bump();
        Ok(match character {
            '(' => Token::Open,
            ')' => Token::Close,
            '[' => Token::OpenList,
            ']' => Token::CloseList,
            '{' => Token::OpenCurly,
            '}' => Token::CloseCurly,
            ',' => Token::Comma,
            '|' => Token::Bar,
            '!' => Token::Name(atoms::CUT),
            ';' => Token::Name(atoms::SEMICOLON),
            '\'' => Token::QuotedName(atoms.intern(&self.quoted('\'')?)),
            '"' => Token::DoubleQuoted(self.quoted('"')?),
            '`' => Token::BackQuoted(self.quoted('`')?),
            _ => {
                let message = format!("the character {character:?} is not allowed here");
                let error = SyntaxError::new(start..self.position, "illegal_character", message);
                return Err(error.with_hint("put it in quotes"));
            }
        })
    }

    fn symbol_name(&mut self, atoms: &mut Atoms) -> Token {
        let start = self.position;
        self.skip_while(is_symbol);
        let name = &self.text[start..self.position];
        if name == "." && self.peek().is_none_or(|next| is_layout(next) || next == '%') {
            return Token::End;
        }
        Token::Name(atoms.intern(name))
    }
}
