//! Matching: unification that binds variables of one side only.

use super::Store;
use crate::symbols::Atoms;
use crate::term::Term;

impl Store {
    /// Makes `pattern` equal to `term` without binding variables of the term. The cells of the pattern are those from `first` on,
    /// and none of its variables is bound before.
    pub(crate) fn match_one_way(&mut self, atoms: &Atoms, pattern: Term, term: Term, first: usize) -> bool {
        let mut pending = vec![(pattern, term)];
        while let Some((pattern, term)) = pending.pop() {
            if !self.meter.walk(1) {
                return false;
            }
            let term = self.deref(term);
            let value = self.deref(pattern);
            if value.is_variable() && value.address() >= first {
                self.bind(value, term);
                continue;
            }
            let parts = match (self.compound(value), self.compound(term)) {
                // A variable of the pattern that was met before has a part of the term as its value.
                _ if pattern.is_variable() => None,
                (Some((ours, from)), Some((theirs, to))) if ours == theirs => Some((from, to, ours.arity())),
                (Some(_), _) => return false,
                (None, _) => None,
            };
            match parts {
                Some((from, to, count)) => {
                    pending.extend((0..count).rev().map(|index| (self.cells[from + index], self.cells[to + index])));
                }
                None if self.compare(atoms, value, term).is_eq() => {}
                None => return false,
            }
        }
        true
    }
}
