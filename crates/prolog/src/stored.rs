//! Terms outside of a store, such as clauses of dynamic predicates, `findall` results, thrown terms, and literals of
//! compiled programs.
//!
//! A term is copied into a block of cells whose addresses are relative to the start of the block. One linear pass
//! relocates the block into a store.

use crate::fault::Solved;
use crate::store::Store;
use crate::term::{BoxHeader, BoxKind, Functor, Tag, Term};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A term with its own cells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredTerm {
    cells: Box<[Term]>,
    root: Term,
}

impl StoredTerm {
    /// A term without cells: an atom or a small integer.
    pub(crate) fn atomic(root: Term) -> StoredTerm {
        StoredTerm { cells: Box::new([]), root }
    }

    /// The cells that [`StoredTerm::root`] refers to; empty for atoms and small integers.
    pub(crate) fn cells(&self) -> &[Term] {
        &self.cells
    }

    /// The value of a term that is a float; `None` for any other term.
    pub(crate) fn as_float(&self) -> Option<f64> {
        let header = self.root.has_tag(Tag::Box).then(|| BoxHeader::read(self.cells[self.root.address()]))?;
        (header.kind() == BoxKind::Float).then(|| f64::from_bits(self.cells[self.root.address() + 1].0))
    }

    /// The term, with addresses into [`StoredTerm::cells`].
    pub(crate) fn root(&self) -> Term {
        self.root
    }
}

/// A growing block into which several terms can be copied.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) cells: Vec<Term>,
    /// Cells of the store that were overwritten with forwarding words, and their original contents.
    forwarded: Vec<(usize, Term)>,
    /// Positions in the block that are already final when the scan reaches them, in ascending order.
    settled: VecDeque<usize>,
}

/// The maximum arity of compounds that [`Block::copy_flat`] copies.
const MAX_FLAT: usize = 8;
/// A copy checks the budget whenever it has grown by more than this number of cells, and before it appends a compound
/// with more cells.
const STRIDE: usize = 4096;
/// Copies of up to this number of cells are not charged, because the inference that makes them covers their cost.
const FREE_CELLS: usize = 16;

/// The treatment of suspended goals when a term is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    Copy,
    Drop,
}

impl Block {
    /// Copies `term` out of the store; its variables become fresh variables of the block. Shared subterms are
    /// duplicated, unless the copy would then exceed [`Store::patience`]; that of a cyclic term always would.
    ///
    /// Returns `None`, and marks the store's budget as exhausted, if the copy would exceed it.
    pub(crate) fn copy(&mut self, store: &mut Store, term: Term, attributes: Attributes) -> Option<Term> {
        if let Some(root) = self.copy_flat(store, term) {
            return Some(root);
        }
        match self.copy_general(store, term, attributes, Sharing::Lost) {
            Copied::Term(root) => Some(root),
            Copied::NotYet => match self.copy_general(store, term, attributes, Sharing::Kept) {
                Copied::Term(root) => Some(root),
                Copied::NotYet | Copied::TooLarge => None,
            },
            Copied::TooLarge => None,
        }
    }

    fn copy_general(&mut self, store: &mut Store, term: Term, attributes: Attributes, sharing: Sharing) -> Copied {
        let start = self.cells.len();
        self.cells.push(term);
        let scanned = self.scan(store, start, attributes, sharing);
        for (address, value) in self.forwarded.drain(..).rev() {
            store.cells[address] = value;
        }
        let copied = match scanned {
            Ok(new) if new > FREE_CELLS && !store.may_copy(new) => Copied::TooLarge,
            Ok(_) => return Copied::Term(self.cells[start]),
            Err(incomplete) => incomplete,
        };
        self.settled.clear();
        self.cells.truncate(start);
        copied
    }

