//! The interface through which a host provides relations, which are read in place, and predicates written in Rust.

use crate::core::Core;
use crate::store::{Store, View};
use crate::stored::StoredTerm;
use crate::symbols::Atom;
use crate::table::Table;
use crate::term::{Functor, Tag, Term};

/// A value in a host's relation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// An atom of the engine's [`Symbols`](crate::Symbols).
    Atom(Atom),
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
    /// A list.
    List(&'a [Value<'a>]),
    /// A compound term: its name and arguments; an atom if there are no arguments.
    Compound(Atom, &'a [Value<'a>]),
    /// Any other term, stored by the host.
    Term(&'a StoredTerm),
}

impl Value<'_> {
    /// Whether this value equals the atom or number `wanted`.
    #[inline]
    pub(crate) fn equals(self, wanted: Value<'_>) -> bool {
        match (self, wanted) {
            (Value::Atom(own), Value::Atom(wanted)) => own == wanted,
            (Value::Integer(own), Value::Integer(wanted)) => own == wanted,
            (Value::Float(own), Value::Float(wanted)) => own.to_bits() == wanted.to_bits(),
            (Value::List([]), Value::Atom(wanted)) => Term::atom(wanted) == Term::NIL,
            (Value::Compound(own, []), Value::Atom(wanted)) => own == wanted,
            (Value::Term(stored), Value::Atom(wanted)) => stored.root() == Term::atom(wanted),
            (Value::Term(stored), Value::Float(wanted)) => {
                stored.as_float().is_some_and(|own| own.to_bits() == wanted.to_bits())
            }
            (Value::Term(stored), Value::Integer(wanted)) => {
                Term::fits_small(wanted) && stored.root() == Term::small(wanted)
            }
            _ => false,
        }
    }
}

