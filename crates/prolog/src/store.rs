//! The cells that terms are made of, and the trail that undoes bindings.
//!
//! Nothing here recurses, because terms may be millions of levels deep. Walks that a hostile term could make long are
//! charged to [`Meter`], and most of them check the memory of their work stack, too. Most walks start to record visited
//! compounds after a number of steps ([`Store::patience`]), so that they terminate on cyclic terms and take linear time
//! on terms with sharing.

use crate::meter::{Meter, Resource};
use crate::symbols::{Atom, atoms};
use crate::term::{BoxHeader, BoxKind, Functor, Tag, Term};
use num_bigint::{BigInt, Sign};

mod compare;
mod garbage;
mod lists;
mod matching;
mod memory;
mod room;
mod tentative;
mod unify;
mod variant;
mod walk;

pub(crate) use garbage::Marks;
pub(crate) use lists::ListEnd;
pub(crate) use room::give_back;

/// The kind of a (dereferenced) term.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum View {
    /// Unbound; the address of its cell.
    Variable(usize),
    Atom(Atom),
    /// An integer that fits in one word together with the tag.
    Small(i64),
    /// A larger integer: see [`Store::big`].
    Big,
    Float(f64),
    /// A string object: see [`Store::text`].
    Text,
    /// A list cell; the address of its head, followed by its tail.
    List(usize),
    /// Any other compound; the address of its first argument.
    Compound(Functor, usize),
}

/// Marks a trail entry that restores the old value of a cell, which is the entry before it, instead of unbinding the
/// cell.
const TRAIL_VALUE: u64 = 1;

/// The maximum number of `Module:` qualifiers that are removed from a term.
const MAX_QUALIFIERS: usize = 1 << 6;
/// Cost of one step of a walk over goals, in cells walked.
const STEP_CELLS: u64 = 8;

/// The cells of one machine or loader, with their trail and meter.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) cells: Vec<Term>,
    /// The changes to undo on backtracking, oldest first: addresses of cells, shifted by one bit; see [`TRAIL_VALUE`].
    trail: Vec<u64>,
    /// Cells below this address outlive backtracking to the newest choice point: their bindings are trailed.
    pub(crate) boundary: usize,
    /// Goals woken by bindings of attributed variables, and cleanups woken by cuts; oldest first, not yet called.
    pub(crate) woken: Vec<Term>,
    pub(crate) meter: Meter,
    /// Work stack of unifications and comparisons: the remaining parts of outer terms, as two addresses and a number of
    /// cells.
    frames: Vec<(usize, usize, usize)>,
    /// The maximum number of cells in use or reserved since the last [`Store::grow`].
    tallest: usize,
    /// Cells below this address outlive backtracking, because a permanent change may refer to them.
    pub(crate) frozen: usize,
}

impl Store {
    // ---- reading ---------------------------------------------------------------------------

    /// Follows bindings to an unbound variable or a value.
    #[inline(always)]
    pub(crate) fn deref(&self, term: Term) -> Term {
        if !term.is_variable() {
            return term;
        }
        let value = self.cells[term.address()];
        if value == term || !value.is_variable() { value } else { self.deref_chain(value) }
    }

    /// Follows a chain of variables that are bound to variables. Long ones are charged, because a program can make a
    /// chain as long as its memory allows, and follow it repeatedly.
    #[inline(never)]
    fn deref_chain(&self, mut term: Term) -> Term {
        let mut steps = 0;
        while term.is_variable() {
            let value = self.cells[term.address()];
            if value == term {
                break;
            }
            term = value;
            steps += 1;
        }
        self.meter.chain(steps);
        term
    }

    /// The kind and content of `term`, after following bindings.
    #[inline]
    pub(crate) fn view(&self, term: Term) -> View {
        let term = self.deref(term);
        match term.tag() {
            Tag::Ref | Tag::Att => View::Variable(term.address()),
            Tag::Atm => View::Atom(Atom((term.0 >> 3) as u32)),
            Tag::Int => View::Small(term.small_value()),
            Tag::Lis => View::List(term.address()),
            Tag::Str => View::Compound(self.functor_at(term.address()), term.address() + 1),
            Tag::Box => match BoxHeader::read(self.cells[term.address()]).kind() {
                BoxKind::Float => View::Float(f64::from_bits(self.cells[term.address() + 1].0)),
                BoxKind::BigPositive | BoxKind::BigNegative => View::Big,
                BoxKind::Text => View::Text,
            },
            Tag::Hdr => unreachable!("a header cell is not a term"),
        }
    }

    #[inline(always)]
    pub(crate) fn functor_at(&self, address: usize) -> Functor {
        Functor(self.cells[address].0)
    }