    /// Copies a compound of at most [`MAX_FLAT`] atoms and small integers; `None` for any other term.
    #[inline]
    fn copy_flat(&mut self, store: &Store, term: Term) -> Option<Term> {
        let address = term.address();
        let (header, arguments, count) = match term.tag() {
            Tag::Lis => (None, address, 2),
            Tag::Str => (Some(store.cells[address]), address + 1, store.functor_at(address).arity()),
            _ => return None,
        };
        let start = self.cells.len();
        self.cells.extend(header);
        for &argument in store.cells[arguments..].iter().take(count.min(MAX_FLAT)) {
            let argument = store.deref(argument);
            if !matches!(argument.tag(), Tag::Atm | Tag::Int) {
                break;
            }
            self.cells.push(argument);
        }
        if self.cells.len() != start + count + usize::from(header.is_some()) {
            self.cells.truncate(start);
            return None;
        }
        Some(if header.is_some() { Term::structure(start) } else { Term::list(start) })
    }

    /// Replaces, from `scan` on, each word that points into the store by a word that points into the block, and appends
    /// the cells that it points to. The traversal is breadth-first, so it needs no stack. Returns the number of cells
    /// that are not charged yet.
    fn scan(
        &mut self,
        store: &mut Store,
        mut scan: usize,
        attributes: Attributes,
        sharing: Sharing,
    ) -> Result<usize, Copied> {
        let start = scan;
        let mut looked_at = start;
        while scan < self.cells.len() {
            if self.cells.len() > looked_at + STRIDE {
                self.check_budget(store, start, self.cells.len() - looked_at, sharing)?;
                looked_at = self.cells.len();
            }
            let word = self.cells[scan];
            if self.settled.front() == Some(&scan) {
                self.settled.pop_front();
                scan += 1;
                continue;
            }
            if word.has_tag(Tag::Hdr) {
                scan += 1 + if BoxHeader::is_box_header(word) { BoxHeader::read(word).words() } else { 0 };
                continue;
            }
            let value = match deref_forwarded(store, word) {
                Forwarded::Here(address) => {
                    self.cells[scan] = Term::reference(address);
                    scan += 1;
                    continue;
                }
                Forwarded::There(value) => value,
            };
            let next = self.cells.len();
            self.cells[scan] = match value.tag() {
                Tag::Ref => {
                    self.forward(store, value, scan);
                    Term::reference(scan)
                }
                Tag::Att if attributes == Attributes::Drop => {
                    self.forward(store, value, scan);
                    Term::reference(scan)
                }
                Tag::Att => {
                    self.forward(store, value, next);
                    self.cells.push(Term::attributed(next));
                    self.cells.push(store.cells[value.address() + 1]);
                    self.settled.push_back(next);
                    Term::attributed(next)
                }
                Tag::Lis | Tag::Str | Tag::Box => match copied_before(store, value) {
                    Some(copy) => Term::new(value.tag(), copy as u64),
                    None => {
                        self.append_compound(store, value)?;
                        if sharing == Sharing::Kept {
                            self.forward_compound(store, value, next);
                        }
                        Term::new(value.tag(), next as u64)
                    }
                },
                Tag::Atm | Tag::Int | Tag::Hdr => value,
            };
            scan += 1;
        }
        Ok(self.cells.len() - looked_at)
    }

    /// Charges `new` cells of a copy in progress that began at `start`. Returns an error if the budget is exhausted, or
    /// if a copy without sharing has exceeded [`Store::patience`].
    #[cold]
    fn check_budget(&mut self, store: &mut Store, start: usize, new: usize, sharing: Sharing) -> Result<(), Copied> {
        let size = self.cells.len() - start;
        // Charge first, because an abandoned copy takes time, too.
        let may_go_on = store.meter.walk(new as u64);
        if sharing == Sharing::Lost && size > store.patience() {
            return Err(Copied::NotYet);
        }
        if size + 2 * self.forwarded.len() + self.settled.len() > store.room() {
            store.out_of_room();
        }
        store.grow_within_budget(&mut self.cells);
        store.grow_within_budget(&mut self.forwarded);
        if may_go_on && store.meter.exhausted().is_none() { Ok(()) } else { Err(Copied::TooLarge) }
    }

    /// Appends the cells of a list cell, a structure, or a box.
    #[inline]
    fn append_compound(&mut self, store: &mut Store, value: Term) -> Result<(), Copied> {
        let address = value.address();
        let end = match value.tag() {
            Tag::Lis => address + 2,
            Tag::Str => address + 1 + Functor(store.cells[address].0).arity(),
            _ => address + 1 + BoxHeader::read(store.cells[address]).words(),
        };
        if end - address > STRIDE && store.reserve(end - address).is_err() {
            return Err(Copied::TooLarge);
        }
        if value.has_tag(Tag::Box) {
            self.cells.extend_from_slice(&store.cells[address..end]);
        } else {
            let header = usize::from(value.has_tag(Tag::Str));
            self.cells.extend_from_slice(&store.cells[address..address + header]);
            self.append(&store.cells[address + header..end]);
        }
        Ok(())
    }

