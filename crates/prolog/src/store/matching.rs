//! Matching: one-way unification, which binds variables of one side only.

use super::Store;
use crate::symbols::Atoms;
use crate::term::Term;

impl Store {
    /// Makes `pattern` equal to `term` without binding variables of the term; false if that is impossible, or if the
    /// budget is exhausted. The pattern consists of the cells from `first` on. A variable of the pattern is unbound, or
    /// was bound by an earlier match.
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
                // A variable of the pattern that is bound already: its value must equal the term.
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
