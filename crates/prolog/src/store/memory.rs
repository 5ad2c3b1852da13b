//! Visited sets of walks over terms that may be cyclic or share subterms.

use super::room::STRIDE;
use rustc_hash::FxHashMap;

/// A set of cells, one bit each.
pub(super) struct CellSet {
    bits: Vec<u64>,
}

impl CellSet {
    /// An empty set that can contain the cells below address `cells`.
    pub(super) fn new(cells: usize) -> CellSet {
        CellSet { bits: vec![0; CellSet::words(cells)] }
    }

    /// The memory in words of a set that can contain the cells below address `cells`.
    pub(super) fn words(cells: usize) -> usize {
        cells / 64 + 1
    }

    /// Adds a cell; returns false if the set contains it already.
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

/// Pairs of compounds visited by a walk over two terms. A walk that skips them terminates on cyclic terms, and takes
/// linear time on terms with sharing.
///
/// Recording takes time, so nothing is recorded during the first `patience` steps, in which most walks end. After that,
/// the compounds of the left term are recorded, one bit each. Pairs are recorded only after the walk has reached one of
/// these compounds again.
pub(super) struct VisitedPairs {
    patience: usize,
    cells: usize,
    left: Option<CellSet>,
    classes: Option<EqualClasses>,
}

impl VisitedPairs {
    /// The visited pairs of a walk over terms of a store with this number of cells.
    pub(super) fn new(patience: usize, cells: usize) -> VisitedPairs {
        VisitedPairs { patience, cells, left: None, classes: None }
    }

    /// Whether recording has started, so that the walk must call [`VisitedPairs::is_new`] or
    /// [`VisitedPairs::is_new_on_two_sides`] before it enters a pair of compounds.
    #[inline(always)]
    pub(super) fn is_recording(&self) -> bool {
        self.patience == 0
    }

    /// Records a pair of compounds; returns false if the walk need not enter them.
    pub(super) fn is_new(&mut self, left: usize, right: usize) -> bool {
        self.is_new_left(left) || self.classes.get_or_insert_default().join(left, right)
    }

    /// Like [`VisitedPairs::is_new`], but for walks in which a compound need not be equal to itself, such as a variant
    /// check: a compound that occurs in both terms counts as two, one on each side.
    pub(super) fn is_new_on_two_sides(&mut self, left: usize, right: usize) -> bool {
        self.is_new_left(left) || self.classes.get_or_insert_default().join(2 * left, 2 * right + 1)
    }

    /// Records a compound of the left term. Returns true if it is visited for the first time and no compound has been
    /// visited twice yet.
    fn is_new_left(&mut self, left: usize) -> bool {
        self.classes.is_none() && self.left.get_or_insert_with(|| CellSet::new(self.cells)).insert(left)
    }

    /// Called once per [`STRIDE`] steps: reduces the remaining patience, and returns the cost of a stride in cells
    /// walked and the memory in use in words.
    #[cold]
    pub(super) fn stride(&mut self) -> (u64, usize) {
        self.patience = self.patience.saturating_sub(STRIDE as usize);
        match &self.classes {
            Some(classes) => (REMEMBERED_STEP_CELLS * STRIDE, classes.words() + CellSet::words(self.cells)),
            None if self.is_recording() => (2 * STRIDE, CellSet::words(self.cells)),
            None => (STRIDE, 0),
        }
    }
}

/// Cost of a step that looks up and records a pair, in cells walked.
const REMEMBERED_STEP_CELLS: u64 = 8;
/// Words of memory per element of a hash table while it grows, when the old and the larger new table coexist.
const TABLE_WORDS: usize = 8;

/// Classes of compounds that are assumed equal because their comparison is done or in progress (union-find by address).
#[derive(Default)]
struct EqualClasses {
    parents: FxHashMap<usize, usize>,
}

impl EqualClasses {
    /// Joins the classes of `a` and `b`; returns false if they are in the same class already.
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
    use super::{EqualClasses, VisitedPairs};

    #[test]
    fn equality_is_transitive() {
        let mut classes = EqualClasses::default();
        assert!(classes.join(1, 2));
        assert!(classes.join(3, 4));
        assert!(!classes.join(2, 1));
        assert!(classes.join(4, 1));
        assert!(!classes.join(2, 3));
        assert!(classes.join(5, 3));
    }

    #[test]
    fn pairs_are_recorded_after_the_first_revisit() {
        let mut visited = VisitedPairs::new(0, 100);
        assert!(visited.is_new(1, 50));
        assert!(visited.is_new(2, 51));
        assert!(visited.classes.is_none());
        assert!(visited.is_new(1, 52));
        assert!(!visited.is_new(1, 52));
    }
}
