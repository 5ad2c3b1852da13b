//! Decomposes and builds compounds, one part at a time.

use super::Machine;
use crate::term::{Functor, Tag, Term};

impl Machine {
    /// In read mode, returns the part. In write mode, stores a fresh variable in its cell and returns the variable.
    #[inline(always)]
    pub(super) fn part_variable(&mut self, part: usize, writing: bool) -> Term {
        if writing {
            let variable = Term::reference(part);
            self.core.store.cells[part] = variable;
            variable
        } else {
            self.core.store.cells[part]
        }
    }

    #[inline(always)]
    pub(super) fn unify_part(&mut self, part: usize, writing: bool, value: Term) -> bool {
        if writing {
            self.core.store.cells[part] = value;
            true
        } else {
            self.core.store.unify(self.core.store.cells[part], value)
        }
    }

    /// Enters the list in this part; in write mode, or if the part is unbound, creates the list first. Returns the
    /// address of the head, and whether the mode is now write mode; `None` if the part is another term.
    #[inline]
    pub(super) fn descend_list(&mut self, part: usize, writing: bool) -> Option<(usize, bool)> {
        let store = &mut self.core.store;
        let address = store.cells.len();
        if writing {
            store.cells[part] = Term::list(address);
        } else {
            let term = store.deref(store.cells[part]);
            if term.has_tag(Tag::Lis) {
                return Some((term.address(), false));
            }
            if !term.is_variable() {
                return None;
            }
            store.bind(term, Term::list(address));
        }
        store.cells.extend_from_slice(&[Term(0), Term(0)]);
        Some((address, true))
    }

    /// Enters the structure with this functor in this part, like [`Machine::descend_list`].
    #[inline]
    pub(super) fn descend(&mut self, part: usize, writing: bool, functor: Functor) -> Option<(usize, bool)> {
        let store = &mut self.core.store;
        if writing {
            let structure = new_structure(&mut store.cells, functor);
            store.cells[part] = structure;
            return Some((structure.address() + 1, true));
        }
        let term = store.deref(store.cells[part]);
        if term.has_tag(Tag::Str) {
            return (store.cells[term.address()] == functor.header()).then_some((term.address() + 1, false));
        }
        if !term.is_variable() {
            return None;
        }
        let structure = new_structure(&mut store.cells, functor);
        store.bind(term, structure);
        Some((structure.address() + 1, true))
    }
}

/// A new structure whose arguments are to be written next.
#[inline(always)]
pub(super) fn new_structure(cells: &mut Vec<Term>, functor: Functor) -> Term {
    let address = cells.len();
    let header = functor.header();
    // Small arities are special cases: a call of `memset` would cost more than writing the cells.
    match functor.arity() {
        1 => cells.extend_from_slice(&[header, Term(0)]),
        2 => cells.extend_from_slice(&[header, Term(0), Term(0)]),
        3 => cells.extend_from_slice(&[header, Term(0), Term(0), Term(0)]),
        arity => {
            cells.resize(address + 1 + arity, Term(0));
            cells[address] = header;
        }
    }
    Term::structure(address)
}
