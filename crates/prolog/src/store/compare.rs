//! The standard order of terms.
//!
//! The order is: variables by age, then numbers by value (NaN first, and a float before an equal integer), then strings
//! and then atoms by character codes, then compounds by arity, name and arguments from the left.

use super::memory::VisitedPairs;
use super::room::STRIDE;
use super::unify::WORDS_PER_STEP;
use super::{Store, View};
use crate::number::{Number, compare_numbers};
use crate::symbols::{Atom, Atoms};
use crate::term::{BoxHeader, BoxKind, Tag, Term};
use std::cmp::Ordering;

/// The number of bytes of two names that are compared in the time of one step.
const BYTES_PER_STEP: u64 = 64;

impl Store {
    /// The value of a term that is a number; `None` for any other term.
    #[inline]
    pub(crate) fn number(&self, term: Term) -> Option<Number> {
        match self.view(term) {
            View::Small(value) => Some(Number::Int(value)),
            View::Big => Some(Number::Big(self.big(term))),
            View::Float(value) => Some(Number::Float(value)),
            _ => None,
        }
    }

    /// Compares two terms in the standard order. Cyclic terms are equal if their infinite unfoldings are equal. The
    /// order of different cyclic terms depends on which difference the walk reaches first. If the budget is exhausted,
    /// the result is meaningless.
    pub(crate) fn compare(&mut self, atoms: &Atoms, a: Term, b: Term) -> Ordering {
        let (a, b) = (self.deref(a), self.deref(b));
        if a == b {
            return Ordering::Equal;
        }
        match self.parts_to_compare(atoms, a, b) {
            Ok((x, y, count)) => {
                let base = self.frames.len();
                let order = self.compare_parts(atoms, base, x, y, count);
                self.end_frames(base);
                order
            }
            Err(order) => order,
        }
    }

    /// The addresses of the first arguments of two compounds, and the number of arguments. `Err` is the order of two
    /// terms if it does not depend on their arguments.
    #[inline]
    fn parts_to_compare(&mut self, atoms: &Atoms, a: Term, b: Term) -> Result<(usize, usize, usize), Ordering> {
        let (x, y) = (a.address(), b.address());
        if a.has_tag(Tag::Lis) && b.has_tag(Tag::Lis) {
            return Ok((x, y, 2));
        }
        if a.has_tag(Tag::Str) && b.has_tag(Tag::Str) && self.cells[x] == self.cells[y] {
            return Ok((x + 1, y + 1, self.functor_at(x).arity()));
        }
        match (self.compound(a), self.compound(b)) {
            // A `'.'/2` that is not represented as a list cell.
            (Some((f, x)), Some((g, y))) if f == g => Ok((x, y, f.arity())),
            (Some((f, _)), Some((g, _))) => {
                Err(f.arity().cmp(&g.arity()).then_with(|| self.compare_names(atoms, f.name(), g.name())))
            }
            _ => Err(self.compare_atomic(atoms, a, b)),
        }
    }

