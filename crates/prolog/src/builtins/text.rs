//! Text: atoms, strings, numbers and lists of characters or codes, and conversions between them.
//!
//! Start at [`text_of`], which reads a term as text, and [`Kind::make`], which makes a term from text. Lengths and
//! positions in Prolog arguments count characters (Unicode scalar values), not bytes.
//!
//! `[]` is the atom named `[]`. Predicates that accept lists read it as the empty text, except for `atom_length/2`.
//! Other predicates read it as its name.

mod case;
mod concat;
mod convert;
mod join;
mod length;
mod numbers;
mod split;
mod sub;

#[cfg(test)]
mod tests;

pub(crate) use numbers::charge_digits;

use crate::builtins::Builtin;
use crate::core::Core;
use crate::fault::{Fault, Raised, Solved};
use crate::meter::Resource;
use crate::store::{ListEnd, View};
use crate::symbols::atoms;
use crate::term::Term;
use num_bigint::Sign;

/// The tables of all text predicates.
pub(crate) const TABLES: &[&[Builtin]] =
    &[case::TABLE, concat::TABLE, convert::TABLE, join::TABLE, length::TABLE, numbers::TABLE, split::TABLE, sub::TABLE];

/// Which terms count as text. Strings always do, and atoms except in [`Accept::List`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Accept {
    /// Atoms and strings.
    Name,
    /// Atoms, strings and numbers.
    Atomic,
    /// Atoms, strings and lists.
    Text,
    /// Atoms, strings, numbers and lists.
    Any,
    /// Strings and lists.
    List,
}

impl Accept {
    fn numbers(self) -> bool {
        matches!(self, Accept::Atomic | Accept::Any)
    }

    fn lists(self) -> bool {
        matches!(self, Accept::Text | Accept::Any | Accept::List)
    }
}

/// Why a term could not be read as text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Misfit {
    /// An unbound variable, or a list with an unbound element or tail.
    Unbound,
    /// A list with an element of the wrong type: the expected type, and the element.
    Element(&'static str, Term),
    /// A list with an integer that is not a character code.
    Code,
    /// Any other term.
    Other,
    /// The budget ran out while the term was read.
    Raised(Raised),
}

impl Misfit {
    /// The error for `term`, which could not be read. `expected` is the type in a type error of the whole term.
    pub(crate) fn raise(self, expected: &'static str, term: Term) -> Raised {
        match self {
            Misfit::Unbound => Fault::Instantiation.into(),
            Misfit::Element(kind, element) => Fault::Type(kind, element).into(),
            Misfit::Code => Fault::Representation("character_code").into(),
            Misfit::Other => Fault::Type(expected, term).into(),
            Misfit::Raised(raised) => raised,
        }
    }

    /// Like [`Misfit::raise`], but a type error of the whole `term` unless the budget ran out.
    fn raise_whole(self, expected: &'static str, term: Term) -> Raised {
        match self {
            Misfit::Raised(raised) => raised,
            _ => Fault::Type(expected, term).into(),
        }
    }
}

/// The text of `term`; if it is not text, the error of [`Misfit::raise`].
pub(crate) fn text_of(core: &mut Core, term: Term, accept: Accept, expected: &'static str) -> Solved<String> {
    read_text(core, term, accept).map_err(|misfit| misfit.raise(expected, term))
}

/// The text of `term`, or `None` if it is unbound; an error if it is bound to anything but text.
pub(crate) fn bound_text_of(
    core: &mut Core,
    term: Term,
    accept: Accept,
    expected: &'static str,
) -> Solved<Option<String>> {
    if core.store.deref(term).is_variable() { Ok(None) } else { text_of(core, term, accept, expected).map(Some) }
}

