//! Parses tokens into terms: an operator precedence parser with explicit stacks.
//!
//! Operands and operators are kept on two stacks until the next operator, or the end of the innermost bracket,
//! determines which operator binds tighter. No function is recursive, so nesting is limited only by memory, and each
//! token is processed a constant number of times.

use super::error::SyntaxError;
use super::numbers::negated;
use super::scanner::{Lexeme, Scanner, Token};
use super::{ReadTerm, Syntax};
use crate::flags::QuotedText;
use crate::number::Number;
use crate::operators::{Operator, Position};
use crate::store::Store;
use crate::symbols::{Atom, atoms};
use crate::term::{MAX_ARITY, Term};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;

/// The highest priority of a whole term.
const MAX_PRIORITY: u16 = 1200;
/// A complete term, which will become an operand of an operator, an argument or a list element.
pub(super) struct Operand {
    pub(super) term: Term,
    priority: u16,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An operator whose term is not built yet; an infix or prefix operator waits for its right operand.
pub(super) struct Pending {
    atom: Atom,
    operator: Operator,
    start: usize,
    end: usize,
}

/// The kind of bracket around the current position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Clause,
    Parentheses,
    Curly,
    Arguments(Atom),
    List,
    /// The tail of a list, after `|`.
    Tail,
}

/// An open bracket, and the sizes of the stacks when it was opened.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) bracket: Bracket,
    start: usize,
    operands: usize,
    pending: usize,
    /// The byte range of the first infix or postfix operator of priority 1200, such as `:-`, inside the bracket. A
    /// missing closing bracket is assumed to belong before it.
    pub(super) neck: Option<(usize, usize)>,
}

/// A variable of the clause being read.
struct Variable<'t> {
    name: &'t str,
    term: Term,
    first: Range<usize>,
    occurrences: usize,
}

/// The stacks of the parser and the tokens read ahead. Their memory is reused from clause to clause.
#[derive(Default)]
pub(super) struct Stacks<'t> {
    pub(super) ahead: VecDeque<Lexeme>,
    /// Whether the full stop of the clause, or the end of the text, was consumed.
    pub(super) end_taken: bool,
    operands: Vec<Operand>,
    pending: Vec<Pending>,
    frames: Vec<Frame>,
    variables: Vec<Variable<'t>>,
    by_name: FxHashMap<&'t str, usize>,
    compounds: Vec<(Term, Range<usize>)>,
    items: Vec<Term>,
}

impl Stacks<'_> {
    fn clear(&mut self) {
        self.end_taken = false;
        self.operands.clear();
        self.pending.clear();
        self.frames.clear();
        self.variables.clear();
        self.by_name.clear();
        self.compounds.clear();
    }
}

/// What is expected next: an operand, an operator, or nothing because the clause is complete.
enum Expect {
    Operand,
    Operator,
    Nothing,
}

pub(super) struct Parser<'p, 't, 's> {
    pub(super) scanner: &'p mut Scanner<'t>,
    pub(super) stacks: &'p mut Stacks<'t>,
    pub(super) store: &'p mut Store,
    pub(super) syntax: &'p mut Syntax<'s>,
    /// Whether the end of the text ends a clause like a full stop.
    pub(super) end_is_optional: bool,
}