    /// Compares `count` adjacent cells from the left, depth first; the remaining parts of outer terms are in `frames`.
    fn compare_parts(&mut self, atoms: &Atoms, base: usize, x: usize, y: usize, count: usize) -> Ordering {
        let (mut x, mut y, mut left) = (x, y, count);
        let mut visited = VisitedPairs::new(self.patience(), self.cells.len());
        let mut steps = 0;
        let order = loop {
            while left == 0 {
                if self.frames.len() == base {
                    self.end_walk(steps);
                    return Ordering::Equal;
                }
                let Some(frame) = self.frames.pop() else { return Ordering::Equal };
                (x, y, left) = frame;
            }
            steps += 1;
            if steps == STRIDE {
                steps = 0;
                if !self.may_walk_pairs_on(&mut visited) {
                    return Ordering::Equal;
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
            match self.parts_to_compare(atoms, a, b) {
                Err(Ordering::Equal) => {}
                Err(order) => break order,
                Ok(inside) => {
                    if visited.is_recording() && !visited.is_new(a.address(), b.address()) {
                        continue;
                    }
                    if left > 0 {
                        self.frames.push((x, y, left));
                    }
                    (x, y, left) = inside;
                }
            }
        };
        self.end_walk(steps);
        order
    }

    /// Orders two dereferenced terms that are not both compound.
    fn compare_atomic(&mut self, atoms: &Atoms, a: Term, b: Term) -> Ordering {
        let (left, right) = (self.view(a), self.view(b));
        let by_kind = kind_rank(left).cmp(&kind_rank(right));
        if by_kind != Ordering::Equal {
            return by_kind;
        }
        match (left, right) {
            (View::Variable(x), View::Variable(y)) => x.cmp(&y),
            (View::Atom(x), View::Atom(y)) => self.compare_names(atoms, x, y),
            (View::Small(x), View::Small(y)) => x.cmp(&y),
            (View::Text, View::Text) => self.compare_texts(a.address(), b.address()),
            (View::Big, View::Big) => self.compare_bigs(a.address(), b.address()),
            _ => match (self.number(a), self.number(b)) {
                (Some(x), Some(y)) => {
                    self.end_walk(x.words() + y.words());
                    compare_numbers(&x, &y).unwrap_or_else(|| nan_order(left, right)).then_with(|| {
                        match (left, right) {
                            (View::Float(x), View::Float(y)) => x.total_cmp(&y),
                            (View::Float(_), _) => Ordering::Less,
                            (_, View::Float(_)) => Ordering::Greater,
                            _ => Ordering::Equal,
                        }
                    })
                }
                _ => Ordering::Equal,
            },
        }
    }
}

impl Store {
    /// Orders two names by their bytes, which is the order of their character codes.
    fn compare_names(&mut self, atoms: &Atoms, a: Atom, b: Atom) -> Ordering {
        let (a, b) = (atoms.name(a), atoms.name(b));
        self.end_walk(a.len().min(b.len()) as u64 / BYTES_PER_STEP);
        a.cmp(b)
    }

    /// Orders two boxed strings by their bytes, which is the order of their character codes.
    fn compare_texts(&mut self, a: usize, b: usize) -> Ordering {
        let (left, right) = (BoxHeader::read(self.cells[a]), BoxHeader::read(self.cells[b]));
        let words = left.words().min(right.words());
        self.end_walk(words as u64 / WORDS_PER_STEP);
        // The first byte is the lowest of its word. Padding is zero, so if all words are equal, the length decides.
        (1..=words)
            .map(|index| self.cells[a + index].0.swap_bytes().cmp(&self.cells[b + index].0.swap_bytes()))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| left.length().cmp(&right.length()))
    }

    /// Orders two boxed integers.
    fn compare_bigs(&mut self, a: usize, b: usize) -> Ordering {
        let (left, right) = (BoxHeader::read(self.cells[a]), BoxHeader::read(self.cells[b]));
        let is_negative = |header: BoxHeader| header.kind() == BoxKind::BigNegative;
        if is_negative(left) != is_negative(right) {
            return is_negative(right).cmp(&is_negative(left));
        }
        let words = left.words();
        self.end_walk(words.min(right.words()) as u64 / WORDS_PER_STEP);
        // Words are stored from the lowest to the highest.
        let size = words.cmp(&right.words()).then_with(|| {
            (1..=words)
                .rev()
                .map(|index| self.cells[a + index].0.cmp(&self.cells[b + index].0))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        });
        if is_negative(left) { size.reverse() } else { size }
    }
}

/// A NaN comes before all other numbers.
fn nan_order(a: View, b: View) -> Ordering {
    let is_nan = |view| matches!(view, View::Float(value) if value.is_nan());
    is_nan(b).cmp(&is_nan(a))
}

fn kind_rank(view: View) -> u8 {
    match view {
        View::Variable(_) => 0,
        View::Small(_) | View::Big | View::Float(_) => 1,
        View::Text => 2,
        View::Atom(_) => 3,
        View::List(_) | View::Compound(..) => 4,
    }
}
