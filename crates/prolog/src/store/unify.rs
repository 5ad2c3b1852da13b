//! Unification, with and without occurs check.

use super::Store;
use super::memory::VisitedPairs;
use super::room::STRIDE;
use crate::term::{BoxHeader, Functor, Tag, Term};
use std::ops::ControlFlow;

/// The capacity of `frames` that is kept for the next walk.
const KEPT_FRAMES: usize = 1 << 12;
/// The words of an entry of `frames`.
const FRAME_WORDS: usize = 3;
/// The number of words of two boxes that are compared in the time of one step.
pub(super) const WORDS_PER_STEP: u64 = 8;

/// Whether a variable is bound only to terms that do not contain it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OccursCheck {
    No,
    Yes,
}

impl Store {
    /// Makes `a` and `b` equal; false if they do not unify, or if the budget is exhausted. The caller must then undo
    /// the bindings made so far.
    #[inline]
    pub(crate) fn unify(&mut self, a: Term, b: Term) -> bool {
        let a = self.deref(a);
        let b = self.deref(b);
        if a == b {
            return true;
        }
        if a.is_variable() {
            if b.is_variable() {
                self.alias(a, b);
            } else {
                self.bind(a, b);
            }
            return true;
        }
        if b.is_variable() {
            self.bind(b, a);
            return true;
        }
        self.unify_pointers(a, b, OccursCheck::No)
    }

    /// Like [`Store::unify`], with occurs check: fails if a variable would be bound to a term that contains it.
    pub(crate) fn unify_with_occurs_check(&mut self, a: Term, b: Term) -> bool {
        let (a, b) = (self.deref(a), self.deref(b));
        if a == b {
            return true;
        }
        if a.is_variable() || b.is_variable() {
            return self.unify_variable(a, b, OccursCheck::Yes);
        }
        self.unify_pointers(a, b, OccursCheck::Yes)
    }

    /// Unifies two bound terms whose words differ. Fails if one of them has no cells, such as an atom.
    fn unify_pointers(&mut self, a: Term, b: Term, occurs: OccursCheck) -> bool {
        let base = self.frames.len();
        let unified = match self.parts_to_unify(a, b) {
            Some((x, y, count)) => self.unify_parts(base, x, y, count, occurs),
            None => false,
        };
        self.end_frames(base);
        unified
    }

    /// Drops the frames of a walk; the memory of a deep walk is freed.
    #[inline]
    pub(super) fn end_frames(&mut self, base: usize) {
        self.frames.truncate(base);
        if self.frames.capacity() > KEPT_FRAMES {
            self.frames.shrink_to(KEPT_FRAMES);
        }
    }

    /// The addresses of the first parts of two bound terms, and the number of parts; `None` if the terms cannot be
    /// equal.
    #[inline(always)]
    fn parts_to_unify(&mut self, a: Term, b: Term) -> Option<(usize, usize, usize)> {
        let (x, y) = (a.address(), b.address());
        match (a.tag(), b.tag()) {
            (Tag::Lis, Tag::Lis) => Some((x, y, 2)),
            (Tag::Str, Tag::Str) => {
                let header = self.cells[x];
                (header == self.cells[y]).then(|| (x + 1, y + 1, Functor(header.0).arity()))
            }
            (Tag::Box, Tag::Box) => self.equal_boxes(x, y).then_some((x, y, 0)),
            _ => None,
        }
    }

    /// Unifies the `count` cells from address `x` on with those from `y` on, depth first. The remaining parts of outer
    /// terms are in `frames`, above `base`. Nothing is pushed for the last part of a term, so a long list needs no
    /// stack.
    fn unify_parts(&mut self, base: usize, x: usize, y: usize, count: usize, occurs: OccursCheck) -> bool {
        let (mut x, mut y, mut left) = (x, y, count);
        let mut visited = VisitedPairs::new(self.patience(), self.cells.len());
        let mut steps = 0;
        let unified = loop {
            while left == 0 {
                if self.frames.len() == base {
                    self.end_walk(steps);
                    return true;
                }
                let Some(frame) = self.frames.pop() else { return true };
                (x, y, left) = frame;
            }
            steps += 1;
            if steps == STRIDE {
                steps = 0;
                if !self.may_walk_pairs_on(&mut visited) {
                    return false;
                }
            }
            let a = self.deref(self.cells[x]);
            let b = self.deref(self.cells[y]);
            x += 1;
            y += 1;
            left -= 1;
            if a == b {
                continue;
            }
            if a.is_variable() || b.is_variable() {
                if !self.unify_variable(a, b, occurs) {
                    break false;
                }
                continue;
            }
            let Some(inside) = self.parts_to_unify(a, b) else { break false };
            if visited.is_recording() && !visited.is_new(a.address(), b.address()) {
                continue;
            }
            if left > 0 {
                self.frames.push((x, y, left));
            }
            (x, y, left) = inside;
        };
        self.end_walk(steps);
        unified
    }

    /// Charges a stride of a walk over two terms; false if the budget is exhausted.
    #[cold]
    pub(super) fn may_walk_pairs_on(&mut self, visited: &mut VisitedPairs) -> bool {
        let (cells, words) = visited.stride();
        self.may_walk_on(cells, words + FRAME_WORDS * self.frames.len())
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

    /// Whether the unbound `variable` occurs in `term`; also true if the budget is exhausted first.
    pub(crate) fn occurs_in(&mut self, variable: Term, term: Term) -> bool {
        let found = self.visit_subterms(term, |_, subterm| {
            if subterm == variable { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found.map_or(true, |found| found.is_break())
    }

    /// Whether two boxes contain the same value of the same type. Floats are compared by bits, so that `0.0` and `-0.0`
    /// differ and a NaN equals itself.
    pub(crate) fn equal_boxes(&mut self, x: usize, y: usize) -> bool {
        if self.cells[x] != self.cells[y] {
            return false;
        }
        let words = BoxHeader::read(self.cells[x]).words();
        self.end_walk(words as u64 / WORDS_PER_STEP);
        self.cells[x + 1..=x + words] == self.cells[y + 1..=y + words]
    }
}
