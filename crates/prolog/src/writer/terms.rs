//! Writes terms token by token, with an explicit stack, so that deep terms do not overflow the native stack.

use super::quoting::{is_plain_atom, push_quoted};
use super::tokens::Tokens;
use super::{Limit, Spacing, Terms, WriteOptions, format_float, variable_name};
use crate::fault::{Raised, Solved};
use crate::operators::{Operator, Position};
use crate::store::View;
use crate::symbols::{Atom, atoms};
use crate::term::{Functor, Term};
use std::borrow::Cow;

pub(super) const ARGUMENT_PRIORITY: u16 = 999;

/// The position of a term.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Between brackets or commas, or the whole term: an atom that is an operator needs no parentheses there.
    Argument,
    /// Next to an operator.
    Operand,
}

/// A pending step; the next one is on top of the stack.
enum Task {
    Term {
        term: Term,
        priority: u16,
        place: Place,
        depth: usize,
    },
    Infix(Atom),
    Postfix(Atom),
    /// The arguments from `next` up to `end`, and the closing parenthesis.
    Arguments {
        next: usize,
        end: usize,
        depth: usize,
    },
    /// The rest of a list after an element, from the cell at `tail` on, and the closing bracket.
    Tail {
        tail: usize,
        depth: usize,
    },
    Raw(&'static str),
}

pub(super) struct Work<'w, 't> {
    terms: &'w mut Terms<'t>,
    options: &'w WriteOptions,
    tokens: Tokens<'w>,
    tasks: Vec<Task>,
    limit: Limit,
    /// The number of steps after which writing stops with [`Progress::Part`], because the term may be cyclic.
    /// `usize::MAX` if the output is known to be finite: then writing never stops with [`Progress::Part`].
    patience: usize,
    steps: usize,
    /// The number of bytes of text charged so far.
    charged: usize,
}

/// Whether a term was written completely.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    All,
    /// Writing stopped early, because it took many steps, or exceeded the limit on the text or the heap budget. The
    /// term may be cyclic.
    Part,
}

/// Steps between two checks of the budget.
const STRIDE: usize = 256;
/// Cost of a step, in cells walked.
const STEP_CELLS: u64 = 3;
/// The number of bytes of text that cost as much as one cell walked.
const BYTES_PER_CELL: u64 = 2;
/// The length in bytes up to which the text of an atomic term is free of charge: the cost of the call covers it.
const FREE_BYTES: usize = 32;

impl<'w, 't> Work<'w, 't> {
    pub(super) fn new(
        terms: &'w mut Terms<'t>,
        options: &'w WriteOptions,
        text: &'w mut String,
        limit: Limit,
        patience: usize,
    ) -> Work<'w, 't> {
        Work { terms, options, tokens: Tokens::new(text), tasks: Vec::new(), limit, patience, steps: 0, charged: 0 }
    }