    /// The functor of a compound term, and the address of its first argument; `None` for any other term. A list cell is
    /// the compound `'.'(Head, Tail)`.
    pub(crate) fn compound(&self, term: Term) -> Option<(Functor, usize)> {
        match self.view(term) {
            View::Compound(functor, arguments) => Some((functor, arguments)),
            View::List(address) => Some((Functor::new(atoms::DOT, 2), address)),
            _ => None,
        }
    }

    /// The argument at the zero-based `index` of the compound whose arguments start at `arguments`.
    #[inline(always)]
    pub(crate) fn argument(&self, arguments: usize, index: usize) -> Term {
        let cell = self.cells[arguments + index];
        self.deref(cell)
    }

    /// The number of words of a boxed number or string.
    pub(crate) fn box_words(&self, term: Term) -> usize {
        BoxHeader::read(self.cells[term.address()]).words()
    }

    /// The big integer in a box.
    pub(crate) fn big(&self, term: Term) -> BigInt {
        let address = self.deref(term).address();
        let header = BoxHeader::read(self.cells[address]);
        let digits: Vec<u32> = self.cells[address + 1..=address + header.words()]
            .iter()
            .flat_map(|word| [word.0 as u32, (word.0 >> 32) as u32])
            .collect();
        let sign = if header.kind() == BoxKind::BigNegative { Sign::Minus } else { Sign::Plus };
        BigInt::from_slice(sign, &digits)
    }

    /// The text of a string object.
    pub(crate) fn text(&self, term: Term) -> String {
        let address = self.deref(term).address();
        let header = BoxHeader::read(self.cells[address]);
        let mut bytes: Vec<u8> =
            self.cells[address + 1..=address + header.words()].iter().flat_map(|word| word.0.to_le_bytes()).collect();
        bytes.truncate(header.length());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    // ---- making ----------------------------------------------------------------------------

    /// A fresh variable.
    #[inline(always)]
    pub(crate) fn variable(&mut self) -> Term {
        let variable = Term::reference(self.cells.len());
        self.cells.push(variable);
        variable
    }

    pub(crate) fn integer(&mut self, value: i64) -> Term {
        if Term::fits_small(value) { Term::small(value) } else { self.big_integer(&BigInt::from(value)) }
    }

    /// An integer of any size, in its smallest representation.
    pub(crate) fn big_integer(&mut self, value: &BigInt) -> Term {
        if let Ok(small) = i64::try_from(value)
            && Term::fits_small(small)
        {
            return Term::small(small);
        }
        let (sign, digits) = value.to_u64_digits();
        let kind = if sign == Sign::Minus { BoxKind::BigNegative } else { BoxKind::BigPositive };
        let address = self.cells.len();
        self.cells.push(BoxHeader::new(kind, digits.len()).word());
        self.cells.extend(digits.into_iter().map(Term));
        Term::boxed(address)
    }

    pub(crate) fn float(&mut self, value: f64) -> Term {
        let address = self.cells.len();
        self.cells.push(BoxHeader::new(BoxKind::Float, 1).word());
        self.cells.push(Term(value.to_bits()));
        Term::boxed(address)
    }

    pub(crate) fn string(&mut self, text: &str) -> Term {
        let address = self.cells.len();
        self.cells.push(BoxHeader::new(BoxKind::Text, text.len()).word());
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.cells.push(Term(u64::from_le_bytes(word)));
        }
        Term::boxed(address)
    }

    /// A list cell.
    #[inline]
    pub(crate) fn cons(&mut self, head: Term, tail: Term) -> Term {
        let address = self.cells.len();
        self.cells.push(head);
        self.cells.push(tail);
        Term::list(address)
    }

    /// A list of `items` that ends in `tail`.
    pub(crate) fn list(&mut self, items: &[Term], tail: Term) -> Term {
        if items.is_empty() {
            return tail;
        }
        let start = self.cells.len();
        for (index, &item) in items.iter().enumerate() {
            self.cells.push(item);
            self.cells.push(Term::list(start + 2 * (index + 1)));
        }
        let last = self.cells.len() - 1;
        self.cells[last] = tail;
        Term::list(start)
    }

    /// A compound term; an atom when there are no arguments, a list cell for `'.'/2`.
    pub(crate) fn structure(&mut self, name: Atom, arguments: &[Term]) -> Term {
        match arguments {
            [] => Term::atom(name),
            &[head, tail] if name == atoms::DOT => self.cons(head, tail),
            _ => {
                let address = self.cells.len();
                self.cells.push(Functor::new(name, arguments.len()).header());
                self.cells.extend_from_slice(arguments);
                Term::structure(address)
            }
        }
    }

    /// A compound term with fresh variables as arguments.
    pub(crate) fn structure_of_variables(&mut self, functor: Functor) -> Term {
        let is_list = functor == Functor::new(atoms::DOT, 2);
        let address = self.cells.len();
        if !is_list {
            self.cells.push(functor.header());
        }
        for _ in 0..functor.arity() {
            self.variable();
        }
        if is_list { Term::list(address) } else { Term::structure(address) }
    }

