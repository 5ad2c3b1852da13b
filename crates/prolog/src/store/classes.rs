//! Pairs of compounds that a walk over two terms has met already.

use rustc_hash::FxHashMap;

/// Classes of compounds that are taken for equal because their comparison is done or under way (union-find by address).
///
/// A walk over two terms that skips pairs of one class ends on cyclic terms, and enters each compound of a shared term once.
#[derive(Default)]
pub(super) struct EqualClasses {
    parents: FxHashMap<usize, usize>,
}

impl EqualClasses {
    /// Puts `a` and `b` into one class; false when they are in one already.
    pub(super) fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.representative(a), self.representative(b));
        if a == b {
            return false;
        }
        self.parents.insert(a.max(b), a.min(b));
        true
    }

    /// The words that the classes take.
    pub(super) fn words(&self) -> usize {
        3 * self.parents.capacity()
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
    use super::EqualClasses;

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
}