    /// Writes a term. Returns [`Progress::Part`] if it stopped early, which only happens with a finite `patience`.
    pub(super) fn run(&mut self, term: Term) -> Solved<Progress> {
        self.tasks.push(Task::Term { term, priority: self.options.priority, place: Place::Argument, depth: 0 });
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Term { term, priority, place, depth } => self.term(term, priority, place, depth + 1),
                Task::Infix(atom) => self.infix(atom),
                Task::Postfix(atom) => {
                    self.atom(atom);
                }
                Task::Arguments { next, end, depth } => self.arguments(next, end, depth),
                Task::Tail { tail, depth } => self.tail(tail, depth),
                Task::Raw(text) => self.tokens.raw(text),
            }
            self.steps += 1;
            let is_long = self.tokens.written() > self.limit.bytes;
            if is_long || self.steps.is_multiple_of(STRIDE) {
                self.charge(if is_long { self.steps % STRIDE } else { STRIDE })?;
                if self.patience < usize::MAX && (is_long || self.steps > self.patience || !self.has_room()) {
                    return Ok(Progress::Part);
                }
                if is_long {
                    return Err(Raised::Exhausted(self.limit.resource));
                }
                self.check_room()?;
            }
        }
        self.charge(self.steps % STRIDE)?;
        self.check_room()?;
        Ok(Progress::All)
    }

    /// Charges `steps` steps, and the text since the last charge. One step with up to [`FREE_BYTES`] bytes is free.
    fn charge(&mut self, steps: usize) -> Solved<()> {
        let bytes = self.tokens.written() - self.charged;
        self.charged += bytes;
        let is_short = steps <= 1 && bytes <= FREE_BYTES;
        self.terms.store.charge(if is_short { 0 } else { STEP_CELLS * steps as u64 + bytes as u64 / BYTES_PER_CELL })
    }

    fn check_room(&mut self) -> Solved<()> {
        if !self.has_room() {
            self.terms.store.out_of_room();
        }
        self.terms.store.charge(0)
    }

    /// Whether the pending steps and the text are within the heap budget.
    fn has_room(&self) -> bool {
        let words = self.tasks.capacity() * (size_of::<Task>() / size_of::<Term>()) + self.tokens.capacity() / 8;
        words <= self.terms.store.room()
    }

    fn comma(&mut self) {
        self.separator(",");
    }

    fn separator(&mut self, separator: &str) {
        self.tokens.raw(separator);
        if self.options.spacing == Spacing::NextArgument {
            self.tokens.raw(" ");
        }
    }

    fn argument(&mut self, address: usize, depth: usize) {
        let term = self.terms.store.argument(address, 0);
        self.tasks.push(Task::Term { term, priority: ARGUMENT_PRIORITY, place: Place::Argument, depth });
    }

    // ---- terms -------------------------------------------------------------------------------

    fn term(&mut self, term: Term, priority: u16, place: Place, depth: usize) {
        if self.options.max_depth > 0 && depth > self.options.max_depth {
            self.tokens.token("...");
            return;
        }
        match self.terms.store.view(term) {
            View::Variable(address) => self.variable(term, address),
            View::Atom(atom) => {
                let embraced = place == Place::Operand && self.terms.operators.is_operator(atom) && priority < 1200;
                if embraced {
                    self.tokens.token("(");
                }
                self.atom(atom);
                if embraced {
                    self.tokens.raw(")");
                }
            }
            View::Small(value) => {
                self.tokens.token(&value.to_string());
            }
            View::Big => self.big(term),
            View::Float(value) => {
                self.tokens.token(&format_float(value));
            }
            View::Text => self.string(term),
            View::List(address) if self.options.dotlists => {
                self.compound(Functor::new(atoms::DOT, 2), address, depth);
            }
            View::List(address) => {
                self.tokens.raw("[");
                self.tasks.push(Task::Tail { tail: address + 1, depth });
                self.argument(address, depth);
            }
            View::Compound(functor, arguments) => self.structure(functor, arguments, priority, depth),
        }
    }

    fn variable(&mut self, term: Term, address: usize) {
        // The cost of looking up the variable and writing its name or number.
        self.terms.store.meter.walk(2 * STEP_CELLS);
        let term = self.terms.store.deref(term);
        match self.options.variable_names.get(&term) {
            Some(name) => self.tokens.token(name),
            None => self.tokens.token(&format!("_{address}")),
        };
    }

    /// Writes an atom; returns whether a space was inserted before it.
    fn atom(&mut self, atom: Atom) -> bool {
        let text = self.atom_text(atom);
        self.tokens.token(&text)
    }

    fn atom_text(&self, atom: Atom) -> Cow<'t, str> {
        let name = self.terms.atoms.name(atom);
        let plain = is_plain_atom(name) && !(self.options.quote_non_ascii && name.chars().any(|c| c > '\u{ff}'));
        if !self.options.quoted || plain {
            return Cow::Borrowed(name);
        }
        let mut text = String::with_capacity(name.len() + 2);
        push_quoted(&mut text, name, '\'', self.options.escapes);
        Cow::Owned(text)
    }

    fn big(&mut self, term: Term) {
        let value = self.terms.store.big(term);
        // Converting a number of n words to decimal takes about n²/2 steps.
        let words = value.bits() / 64;
        if self.terms.store.meter.walk(words * words / 2) {
            self.tokens.token(&value.to_string());
        }
    }

    fn string(&mut self, term: Term) {
        let content = self.terms.store.text(term);
        if self.options.quoted {
            let mut text = String::with_capacity(content.len() + 2);
            push_quoted(&mut text, &content, '"', self.options.escapes);
            self.tokens.token(&text);
        } else {
            self.tokens.raw(&content);
        }
    }

    // ---- compounds ---------------------------------------------------------------------------

    fn structure(&mut self, functor: Functor, arguments: usize, priority: u16, depth: usize) {
        let name = functor.name();
        if functor.arity() == 1 {
            if name == atoms::VAR && self.options.numbervars && self.numbered_variable(arguments) {
                return;
            }
            if name == atoms::CURLY && self.options.brace_terms {
                let term = self.terms.store.argument(arguments, 0);
                self.tokens.token("{");
                self.tasks.push(Task::Raw("}"));
                self.tasks.push(Task::Term { term, priority: 1200, place: Place::Argument, depth });
                return;
            }
        }
        let operator = match (self.options.ignore_ops, functor.arity()) {
            (false, 1) => {
                let get = |position| self.terms.operators.get(name, position);
                get(Position::Prefix).or_else(|| get(Position::Postfix))
            }
            (false, 2) => self.terms.operators.get(name, Position::Infix),
            _ => None,
        };
        match operator {
            Some(operator) => self.operator(name, operator, arguments, priority, depth),
            None => self.compound(functor, arguments, depth),
        }
    }

    /// Writes `'$VAR'(N)` as a variable name such as `B` or `B1`; writes nothing and returns false if `N` is not an
    /// integer from 0 to 2^60 - 1.
    fn numbered_variable(&mut self, argument: usize) -> bool {
        let View::Small(number @ 0..) = self.terms.store.view(self.terms.store.argument(argument, 0)) else {
            return false;
        };
        self.tokens.token(&variable_name(number as usize));
        true
    }

    fn compound(&mut self, functor: Functor, arguments: usize, depth: usize) {
        self.atom(functor.name());
        if functor.arity() == 0 {
            self.tokens.raw("()");
            return;
        }
        self.tokens.raw("(");
        self.tasks.push(Task::Arguments { next: arguments + 1, end: arguments + functor.arity(), depth });
        self.argument(arguments, depth);
    }

    fn arguments(&mut self, next: usize, end: usize, depth: usize) {
        if next == end {
            self.tokens.raw(")");
            return;
        }
        self.comma();
        self.tasks.push(Task::Arguments { next: next + 1, end, depth });
        self.argument(next, depth);
    }

    fn tail(&mut self, tail: usize, depth: usize) {
        let rest = self.terms.store.argument(tail, 0);
        if rest == Term::NIL {
            self.tokens.raw("]");
            return;
        }
        let depth = depth + 1;
        if self.options.max_depth > 0 && depth >= self.options.max_depth {
            self.tokens.raw("|...]");
            return;
        }
        if let View::List(address) = self.terms.store.view(rest) {
            self.comma();
            self.tasks.push(Task::Tail { tail: address + 1, depth });
            self.argument(address, depth);
        } else {
            self.tokens.raw("|");
            self.tasks.push(Task::Raw("]"));
            self.argument(tail, depth);
        }
    }

    // ---- operators ---------------------------------------------------------------------------

    fn operator(&mut self, name: Atom, operator: Operator, arguments: usize, priority: u16, depth: usize) {
        if operator.priority > priority {
            self.tokens.token("(");
            self.tasks.push(Task::Raw(")"));
        }
        let operand = |index, priority, terms: &Terms<'_>| {
            let term = terms.store.argument(arguments, index);
            Task::Term { term, priority, place: Place::Operand, depth }
        };
        let (left, right) = (operator.left_limit(), operator.right_limit());
        match operator.kind.position() {
            Position::Prefix => {
                let text = self.atom_text(name);
                self.tokens.prefix_operator(&text);
                self.tasks.push(operand(0, right, self.terms));
            }
            Position::Postfix => {
                self.tasks.push(Task::Postfix(name));
                self.tasks.push(operand(0, left, self.terms));
            }
            Position::Infix => {
                self.tasks.push(operand(1, right, self.terms));
                self.tasks.push(Task::Infix(name));
                self.tasks.push(operand(0, left, self.terms));
            }
        }
    }

    /// Writes the operator between two operands. If it needs a space on the left, a space is also written on the right.
    /// `,` and `|` never have a space on the left; what follows them depends on [`Spacing`].
    fn infix(&mut self, name: Atom) {
        match name {
            atoms::COMMA => self.comma(),
            atoms::BAR => self.separator("|"),
            _ => {
                if self.atom(name) {
                    self.tokens.raw(" ");
                }
            }
        }
    }
}