    // ---- binding ---------------------------------------------------------------------------

    /// Binds the unbound variable `variable` to `value`. Goals suspended on it are added to `woken`.
    #[inline(always)]
    pub(crate) fn bind(&mut self, variable: Term, value: Term) {
        let address = variable.address();
        if variable.has_tag(Tag::Att) {
            self.bind_attributed(address, value);
            return;
        }
        self.cells[address] = value;
        if address < self.boundary {
            self.trail.push((address as u64) << 1);
        }
    }

    #[cold]
    fn bind_attributed(&mut self, address: usize, value: Term) {
        self.woken.push(self.cells[address + 1]);
        self.meter.interrupt();
        self.assign(address, value);
    }

    /// Binds one of two distinct unbound variables to the other: a plain one to an attributed one, otherwise the
    /// younger to the older.
    #[inline]
    pub(crate) fn alias(&mut self, a: Term, b: Term) {
        let younger_is_a = a.address() > b.address();
        match (a.has_tag(Tag::Att), b.has_tag(Tag::Att)) {
            (false, true) => self.bind(a, b),
            (true, false) => self.bind(b, a),
            _ if younger_is_a => self.bind(a, b),
            _ => self.bind(b, a),
        }
    }

    /// Changes a cell so that backtracking restores it.
    pub(crate) fn assign(&mut self, address: usize, value: Term) {
        self.trail.push(self.cells[address].0);
        self.trail.push((address as u64) << 1 | TRAIL_VALUE);
        self.cells[address] = value;
    }

    /// Changes a cell permanently, so that backtracking does not restore it. If the value refers to cells, all current
    /// cells outlive backtracking.
    pub(crate) fn assign_forever(&mut self, address: usize, value: Term) {
        self.cells[address] = value;
        if value.is_pointer() {
            self.frozen = self.cells.len();
        }
    }

    /// The length of the trail, for [`Store::undo_to`].
    #[inline(always)]
    pub(crate) fn trail_length(&self) -> usize {
        self.trail.len()
    }

    /// Undoes all trailed changes since the trail had `length` entries.
    #[inline]
    pub(crate) fn undo_to(&mut self, length: usize) {
        while self.trail.len() > length {
            let Some(entry) = self.trail.pop() else { break };
            let address = (entry >> 1) as usize;
            if entry & TRAIL_VALUE != 0 {
                self.cells[address] = Term(self.trail.pop().unwrap_or_default());
            } else {
                self.cells[address] = Term::reference(address);
            }
        }
    }

    /// Attaches `goals` to an unbound variable, replacing the previous goals.
    ///
    /// A plain variable is bound to a new attributed variable, which is a pair of cells.
    pub(crate) fn set_suspended(&mut self, variable: Term, goals: Term) {
        if variable.has_tag(Tag::Att) {
            self.assign(variable.address() + 1, goals);
        } else {
            let address = self.cells.len();
            self.cells.push(Term::attributed(address));
            self.cells.push(goals);
            self.bind(variable, Term::attributed(address));
        }
    }

    /// The goals attached to an attributed variable; `None` for any other term.
    pub(crate) fn suspended(&self, variable: Term) -> Option<Term> {
        variable.has_tag(Tag::Att).then(|| self.cells[variable.address() + 1])
    }

    /// Charges one step of a walk over goals, and checks that `pending` terms fit in the heap budget; false if the
    /// budget is exhausted.
    pub(crate) fn afford(&mut self, pending: usize) -> bool {
        if self.cells.len() + pending > self.meter.cell_limit {
            self.meter.exhaust(Resource::HeapBytes);
        }
        self.meter.walk(STEP_CELLS)
    }

    /// The term without `Module:` qualifiers, in which `Module` is an atom or unbound: there is only one module. At
    /// most [`MAX_QUALIFIERS`] are removed, because the chain may be cyclic.
    pub(crate) fn without_module(&self, term: Term) -> Term {
        let mut term = self.deref(term);
        for _ in 0..MAX_QUALIFIERS {
            match self.view(term) {
                View::Compound(functor, arguments)
                    if functor == Functor::new(atoms::COLON, 2)
                        && matches!(self.view(self.cells[arguments]), View::Atom(_) | View::Variable(_)) =>
                {
                    term = self.argument(arguments, 1);
                }
                _ => break,
            }
        }
        term
    }

    /// Clears the store but keeps its memory.
    pub(crate) fn reset(&mut self) {
        self.cells.clear();
        self.trail.clear();
        self.woken.clear();
        self.frames.clear();
        self.boundary = 0;
        self.frozen = 0;
    }
}