impl Store {
    /// A dereferenced term as a value that a host can search for: an atom, a small integer or a float; otherwise
    /// `None`.
    #[inline]
    pub(crate) fn searchable(&self, term: Term) -> Option<Value<'static>> {
        match term.tag() {
            Tag::Atm => Some(Value::Atom(Atom((term.0 >> 3) as u32))),
            Tag::Int => Some(Value::Integer(term.small_value())),
            Tag::Box => match self.view(term) {
                View::Float(value) => Some(Value::Float(value)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Builds the term for a value of the host, without any temporary memory.
    #[inline]
    pub(crate) fn host_value(&mut self, value: Value<'_>) -> Term {
        match value {
            Value::Atom(atom) => Term::atom(atom),
            Value::Integer(value) => self.integer(value),
            Value::Float(value) => self.float(value),
            Value::List([]) => Term::NIL,
            Value::List(items) => {
                self.charge_value(items.len());
                let start = self.cells.len();
                for index in 1..=items.len() {
                    self.cells.push(Term::NIL);
                    self.cells.push(Term::list(start + 2 * index));
                }
                self.cells[start + 2 * items.len() - 1] = Term::NIL;
                for (index, &item) in items.iter().enumerate() {
                    self.cells[start + 2 * index] = self.host_value(item);
                }
                Term::list(start)
            }
            Value::Compound(name, arguments) => {
                if arguments.is_empty() {
                    return Term::atom(name);
                }
                let term = self.structure_of_variables(Functor::new(name, arguments.len()));
                let first = if term.has_tag(Tag::Lis) { term.address() } else { term.address() + 1 };
                for (index, &argument) in arguments.iter().enumerate() {
                    self.cells[first + index] = self.host_value(argument);
                }
                term
            }
            Value::Term(stored) => {
                self.charge_value(stored.cells().len());
                self.paste(stored)
            }
        }
    }

    /// Charges the copy of a value of the host, unless the inference of the goal that reads it covers it.
    #[inline]
    fn charge_value(&mut self, cells: usize) {
        if cells > FREE_CELLS {
            self.meter.walk(cells as u64);
        }
    }
}

/// The size of a value that is copied without a charge.
const FREE_CELLS: usize = 32;

/// Rows stored by a host, which a program sees as facts.
///
/// Nothing is asserted: the machine reads the values that it needs, row by row.
pub trait Relation {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Whether the relation has no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value in a row and column.
    fn value(&self, row: usize, column: usize) -> Value<'_>;

    /// The first row at or after `from` that has the required values; `None` if there is none. `bound` has pairs of a
    /// zero-based column and the atom, integer or float required in it; without pairs, every row matches. Override it
    /// to use an index; the default implementation scans the rows. The query is charged for
    /// [`rows_visited`](Relation::rows_visited).
    fn next_row(&self, from: usize, bound: &[(usize, Value<'_>)]) -> Option<usize> {
        (from..self.len()).find(|&row| bound.iter().all(|&(column, wanted)| self.value(row, column).equals(wanted)))
    }

    /// The number of rows that [`next_row`](Relation::next_row) visited to find the row `found`, or none. The query is
    /// charged for them. Override it together with `next_row`; the default is that of a scan. It must not depend on
    /// earlier queries.
    fn rows_visited(&self, from: usize, found: Option<usize>) -> usize {
        found.map_or(self.len(), |row| row + 1).saturating_sub(from)
    }

    /// The relation as a table, if it is one.
    #[doc(hidden)]
    fn as_table(&self) -> Option<&Table> {
        None
    }
}

impl Relation for Table {
    fn as_table(&self) -> Option<&Table> {
        Some(self)
    }

    fn next_row(&self, from: usize, bound: &[(usize, Value<'_>)]) -> Option<usize> {
        self.find_values(from, bound).row
    }

    fn len(&self) -> usize {
        Table::len(self)
    }

    fn value(&self, row: usize, column: usize) -> Value<'_> {
        Table::value(self, row, column)
    }
}

/// The relations of one query, in the order in which they were declared to the program.
pub trait Relations {
    /// The relation at a position; `None` stands for an empty relation.
    fn relation(&self, position: usize) -> Option<&dyn Relation>;

    /// The relation at a position as a [`Table`], which the machine reads fastest; `None`, the default, if it is not
    /// available in this form. The rows must be the same as those of [`Relations::relation`].
    fn table(&self, position: usize) -> Option<&Table> {
        let _ = position;
        None
    }
}

impl Relations for () {
    fn relation(&self, _: usize) -> Option<&dyn Relation> {
        None
    }
}

impl Relations for [&dyn Relation] {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        self.get(position).copied()
    }
}

impl<const COUNT: usize> Relations for [&dyn Relation; COUNT] {
    fn relation(&self, position: usize) -> Option<&dyn Relation> {
        self.get(position).copied()
    }
}

/// The function of a host predicate.
pub(crate) type HostCode = std::sync::Arc<dyn Fn(&mut HostCall<'_>) -> Result<bool, HostError> + Send + Sync>;

/// The error of a host predicate that neither succeeds nor fails.
#[derive(Clone, PartialEq, Debug)]
pub enum HostError {
    /// An argument that must be bound is unbound.
    Instantiation,
    /// An argument has the wrong type: the name of the expected type, and the zero-based index of the argument.
    Type(&'static str, usize),
    /// An argument has the right type, but its value is outside the domain: the name of the domain, and the zero-based
    /// index of the argument.
    Domain(&'static str, usize),
}

/// A call of a predicate written in Rust.
pub struct HostCall<'m> {
    pub(crate) core: &'m mut Core,
    pub(crate) arguments: &'m [Term],
}

impl HostCall<'_> {
    /// The name of the atom, if the argument is an atom.
    pub fn atom(&self, argument: usize) -> Option<&str> {
        match self.core.store.view(self.arguments[argument]) {
            View::Atom(atom) => Some(self.core.atoms.name(atom)),
            _ => None,
        }
    }

    /// The integer, if the argument is an integer that fits in 64 bits.
    pub fn integer(&self, argument: usize) -> Option<i64> {
        match self.core.store.view(self.arguments[argument]) {
            View::Small(value) => Some(value),
            View::Big => i64::try_from(self.core.store.big(self.arguments[argument])).ok(),
            _ => None,
        }
    }

    /// The number as a float, if the argument is a float or an integer of at most 61 bits; `None` for larger integers
    /// and other terms.
    pub fn number(&self, argument: usize) -> Option<f64> {
        match self.core.store.view(self.arguments[argument]) {
            View::Small(value) => Some(value as f64),
            View::Float(value) => Some(value),
            _ => None,
        }
    }

    /// Whether the argument is an unbound variable.
    pub fn is_unbound(&self, argument: usize) -> bool {
        matches!(self.core.store.view(self.arguments[argument]), View::Variable(_))
    }

    /// Unifies an argument with an atom of this name.
    pub fn unify_atom(&mut self, argument: usize, name: &str) -> bool {
        let atom = self.core.atoms.intern(name);
        self.core.store.unify(self.arguments[argument], Term::atom(atom))
    }

    /// Unifies an argument with an integer.
    pub fn unify_integer(&mut self, argument: usize, value: i64) -> bool {
        let value = self.core.store.integer(value);
        self.core.store.unify(self.arguments[argument], value)
    }

    /// Unifies an argument with a float.
    pub fn unify_float(&mut self, argument: usize, value: f64) -> bool {
        let value = self.core.store.float(value);
        self.core.store.unify(self.arguments[argument], value)
    }
}
