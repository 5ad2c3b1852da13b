//! Unification, with and without occurs check.

use super::Store;
use crate::term::{BoxHeader, Functor, Tag, Term};

/// Whether a variable may be bound to a term that contains it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OccursCheck {
    No,
    Yes,
}

impl Store {
    /// Makes `a` and `b` equal; on failure bindings made so far stay for the caller to undo.
    #[inline]
    pub(crate) fn unify(&mut self, a: Term, b: Term) -> bool {
        let a = self.deref(a);
        let b = self.deref(b);
        if a == b {
            return true;
        }
        if a.is_variable() {
            if b.is_variable() {
                self.alias(a, b)
            } else {
                self.bind(a, b)
            }
            return true;
        }
        if b.is_variable() {
            self.bind(b, a);
            return true;
        }
        if a.tag() != b.tag() || !a.is_pointer() {
            return false;
        }
        self.unify_pointers(a, b, OccursCheck::No)
    }

    /// Unifies, and fails where the result would be a cyclic term.
    pub(crate) fn unify_with_occurs_check(&mut self, a: Term, b: Term) -> bool {
        self.unify_pointers(a, b, OccursCheck::Yes)
    }

    fn unify_pointers(&mut self, a: Term, b: Term, occurs: OccursCheck) -> bool {
        let base = self.pairs.len();
        let unified = self.unify_pairs(base, a, b, occurs);
        self.pairs.truncate(base);
        unified
    }

    fn unify_pairs(&mut self, base: usize, a: Term, b: Term, occurs: OccursCheck) -> bool {
        let (mut a, mut b) = (a, b);
        let mut steps: u32 = 0;
        loop {
            steps += 1;
            if steps & 1023 == 0 && !self.meter.walk(1024) {
                return false;
            }
            a = self.deref(a);
            b = self.deref(b);
            if a != b {
                if a.is_variable() || b.is_variable() {
                    if !self.unify_variable(a, b, occurs) {
                        return false;
                    }
                } else if a.tag() != b.tag() {
                    return false;
                } else {
                    let (x, y) = (a.address(), b.address());
                    match a.tag() {
                        Tag::Lis => {
                            self.pairs.push((self.cells[x + 1], self.cells[y + 1]));
                            a = self.cells[x];
                            b = self.cells[y];
                            continue;
                        }
                        Tag::Str => {
                            if self.cells[x] != self.cells[y] {
                                return false;
                            }
                            let arity = Functor(self.cells[x].0).arity();
                            for index in (2..=arity).rev() {
                                self.pairs.push((self.cells[x + index], self.cells[y + index]));
                            }
                            if arity > 0 {
                                a = self.cells[x + 1];
                                b = self.cells[y + 1];
                                continue;
                            }
                        }
                        Tag::Box => {
                            if !self.equal_boxes(x, y) {
                                return false;
                            }
                        }
                        _ => return false,
                    }
                }
            }
            if self.pairs.len() == base {
                return true;
            }
            let Some(pair) = self.pairs.pop() else { return true };
            (a, b) = pair;
        }
    }

    fn unify_variable(&mut self, a: Term, b: Term, occurs: OccursCheck) -> bool {
        if a.is_variable() && b.is_variable() {
            self.alias(a, b);
            return true;
        }
        let (variable, value) = if a.is_variable() { (a, b) } else { (b, a) };
        if occurs == OccursCheck::Yes && self.occurs_in(variable, value) {
            return false;
        }
        self.bind(variable, value);
        true
    }

    /// Whether the unbound `variable` occurs in `term`.
    pub(crate) fn occurs_in(&mut self, variable: Term, term: Term) -> bool {
        let mut pending = vec![term];
        while let Some(next) = pending.pop() {
            if !self.meter.walk(1) {
                return true;
            }
            let next = self.deref(next);
            if next == variable {
                return true;
            }
            match next.tag() {
                Tag::Lis => pending.extend_from_slice(&self.cells[next.address()..next.address() + 2]),
                Tag::Str => {
                    let start = next.address() + 1;
                    let arity = self.functor_at(next.address()).arity();
                    pending.extend_from_slice(&self.cells[start..start + arity]);
                }
                _ => {}
            }
        }
        false
    }

    /// Whether two boxes hold the same value of the same type. Floats are compared by bits, so
    /// that `0.0` and `-0.0` differ and a NaN equals itself.
    pub(super) fn equal_boxes(&self, x: usize, y: usize) -> bool {
        let words = BoxHeader::read(self.cells[x]).words();
        self.cells[x] == self.cells[y] && self.cells[x + 1..=x + words] == self.cells[y + 1..=y + words]
    }
}