    /// Appends the parts of a compound. A part that was already copied contains a forwarding word, and becomes a
    /// reference to its copy.
    fn append(&mut self, parts: &[Term]) {
        for &part in parts {
            if part.has_tag(Tag::Hdr) {
                self.settled.push_back(self.cells.len());
                self.cells.push(Term::reference(forwarded_to(part)));
            } else {
                self.cells.push(part);
            }
        }
    }

    fn forward(&mut self, store: &mut Store, variable: Term, to: usize) {
        let address = variable.address();
        self.forwarded.push((address, store.cells[address]));
        store.cells[address] = Term::new(Tag::Hdr, (to as u64) << 1);
    }

    /// Stores a forwarding word for a copied compound in the cell of its first argument. The word contains the position
    /// of that cell's copy, so that references to the cell can follow it like the forwarding word of a variable.
    fn forward_compound(&mut self, store: &mut Store, compound: Term, to: usize) {
        let Some(first) = first_argument(store, compound) else { return };
        self.forwarded.push((first, store.cells[first]));
        let copy = to + first - compound.address();
        store.cells[first] = Term::new(Tag::Hdr, (copy as u64) << 1 | COMPOUND);
    }

    pub(crate) fn into_stored(self, root: Term) -> StoredTerm {
        StoredTerm { cells: self.cells.into_boxed_slice(), root }
    }

    pub(crate) fn clear(&mut self) {
        self.cells.clear();
    }
}

/// Whether shared subterms stay shared in the copy. Keeping them shared takes longer, and is required for cyclic terms.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Lost,
    Kept,
}

/// A bit of a forwarding word: set for a compound, whose word is in its first argument; clear for a variable.
const COMPOUND: u64 = 1;

/// The address of the first argument of a list cell or a structure; `None` for a box, or if there are no arguments.
fn first_argument(store: &Store, compound: Term) -> Option<usize> {
    let address = compound.address();
    match compound.tag() {
        Tag::Lis => Some(address),
        Tag::Str => (store.functor_at(address).arity() > 0).then_some(address + 1),
        _ => None,
    }
}

/// The position of the copy of a compound in the block; `None` if it has no forwarding word.
#[inline]
fn copied_before(store: &Store, compound: Term) -> Option<usize> {
    let first = first_argument(store, compound)?;
    let word = store.cells[first];
    let is_forwarded = word.has_tag(Tag::Hdr) && word.address() as u64 & COMPOUND != 0;
    is_forwarded.then(|| forwarded_to(word) - (first - compound.address()))
}

/// The position in the block that a forwarding word refers to.
fn forwarded_to(word: Term) -> usize {
    word.address() >> 1
}

/// The result of a copy.
enum Copied {
    Term(Term),
    /// Given up: the term may be cyclic, or share subterms, and must be copied with [`Sharing::Kept`].
    NotYet,
    TooLarge,
}

enum Forwarded {
    Here(usize),
    There(Term),
}

/// Follows bindings to a term in the store, or to a forwarding word, which contains the position of the copy in the
/// block.
fn deref_forwarded(store: &Store, mut term: Term) -> Forwarded {
    let mut steps = 0;
    while term.is_variable() {
        let value = store.cells[term.address()];
        if value == term {
            break;
        }
        if value.has_tag(Tag::Hdr) {
            store.meter.chain(steps);
            return Forwarded::Here(forwarded_to(value));
        }
        term = value;
        steps += 1;
    }
    store.meter.chain(steps);
    Forwarded::There(term)
}

