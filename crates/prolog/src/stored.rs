//! Terms that live outside of a machine's store: copied out, kept, pasted back.
//!
//! A block is relocatable: all addresses count from its own start, and one linear pass moves it
//! into a store. Clauses of dynamic predicates, `findall` results, balls and literals of compiled
//! programs are all blocks.

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
    /// A term without parts.
    pub(crate) fn atomic(root: Term) -> StoredTerm {
        StoredTerm { cells: Box::new([]), root }
    }

    /// The cells, for walks that need no store.
    pub(crate) fn cells(&self) -> &[Term] {
        &self.cells
    }

    /// The float that the term is, if it is one.
    pub(crate) fn as_float(&self) -> Option<f64> {
        let header = self.root.has_tag(Tag::Box).then(|| BoxHeader::read(self.cells[self.root.address()]))?;
        (header.kind() == BoxKind::Float).then(|| f64::from_bits(self.cells[self.root.address() + 1].0))
    }

    /// The term, with addresses into [`StoredTerm::cells`].
    pub(crate) fn root(&self) -> Term {
        self.root
    }
}

/// A growing block that several terms can be copied into.
#[derive(Default)]
pub(crate) struct Block {
    pub(crate) cells: Vec<Term>,
    /// Cells of the store that were overwritten with forwarding words, and what they held.
    forwarded: Vec<(usize, Term)>,
    /// Cells of the block that are final before the scan comes by, in order.
    settled: VecDeque<usize>,
}

/// Wider compounds are copied the general way.
const MAX_FLAT: usize = 8;
/// How many cells are copied between two looks at the budget.
const STRIDE: usize = 4096;
/// A copy of this size is part of the inference that makes it.
const FREE_CELLS: usize = 16;

/// What happens to suspended goals when a term is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    Copy,
    Drop,
}

impl Block {
    /// Copies `term` out of the store; variables become fresh ones of the block. A large term that shares parts, or is cyclic, gives
    /// a copy that does, too.
    ///
    /// `None` when that would exceed the store's budget, which is then exhausted.
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

    /// Copies a small compound of atoms and small integers without looking at it twice.
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

    /// Replaces, from `scan` on, each word that points into the store by one that points into the
    /// block, appending what it points to: breadth first, so depth costs nothing. Returns how many cells are still to be charged.
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
                self.look(store, start, self.cells.len() - looked_at, sharing)?;
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

    /// Looks at the budget of a copy that began at `start` and is under way, and charges `new` cells of it.
    #[cold]
    fn look(&mut self, store: &mut Store, start: usize, new: usize, sharing: Sharing) -> Result<(), Copied> {
        let size = self.cells.len() - start;
        // Before anything else: a copy that is given up was work, too.
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

    /// Appends the parts of a compound. A part may be the cell of a variable that was met elsewhere before
    /// and holds its forwarding word by now: it becomes a reference to the copy.
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

    /// Leaves word that a compound was copied, in the cell of its first argument. To references this looks as if the cell were a
    /// variable that was copied, which is right as well: the copy of the cell is where they lead.
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

/// Whether parts that a term shares are shared in its copy. Keeping them shared takes longer, and is the only way to copy a cyclic term.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Lost,
    Kept,
}

/// Set in a forwarding word that stands for the first argument of a compound.
const COMPOUND: u64 = 1;

/// The cell of the first argument of a list cell or a structure.
fn first_argument(store: &Store, compound: Term) -> Option<usize> {
    let address = compound.address();
    match compound.tag() {
        Tag::Lis => Some(address),
        Tag::Str => (store.functor_at(address).arity() > 0).then_some(address + 1),
        _ => None,
    }
}

/// Where the copy of a compound is in the block, if there is one.
#[inline]
fn copied_before(store: &Store, compound: Term) -> Option<usize> {
    let first = first_argument(store, compound)?;
    let word = store.cells[first];
    let is_forwarded = word.has_tag(Tag::Hdr) && word.address() as u64 & COMPOUND != 0;
    is_forwarded.then(|| forwarded_to(word) - (first - compound.address()))
}

/// The place in the block that a forwarding word leads to.
fn forwarded_to(word: Term) -> usize {
    word.address() >> 1
}

/// How a copy ended.
enum Copied {
    Term(Term),
    /// The term may be cyclic, or share its parts: it must be copied with [`Sharing::Kept`].
    NotYet,
    TooLarge,
}

enum Forwarded {
    Here(usize),
    There(Term),
}

/// Follows bindings; a header word in a variable's cell leads to its copy in the block.
fn deref_forwarded(store: &Store, mut term: Term) -> Forwarded {
    while term.is_variable() {
        let value = store.cells[term.address()];
        if value == term {
            break;
        }
        if value.has_tag(Tag::Hdr) {
            return Forwarded::Here(forwarded_to(value));
        }
        term = value;
    }
    Forwarded::There(term)
}

impl Store {
    /// Copies a term out of the store into a block of its own.
    pub(crate) fn copy_out(&mut self, term: Term, attributes: Attributes) -> Option<StoredTerm> {
        let mut block = Block::default();
        let term = self.deref(term);
        if !term.is_pointer() {
            return Some(StoredTerm::atomic(term));
        }
        let root = block.copy(self, term, attributes)?;
        // While the block moves into memory of its own size, both are there.
        self.reserve(2 * block.cells.len()).ok()?;
        Some(block.into_stored(root))
    }

    /// Copies a number or string with its own cells into another store.
    pub(crate) fn copy_box(&self, term: Term, target: &mut Store) -> Term {
        let address = self.deref(term).address();
        let words = BoxHeader::read(self.cells[address]).words();
        let copy = target.cells.len();
        target.cells.extend_from_slice(&self.cells[address..=address + words]);
        Term::boxed(copy)
    }

    /// Charges a copy of `cells` cells, and ensures that there is room for it; false when the budget is spent.
    fn may_copy(&mut self, cells: usize) -> bool {
        if cells > self.room() {
            self.out_of_room();
        }
        self.meter.walk(cells as u64)
    }

    /// Pastes a stored term that a query made, and that may be as large as the budget allows.
    pub(crate) fn paste_within_budget(&mut self, stored: &StoredTerm) -> Solved<Term> {
        let cells = stored.cells.len();
        if cells > FREE_CELLS && !self.may_copy(cells) {
            self.charge(0)?;
        }
        Ok(self.paste(stored))
    }

    /// Pastes what a block of its own holds.
    pub(crate) fn paste_block(&mut self, block: &Block, root: Term) -> Solved<Term> {
        if block.cells.len() > FREE_CELLS && !self.may_copy(block.cells.len()) {
            self.charge(0)?;
        }
        Ok(self.paste_cells(&block.cells, 0, root))
    }

    /// Pastes a stored term; its variables become fresh ones.
    pub(crate) fn paste(&mut self, stored: &StoredTerm) -> Term {
        self.paste_cells(&stored.cells, 0, stored.root)
    }

    /// Pastes cells whose addresses count from `from`.
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

    /// `f([X, Y], Y)` with the variables in the cells of the list: one of them is met from outside before the
    /// list itself is copied.
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
