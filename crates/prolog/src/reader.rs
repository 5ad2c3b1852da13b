//! Reads terms from text.
//!
//! [`Reader::next`] returns one clause after the other. After an error, it continues with the next clause. The syntax
//! is that of ISO Prolog with extensions of SWI-Prolog.

mod error;
mod mistakes;
mod numbers;
mod parser;
mod quoted;
mod scanner;

pub(crate) mod characters;

pub use error::SyntaxError;
pub(crate) use error::SyntaxErrorKind;

use crate::flags::Flags;
use crate::number::Number;
use crate::operators::Operators;
use crate::store::Store;
use crate::symbols::Atoms;
use crate::term::Term;
use parser::{Parser, Stacks};
use scanner::{Scanner, Token};
use std::ops::Range;

/// The flags, operators and atoms for reading. Directives may change them between two clauses.
pub(crate) struct Syntax<'s> {
    pub(crate) atoms: &'s mut Atoms,
    pub(crate) operators: &'s Operators,
    pub(crate) flags: &'s Flags,
}

/// A term, and the places of its parts in the text.
#[derive(Debug)]
pub(crate) struct ReadTerm {
    pub(crate) term: Term,
    /// Named variables in order of first appearance, without `_`.
    pub(crate) variables: Vec<(Box<str>, Term)>,
    /// Variables that appear once although their name does not start with `_`.
    pub(crate) singletons: Vec<(Box<str>, Range<usize>)>,
    /// The range of the term without its full stop.
    pub(crate) span: Range<usize>,
    /// The compound subterms with their ranges, inner terms first. Lists written as quoted text are not included.
    pub(crate) goals: Vec<(Term, Range<usize>)>,
}

/// Whether the last term of a text needs a full stop: required in files, optional in goals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FullStop {
    Required,
    Optional,
}

/// Reads the terms of one text.
pub(crate) struct Reader<'t> {
    scanner: Scanner<'t>,
    stacks: Stacks<'t>,
    full_stop: FullStop,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str, full_stop: FullStop) -> Reader<'t> {
        let mut scanner = Scanner::new(text);
        if full_stop == FullStop::Required {
            scanner.skip_file_start();
        }
        Reader { scanner, stacks: Stacks::default(), full_stop }
    }

    /// The next term; `None` at the end of the text. After an error, the next call continues after the broken clause.
    pub(crate) fn next(&mut self, store: &mut Store, syntax: &mut Syntax<'_>) -> Result<Option<ReadTerm>, SyntaxError> {
        let end_is_optional = self.full_stop == FullStop::Optional;
        let Reader { scanner, stacks, .. } = self;
        scanner.clause_ended = false;
        let result = Parser { scanner, stacks, store, syntax, end_is_optional }.clause();
        if result.is_err() {
            self.skip_clause(syntax.atoms);
        }
        result
    }

    /// Skips to the end of a broken clause.
    fn skip_clause(&mut self, atoms: &mut Atoms) {
        // The broken clause has ended already: its full stop was consumed, or is hidden by an unclosed quote.
        if self.scanner.clause_ended || self.stacks.end_taken {
            self.stacks.ahead.clear();
            return;
        }
        loop {
            let token = match self.stacks.ahead.pop_front() {
                Some(lexeme) => Ok(lexeme.token),
                None => self.scanner.next(atoms).map(|lexeme| lexeme.token),
            };
            match token {
                Ok(Token::End | Token::EndOfText) => return,
                Err(_) if self.scanner.clause_ended => return,
                _ => {}
            }
        }
    }
}

/// Reads a text that consists of one term, with or without a final full stop; `None` if the text has no term.
pub(crate) fn read_goal(
    text: &str,
    store: &mut Store,
    syntax: &mut Syntax<'_>,
) -> Result<Option<ReadTerm>, SyntaxError> {
    let mut reader = Reader::new(text, FullStop::Optional);
    let goal = reader.next(store, syntax)?;
    let rest = reader.scanner.next(syntax.atoms)?;
    if rest.token != Token::EndOfText {
        let error = SyntaxError::new(rest.span(), "end_of_file_expected", "expected nothing after the final `.`");
        return Err(error.with_hint("give one goal only"));
    }
    Ok(goal)
}

/// The byte position after the first clause of a text and its full stop; `None` if the full stop is missing. A line
/// with an unclosed quote ends the clause if it ends in `.`.
pub(crate) fn clause_end(text: &str, atoms: &mut Atoms) -> Option<usize> {
    let mut scanner = Scanner::new(text);
    loop {
        match scanner.next(atoms).map(|lexeme| lexeme.token) {
            Ok(Token::End) => return Some(scanner.position),
            Ok(Token::EndOfText) => return None,
            Err(_) if scanner.clause_ended => return Some(scanner.position),
            _ => {}
        }
    }
}

/// Reads a number, with or without a sign; layout and comments are allowed before it but not after it.
pub(crate) fn read_number(text: &str) -> Result<Number, SyntaxError> {
    Scanner::new(text).whole_number()
}

#[cfg(test)]
mod tests;