impl Store {
    /// Copies a term out of the store into a new block; `None` if the budget is exhausted.
    pub(crate) fn copy_out(&mut self, term: Term, attributes: Attributes) -> Option<StoredTerm> {
        let mut block = Block::default();
        let term = self.deref(term);
        if !term.is_pointer() {
            return Some(StoredTerm::atomic(term));
        }
        let root = block.copy(self, term, attributes)?;
        // `into_stored` may reallocate the cells to their exact size, and both allocations exist meanwhile.
        self.reserve(2 * block.cells.len()).ok()?;
        Some(block.into_stored(root))
    }

    /// Copies a boxed number or string into another store.
    pub(crate) fn copy_box(&self, term: Term, target: &mut Store) -> Term {
        let address = self.deref(term).address();
        let words = BoxHeader::read(self.cells[address]).words();
        let copy = target.cells.len();
        target.cells.extend_from_slice(&self.cells[address..=address + words]);
        Term::boxed(copy)
    }

    /// Charges a copy of `cells` cells, and checks that there is room for it; false if the budget is exhausted.
    fn may_copy(&mut self, cells: usize) -> bool {
        if cells > self.room() {
            self.out_of_room();
        }
        self.meter.walk(cells as u64)
    }

    /// Pastes a stored term and charges it if it is large; an error if the budget is exhausted. For terms created by a
    /// query, which may have any size.
    pub(crate) fn paste_within_budget(&mut self, stored: &StoredTerm) -> Solved<Term> {
        let cells = stored.cells.len();
        if cells > FREE_CELLS && !self.may_copy(cells) {
            self.charge(0)?;
        }
        Ok(self.paste(stored))
    }

    /// Pastes a block, and charges it if it is large; an error if the budget is exhausted. Returns the term at `root`.
    pub(crate) fn paste_block(&mut self, block: &Block, root: Term) -> Solved<Term> {
        if block.cells.len() > FREE_CELLS && !self.may_copy(block.cells.len()) {
            self.charge(0)?;
        }
        Ok(self.paste_cells(&block.cells, 0, root))
    }

    /// Pastes a stored term with fresh variables, without a charge.
    pub(crate) fn paste(&mut self, stored: &StoredTerm) -> Term {
        self.paste_cells(&stored.cells, 0, stored.root)
    }

    /// Pastes cells whose addresses start at `from`, and returns the term that `root` then refers to. If `root` is an
    /// atom or a small integer, returns it and pastes nothing.
    pub(crate) fn paste_cells(&mut self, cells: &[Term], from: usize, root: Term) -> Term {
        if !root.is_pointer() {
            return root;
        }
        let offset = self.cells.len().wrapping_sub(from);
        self.cells.reserve(cells.len());
        let mut index = 0;
        while index < cells.len() {
            let word = cells[index];
            if word.has_tag(Tag::Hdr) {
                self.cells.push(word);
                if BoxHeader::is_box_header(word) {
                    let words = BoxHeader::read(word).words();
                    self.cells.extend_from_slice(&cells[index + 1..=index + words]);
                    index += words;
                }
            } else if word.is_pointer() {
                self.cells.push(word.relocated(offset));
            } else {
                self.cells.push(word);
            }
            index += 1;
        }
        let root = root.relocated(offset);
        self.deref(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::Budget;

    /// `[X, Y]-Y` with the variables in the cells of the list. The second argument is copied before the cell of `Y` in
    /// the list.
    #[test]
    fn copies_variables_that_live_in_a_part_copied_later() {
        let mut store = Store::default();
        store.meter.start(&Budget::default());
        let (x, y) = (store.cells.len(), store.cells.len() + 2);
        store.cells.extend([Term::reference(x), Term::list(y), Term::reference(y), Term::NIL]);
        let name = crate::symbols::atoms::MINUS;
        let term = store.structure(name, &[Term::list(x), Term::reference(y)]);
        let before = store.cells.clone();
        let stored = store.copy_out(term, Attributes::Copy).expect("the budget is large");
        assert_eq!(store.cells, before, "copying leaves no mark");
        let copy = store.paste(&stored);
        let list = store.argument(copy.address(), 1);
        let rest = store.argument(list.address(), 1);
        let inner = store.argument(rest.address(), 0);
        assert!(inner.is_variable());
        assert_eq!(inner, store.argument(copy.address(), 2));
        assert_ne!(inner, store.argument(list.address(), 0));
        assert_eq!(store.argument(rest.address(), 1), Term::NIL);
    }
}