/// The text of `term`, or the reason why it is not text.
pub(crate) fn read_text(core: &mut Core, term: Term, accept: Accept) -> Result<String, Misfit> {
    let text = match core.store.view(term) {
        View::Variable(_) => return Err(Misfit::Unbound),
        View::Atom(atoms::NIL) if accept.lists() => String::new(),
        View::Atom(atom) if accept != Accept::List => core.atoms.name(atom).to_owned(),
        View::Text => core.store.text(term),
        View::Small(_) | View::Big | View::Float(_) if accept.numbers() => {
            numbers::number_text(core, term).map_err(Misfit::Raised)?
        }
        View::List(_) if accept.lists() => read_list(core, term)?,
        _ => return Err(Misfit::Other),
    };
    charge(core, text.len()).map_err(Misfit::Raised)?;
    Ok(text)
}

/// The text of a list of codes or of characters; the first element determines which.
fn read_list(core: &mut Core, list: Term) -> Result<String, Misfit> {
    let mut items = Vec::new();
    let end = core.store.list_items(list, &mut items);
    let as_codes = items.first().is_none_or(|&first| single_character(core, first).is_none());
    let mut text = String::with_capacity(items.len());
    for item in items {
        if item.is_variable() {
            return Err(Misfit::Unbound);
        }
        let character = if as_codes { code_character(core, item) } else { single_character(core, item) };
        match character {
            Some(character) => text.push(character),
            None if as_codes && matches!(core.store.view(item), View::Small(_) | View::Big) => {
                return Err(Misfit::Code);
            }
            None => return Err(Misfit::Element(if as_codes { "character_code" } else { "character" }, item)),
        }
    }
    match end {
        ListEnd::Nil => Ok(text),
        ListEnd::Variable(_) => Err(Misfit::Unbound),
        ListEnd::Other(_) => Err(Misfit::Other),
    }
}

/// The character of a one-character atom; `None` for any other term.
pub(crate) fn single_character(core: &Core, term: Term) -> Option<char> {
    let atom = core.store.deref(term).as_atom()?;
    let mut characters = core.atoms.name(atom).chars();
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

/// The character whose code is this term; `None` if the term is not a character code.
fn code_character(core: &Core, term: Term) -> Option<char> {
    match core.store.view(term) {
        View::Small(code) => u32::try_from(code).ok().and_then(char::from_u32),
        _ => None,
    }
}

/// A non-negative integer argument, or `None` if it is unbound; an error for any other term.
pub(crate) fn size_argument(core: &Core, term: Term) -> Solved<Option<usize>> {
    match core.store.view(term) {
        View::Variable(_) => Ok(None),
        View::Small(value) => match usize::try_from(value) {
            Ok(size) => Ok(Some(size)),
            Err(_) => Err(Fault::Domain("not_less_than_zero", term).into()),
        },
        View::Big if core.store.big(term).sign() == Sign::Minus => {
            Err(Fault::Domain("not_less_than_zero", term).into())
        }
        View::Big => Err(Fault::Representation("size_t").into()),
        _ => Err(Fault::Type("integer", term).into()),
    }
}

/// The kind of term to make from text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Atom,
    String,
    Codes,
    Characters,
}

/// Bytes that must be free when an atom is made, even if it exists already, in addition to its name, which a new atom
/// stores twice.
const ATOM_OVERHEAD_BYTES: usize = 64;

/// Cost of creating an atom, and of freeing it at the end of the query, in cells walked.
const NEW_ATOM_CELLS: u64 = 24;

impl Kind {
    /// Makes a term from `text`; an error if the budget is exhausted.
    pub(crate) fn make(self, core: &mut Core, text: &str) -> Solved<Term> {
        match self {
            Kind::Atom => {
                reserve(core, 2 * text.len() + ATOM_OVERHEAD_BYTES)?;
                charge(core, 2 * text.len())?;
                let before = core.atoms.made();
                let atom = core.atoms.intern(text);
                if core.atoms.made() > before {
                    core.store.charge(NEW_ATOM_CELLS)?;
                }
                Ok(Term::atom(atom))
            }
            Kind::String => {
                reserve(core, text.len() + 16)?;
                charge(core, text.len())?;
                Ok(core.store.string(text))
            }
            Kind::Codes | Kind::Characters => self.make_list(core, text, Term::NIL),
        }
    }

