//! What walks remember of a term that may be cyclic, or share its parts.

use super::room::STRIDE;
use rustc_hash::FxHashMap;

/// A set of cells, one bit each.
pub(super) struct CellSet {
    bits: Vec<u64>,
}

impl CellSet {
    /// An empty set of the first `cells` cells.
    pub(super) fn new(cells: usize) -> CellSet {
        CellSet { bits: vec![0; CellSet::words(cells)] }
    }

    /// The words that such a set takes.
    pub(super) fn words(cells: usize) -> usize {
        cells / 64 + 1
    }

    /// Adds a cell; false when it is there already.
    pub(super) fn insert(&mut self, cell: usize) -> bool {
        let (word, bit) = (&mut self.bits[cell / 64], 1 << (cell % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub(super) fn contains(&self, cell: usize) -> bool {
        self.bits[cell / 64] & 1 << (cell % 64) != 0
    }
}

/// Pairs of compounds that a walk over two terms has met. One that skips them ends on cyclic terms, and takes linear time on
/// shared ones.
///
/// Nothing is remembered at first, because that takes time: the walk is over before its `patience` is, unless the terms are huge. Then
/// the compounds of the left term are remembered, one bit each. Only when one of them is met again, pairs are.
pub(super) struct Met {
    patience: usize,
    cells: usize,
    left: Option<CellSet>,
    classes: Option<EqualClasses>,
}

impl Met {
    /// For a walk over terms of a store with this many cells.
    pub(super) fn new(patience: usize, cells: usize) -> Met {
        Met { patience, cells, left: None, classes: None }
    }

    /// Whether the walk must ask [`Met::is_new`].
    #[inline(always)]
    pub(super) fn remembers(&self) -> bool {
        self.patience == 0
    }

    /// Notes a pair of compounds; false when the walk need not enter them.
    pub(super) fn is_new(&mut self, left: usize, right: usize) -> bool {
        self.is_new_left(left) || self.classes.get_or_insert_default().join(left, right)
    }

    /// Notes a pair whose members do not mix: what is a part of both terms is not the same on both sides.
    pub(super) fn is_new_on_two_sides(&mut self, left: usize, right: usize) -> bool {
        self.is_new_left(left) || self.classes.get_or_insert_default().join(2 * left, 2 * right + 1)
    }

    /// Whether a compound of the left term is met for the first time, while nothing was met twice.
    fn is_new_left(&mut self, left: usize) -> bool {
        self.classes.is_none() && self.left.get_or_insert_with(|| CellSet::new(self.cells)).insert(left)
    }

    /// Another stride was walked; returns what it is charged, and the words that are used.
    #[cold]
    pub(super) fn stride(&mut self) -> (u64, usize) {
        self.patience = self.patience.saturating_sub(STRIDE as usize);
        match &self.classes {
            Some(classes) => (REMEMBERED_STEP_CELLS * STRIDE, classes.words() + CellSet::words(self.cells)),
            None if self.remembers() => (2 * STRIDE, CellSet::words(self.cells)),
            None => (STRIDE, 0),
        }
    }
}

/// A step that looks up and remembers a pair costs as much as this many that do not.
const REMEMBERED_STEP_CELLS: u64 = 8;
/// Words of a table for each element that fits, spare places included, while it grows.
const TABLE_WORDS: usize = 8;

/// Classes of compounds that are taken for equal because their comparison is done or under way (union-find by address).
#[derive(Default)]
struct EqualClasses {
    parents: FxHashMap<usize, usize>,
}

impl EqualClasses {
    /// Puts `a` and `b` into one class; false when they are in one already.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.representative(a), self.representative(b));
        if a == b {
            return false;
        }
        self.parents.insert(a.max(b), a.min(b));
        true
    }

    fn words(&self) -> usize {
        TABLE_WORDS * self.parents.capacity()
    }

    fn representative(&mut self, member: usize) -> usize {
        let mut member = member;
        while let Some(&parent) = self.parents.get(&member) {
            let Some(&grandparent) = self.parents.get(&parent) else { return parent };
            self.parents.insert(member, grandparent);
            member = grandparent;
        }
        member
    }
}

#[cfg(test)]
mod tests {
    use super::{EqualClasses, Met};

    #[test]
    fn what_is_equal_to_the_same_is_equal() {
        let mut classes = EqualClasses::default();
        assert!(classes.join(1, 2));
        assert!(classes.join(3, 4));
        assert!(!classes.join(2, 1));
        assert!(classes.join(4, 1));
        assert!(!classes.join(2, 3));
        assert!(classes.join(5, 3));
    }

    #[test]
    fn pairs_are_remembered_once_something_is_met_again() {
        let mut met = Met::new(0, 100);
        assert!(met.is_new(1, 50));
        assert!(met.is_new(2, 51));
        assert!(met.classes.is_none());
        assert!(met.is_new(1, 52));
        assert!(!met.is_new(1, 52));
    }
}