impl Parser<'_, '_, '_> {
    /// Reads a clause and its full stop; `None` at the end of the text.
    pub(super) fn clause(&mut self) -> Result<Option<ReadTerm>, SyntaxError> {
        self.stacks.clear();
        let first = self.peek(0)?;
        let start = first.start;
        if first.token == Token::EndOfText {
            return Ok(None);
        }
        self.open(Bracket::Clause, start);
        let mut expect = Expect::Operand;
        loop {
            expect = match expect {
                Expect::Operand => self.operand()?,
                Expect::Operator => self.operator()?,
                Expect::Nothing => return Ok(self.finish()),
            };
        }
    }

    fn finish(&mut self) -> Option<ReadTerm> {
        let operand = self.stacks.operands.pop()?;
        let variables = self.stacks.variables.iter();
        let singletons = variables
            .clone()
            .filter(|variable| variable.occurrences == 1 && !variable.name.starts_with('_'))
            .map(|variable| (variable.name.into(), variable.first.clone()))
            .collect();
        Some(ReadTerm {
            term: operand.term,
            variables: variables.map(|variable| (variable.name.into(), variable.term)).collect(),
            singletons,
            span: operand.start..operand.end,
            goals: std::mem::take(&mut self.stacks.compounds),
        })
    }

    // ---- tokens ------------------------------------------------------------------------------

    fn take(&mut self) -> Result<Lexeme, SyntaxError> {
        let lexeme = match self.stacks.ahead.pop_front() {
            Some(lexeme) => lexeme,
            None => self.scanner.next(self.syntax.atoms)?,
        };
        self.stacks.end_taken = matches!(lexeme.token, Token::End | Token::EndOfText);
        Ok(lexeme)
    }

    fn peek(&mut self, index: usize) -> Result<&Lexeme, SyntaxError> {
        while self.stacks.ahead.len() <= index {
            let lexeme = self.scanner.next(self.syntax.atoms)?;
            self.stacks.ahead.push_back(lexeme);
        }
        Ok(&self.stacks.ahead[index])
    }

    pub(super) fn text(&self, lexeme: &Lexeme) -> &str {
        &self.scanner.text[lexeme.span()]
    }

    // ---- stacks ------------------------------------------------------------------------------

    fn open(&mut self, bracket: Bracket, start: usize) {
        let (operands, pending) = (self.stacks.operands.len(), self.stacks.pending.len());
        self.stacks.frames.push(Frame { bracket, start, operands, pending, neck: None });
    }

    pub(super) fn frame(&self) -> Frame {
        let outermost = Frame { bracket: Bracket::Clause, start: 0, operands: 0, pending: 0, neck: None };
        self.stacks.frames.last().copied().unwrap_or(outermost)
    }

    /// The innermost operator in the current bracket that waits for its right operand; `None` if there is none.
    pub(super) fn waiting(&self) -> Option<&Pending> {
        self.stacks.pending[self.frame().pending..].last()
    }

    /// The highest priority allowed for the next term. Arguments and list elements may have priority 1200 and not only
    /// 999 as in ISO, because `once(a;b)` and `assertz(a:-b)` are common and unambiguous.
    fn limit(&self) -> u16 {
        self.waiting().map_or(MAX_PRIORITY, |pending| pending.operator.right_limit())
    }

    fn push(&mut self, term: Term, start: usize, end: usize) -> Expect {
        self.stacks.operands.push(Operand { term, priority: 0, start, end });
        Expect::Operator
    }

    fn push_compound(&mut self, term: Term, start: usize, end: usize) -> Expect {
        self.stacks.compounds.push((term, start..end));
        self.push(term, start, end)
    }

    /// Builds the terms of the innermost pending operators, as long as their priority is at most `limit`.
    fn reduce(&mut self, limit: u16) {
        while self.waiting().is_some_and(|pending| pending.operator.priority <= limit) {
            let Some(Pending { atom, operator, start, .. }) = self.stacks.pending.pop() else { return };
            let Some(right) = self.stacks.operands.pop() else { return };
            let (term, start) = match operator.kind.position() {
                Position::Infix => {
                    let Some(left) = self.stacks.operands.pop() else { return };
                    (self.store.structure(atom, &[left.term, right.term]), left.start)
                }
                Position::Prefix | Position::Postfix => (self.store.structure(atom, &[right.term]), start),
            };
            self.push_compound(term, start, right.end);
            self.set_priority(operator.priority);
        }
    }

    fn set_priority(&mut self, priority: u16) {
        if let Some(operand) = self.stacks.operands.last_mut() {
            operand.priority = priority;
        }
    }

    // ---- operands ----------------------------------------------------------------------------

    fn operand(&mut self) -> Result<Expect, SyntaxError> {
        let lexeme = self.take()?;
        let (start, end) = (lexeme.start, lexeme.end);
        match lexeme.token {
            Token::Name(atom) | Token::QuotedName(atom) => self.name(atom, &lexeme),
            Token::Variable => Ok(self.variable(start..end)),
            Token::Number(number) => Ok(self.number(number, start, end)),
            Token::DoubleQuoted(text) => Ok(self.quoted(&text, self.syntax.flags.double_quotes, start, end)),
            Token::BackQuoted(text) => Ok(self.quoted(&text, self.syntax.flags.back_quotes, start, end)),
            Token::Open => {
                self.open(Bracket::Parentheses, start);
                Ok(Expect::Operand)
            }
            Token::OpenList => self.open_or_name(&Token::CloseList, atoms::NIL, Bracket::List, start),
            Token::OpenCurly => self.open_or_name(&Token::CloseCurly, atoms::CURLY, Bracket::Curly, start),
            _ => Err(self.cannot_start_term(&lexeme)),
        }
    }

    /// Reads `[]` or `{}` as a name; otherwise opens the bracket.
    fn open_or_name(
        &mut self,
        close: &Token,
        name: Atom,
        bracket: Bracket,
        start: usize,
    ) -> Result<Expect, SyntaxError> {
        if self.peek(0)?.token != *close {
            self.open(bracket, start);
            return Ok(Expect::Operand);
        }
        let close = self.take()?;
        self.name(name, &Lexeme { token: Token::QuotedName(name), start, ..close })
    }

    fn name(&mut self, atom: Atom, lexeme: &Lexeme) -> Result<Expect, SyntaxError> {
        let (start, end) = (lexeme.start, lexeme.end);
        if lexeme.applied {
            let open = self.take()?;
            if self.peek(0)?.token == Token::Close {
                return Err(self.no_arguments(start, open.end));
            }
            self.open(Bracket::Arguments(atom), start);
            return Ok(Expect::Operand);
        }
        if lexeme.token == Token::Name(atoms::MINUS) {
            let next = self.peek(0)?;
            if matches!(next.token, Token::Number(_)) && next.start == end {
                let Lexeme { token, end, .. } = self.take()?;
                if let Token::Number(number) = token {
                    return Ok(self.number(negated(number), start, end));
                }
            }
        }
        if let Some(operator) = self.syntax.operators.get(atom, Position::Prefix)
            && self.has_operand(operator)?
        {
            if operator.priority > self.limit() {
                return Err(self.too_strong(lexeme, operator));
            }
            self.stacks.pending.push(Pending { atom, operator, start, end });
            return Ok(Expect::Operand);
        }
        Ok(self.push(Term::atom(atom), start, end))
    }

    /// Whether the prefix operator just read has an operand; without one it is an atom.
    ///
    /// If an operator follows that is infix and not prefix, as in `- = x`, the prefix operator is an atom and the left
    /// operand of that operator. There are two exceptions, in which the infix operator is an atom: no term follows it,
    /// as in `[\+ =]`, or another infix operator follows it and the priorities allow it, as in `:- = - x`.
    fn has_operand(&mut self, prefix: Operator) -> Result<bool, SyntaxError> {
        let next = self.peek(0)?;
        let (atom, applied) = match next.token {
            Token::Name(atom) | Token::QuotedName(atom) => (atom, next.applied),
            ref token => return Ok(token.starts_term()),
        };
        let operators = self.syntax.operators;
        let infix = operators.get(atom, Position::Infix);
        let Some(infix) = infix.filter(|_| !applied && operators.get(atom, Position::Prefix).is_none()) else {
            return Ok(true);
        };
        let second = &self.peek(1)?.token;
        let continued = match *second {
            Token::Name(atom) | Token::QuotedName(atom) => operators.get(atom, Position::Infix).is_some(),
            _ => false,
        };
        Ok(!second.starts_term() || (continued && infix.left_limit() <= prefix.right_limit()))
    }

    fn variable(&mut self, span: Range<usize>) -> Expect {
        let name = &self.scanner.text[span.clone()];
        if name == "_" {
            let term = self.store.variable();
            return self.push(term, span.start, span.end);
        }
        let next = self.stacks.variables.len();
        let index = *self.stacks.by_name.entry(name).or_insert(next);
        if index == next {
            let term = self.store.variable();
            self.stacks.variables.push(Variable { name, term, first: span.clone(), occurrences: 0 });
        }
        let variable = &mut self.stacks.variables[index];
        variable.occurrences += 1;
        let term = variable.term;
        self.push(term, span.start, span.end)
    }

    fn number(&mut self, number: Number, start: usize, end: usize) -> Expect {
        let term = match number {
            Number::Int(value) => self.store.integer(value),
            Number::Big(value) => self.store.big_integer(&value),
            Number::Float(value) => self.store.float(value),
        };
        self.push(term, start, end)
    }

    fn quoted(&mut self, text: &str, meaning: QuotedText, start: usize, end: usize) -> Expect {
        let items = &mut self.stacks.items;
        items.clear();
        let term = match meaning {
            QuotedText::Codes => {
                items.extend(text.chars().map(|character| Term::small(i64::from(u32::from(character)))));
                self.store.list(items, Term::NIL)
            }
            QuotedText::Chars => {
                items.extend(text.chars().map(|character| Term::atom(self.syntax.atoms.character(character))));
                self.store.list(items, Term::NIL)
            }
            QuotedText::Atom => Term::atom(self.syntax.atoms.intern(text)),
            QuotedText::String => self.store.string(text),
        };
        self.push(term, start, end)
    }

    // ---- operators and closing brackets ------------------------------------------------------

    fn operator(&mut self) -> Result<Expect, SyntaxError> {
        let lexeme = self.take()?;
        let frame = self.frame();
        match (&lexeme.token, frame.bracket) {
            (Token::Comma, Bracket::Arguments(_) | Bracket::List) => {
                self.reduce(MAX_PRIORITY);
                Ok(Expect::Operand)
            }
            (Token::Bar, Bracket::List) => {
                self.reduce(MAX_PRIORITY);
                if let Some(frame) = self.stacks.frames.last_mut() {
                    frame.bracket = Bracket::Tail;
                }
                Ok(Expect::Operand)
            }
            (Token::Comma | Token::Bar, Bracket::Tail) => Err(self.operator_expected(&lexeme)),
            (Token::Comma, _) => self.infix(atoms::COMMA, &lexeme),
            (Token::Bar, _) => self.infix(atoms::BAR, &lexeme),
            (&(Token::Name(atom) | Token::QuotedName(atom)), _) => self.infix(atom, &lexeme),
            (Token::Close, Bracket::Parentheses | Bracket::Arguments(_))
            | (Token::CloseList, Bracket::List | Bracket::Tail)
            | (Token::CloseCurly, Bracket::Curly) => self.close(frame, lexeme.end),
            (Token::End, Bracket::Clause) => {
                self.reduce(MAX_PRIORITY);
                Ok(Expect::Nothing)
            }
            (Token::EndOfText, Bracket::Clause) if self.end_is_optional => {
                self.reduce(MAX_PRIORITY);
                Ok(Expect::Nothing)
            }
            _ => Err(self.operator_expected(&lexeme)),
        }
    }

    /// Processes an infix or postfix operator after a complete operand.
    fn infix(&mut self, atom: Atom, lexeme: &Lexeme) -> Result<Expect, SyntaxError> {
        let operators = self.syntax.operators;
        let infix = operators.get(atom, Position::Infix);
        let postfix = operators.get(atom, Position::Postfix);
        let operator = match (infix, postfix) {
            (Some(infix), Some(postfix)) => {
                if self.peek(0)?.token.starts_term() {
                    infix
                } else {
                    postfix
                }
            }
            (Some(operator), None) | (None, Some(operator)) => operator,
            (None, None) => return Err(self.operator_expected(lexeme)),
        };
        if operator.priority == MAX_PRIORITY
            && let Some(frame) = self.stacks.frames.last_mut()
        {
            frame.neck.get_or_insert((lexeme.start, lexeme.end));
        }
        self.reduce(operator.left_limit());
        let operand = self.stacks.operands.last().map_or(0, |operand| operand.priority);
        if operator.priority > self.limit() || operand > operator.left_limit() {
            let other = self.waiting().map(|pending| pending.start..pending.end);
            return Err(self.clash(lexeme, other));
        }
        self.stacks.pending.push(Pending { atom, operator, start: lexeme.start, end: lexeme.end });
        if operator.kind.position() == Position::Infix {
            return Ok(Expect::Operand);
        }
        // A postfix operator is complete immediately: its operand becomes its only argument.
        let start = self.stacks.operands.last().map_or(lexeme.start, |operand| operand.start);
        if let Some(pending) = self.stacks.pending.last_mut() {
            pending.start = start;
        }
        if let Some(operand) = self.stacks.operands.last_mut() {
            operand.end = lexeme.end;
        }
        self.reduce(operator.priority);
        Ok(Expect::Operator)
    }

    fn close(&mut self, frame: Frame, end: usize) -> Result<Expect, SyntaxError> {
        self.reduce(MAX_PRIORITY);
        self.stacks.frames.pop();
        let start = frame.start;
        let items = &mut self.stacks.items;
        items.clear();
        items.extend(self.stacks.operands.drain(frame.operands..).map(|operand| operand.term));
        let term = match (frame.bracket, &items[..]) {
            (Bracket::Parentheses, &[term]) => return Ok(self.push(term, start, end)),
            (Bracket::Curly, arguments) => self.store.structure(atoms::CURLY, arguments),
            (Bracket::Arguments(_), arguments) if arguments.len() > MAX_ARITY => {
                return Err(SyntaxError::new(start..end, "max_arity", "too many arguments"));
            }
            (Bracket::Arguments(name), arguments) => self.store.structure(name, arguments),
            (Bracket::Tail, [items @ .., tail]) => self.store.list(items, *tail),
            (_, items) => self.store.list(items, Term::NIL),
        };
        Ok(self.push_compound(term, start, end))
    }
}