    /// A list of the codes or characters of `text` that ends in `tail`.
    pub(crate) fn make_list(self, core: &mut Core, text: &str, tail: Term) -> Solved<Term> {
        let count = text.chars().count();
        reserve(core, 16 * count)?;
        // A character, unlike a code, needs a lookup in the atom table.
        core.store.charge(count as u64 * if self == Kind::Characters { 8 } else { 2 })?;
        let items: Vec<Term> = match self {
            Kind::Characters => text.chars().map(|character| Term::atom(core.atoms.character(character))).collect(),
            _ => text.chars().map(|character| Term::small(i64::from(u32::from(character)))).collect(),
        };
        Ok(core.store.list(&items, tail))
    }

    /// Unifies `term` with `text`: an unbound `term` is bound to a new term; an atom, a string or a number is compared
    /// as text; any other term is an error.
    pub(crate) fn unify_text(self, core: &mut Core, term: Term, text: &str, expected: &'static str) -> Solved {
        match bound_text_of(core, term, Accept::Atomic, expected)? {
            Some(other) => Ok(other == text),
            None => self.unify(core, term, text),
        }
    }

    /// Unifies `term` with a new term made from `text`.
    pub(crate) fn unify(self, core: &mut Core, term: Term, text: &str) -> Solved {
        let made = self.make(core, text)?;
        core.unify(term, made)
    }
}

/// Returns an error unless the heap budget has room for `bytes` more.
pub(crate) fn reserve(core: &Core, bytes: usize) -> Solved<()> {
    let used = core.store.cells.len().saturating_mul(8).saturating_add(core.atoms.local_bytes());
    let used = used.max(core.store.words().saturating_mul(8));
    if used.saturating_add(bytes) > core.store.meter.cell_limit.saturating_mul(8) {
        return Err(Raised::Exhausted(Resource::HeapBytes));
    }
    Ok(())
}

/// Charges a walk over `bytes` bytes of text, eight per cell; an error if the budget is exhausted.
pub(crate) fn charge(core: &mut Core, bytes: usize) -> Solved<()> {
    if core.store.meter.walk(bytes as u64 / 8) { Ok(()) } else { core.check_budget() }
}

/// Unifies each pair. If one pair does not unify, undoes all bindings and returns false.
pub(crate) fn unify_candidate(core: &mut Core, pairs: &[(Term, Term)]) -> bool {
    let store = &mut core.store;
    let (trail, woken, boundary) = (store.trail_length(), store.woken.len(), store.boundary);
    store.boundary = store.cells.len();
    let unified = pairs.iter().all(|&(a, b)| store.unify(a, b));
    if !unified {
        store.undo_to(trail);
        store.woken.truncate(woken);
    }
    store.boundary = boundary;
    unified
}

/// The error `error(formal, context(system:name/arity, _))`, for formal terms without a [`Fault`].
pub(crate) fn error_ball(core: &mut Core, formal: Term, name: &str, arity: usize) -> Raised {
    use crate::stored::Attributes;
    let name = Term::atom(core.atoms.intern(name));
    let indicator = core.store.structure(atoms::SLASH, &[name, Term::small(arity as i64)]);
    let qualified = core.store.structure(atoms::COLON, &[Term::atom(atoms::SYSTEM), indicator]);
    let message = core.store.variable();
    let context = core.store.structure(atoms::CONTEXT, &[qualified, message]);
    let error = core.store.structure(atoms::ERROR, &[formal, context]);
    match core.store.copy_out(error, Attributes::Drop) {
        Some(ball) => Raised::Ball(Box::new(ball)),
        None => Raised::Exhausted(Resource::HeapBytes),
    }
}
