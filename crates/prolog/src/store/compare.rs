//! The standard order of terms.
//!
//! Variables by age, then numbers by value (a float before the integer equal to it), then strings and
//! then atoms by character codes, then compounds by arity, name and arguments from the left.

use super::{Store, View};
use crate::number::{Number, compare_numbers};
use crate::symbols::Atoms;
use crate::term::{BoxHeader, Term};
use std::cmp::Ordering;

impl Store {
    /// The number that a term is, if it is one.
    #[inline]
    pub(crate) fn number(&self, term: Term) -> Option<Number> {
        match self.view(term) {
            View::Small(value) => Some(Number::Int(value)),
            View::Big => Some(Number::Big(self.big(term))),
            View::Float(value) => Some(Number::Float(value)),
            _ => None,
        }
    }

    /// Compares two terms in the standard order.
    pub(crate) fn compare(&mut self, atoms: &Atoms, a: Term, b: Term) -> Ordering {
        let base = self.pairs.len();
        let mut steps = 0;
        let order = self.compare_pairs(atoms, base, a, b, &mut steps);
        self.meter.walk(u64::from(steps & 1023));
        self.pairs.truncate(base);
        order
    }

    fn compare_pairs(&mut self, atoms: &Atoms, base: usize, a: Term, b: Term, steps: &mut u32) -> Ordering {
        let (mut a, mut b) = (a, b);
        loop {
            *steps += 1;
            if steps.is_multiple_of(1024) && !self.meter.walk(1024) {
                return Ordering::Equal;
            }
            a = self.deref(a);
            b = self.deref(b);
            if a != b {
                match (self.compound(a), self.compound(b)) {
                    (Some((f, x)), Some((g, y))) => {
                        if f != g {
                            let by_name = || atoms.name(f.name()).cmp(atoms.name(g.name()));
                            return f.arity().cmp(&g.arity()).then_with(by_name);
                        }
                        for index in (1..f.arity()).rev() {
                            self.pairs.push((self.cells[x + index], self.cells[y + index]));
                        }
                        if f.arity() > 0 {
                            a = self.cells[x];
                            b = self.cells[y];
                            continue;
                        }
                    }
                    _ => {
                        let order = self.compare_atomic(atoms, a, b);
                        if order != Ordering::Equal {
                            return order;
                        }
                    }
                }
            }
            if self.pairs.len() == base {
                return Ordering::Equal;
            }
            let Some(pair) = self.pairs.pop() else { return Ordering::Equal };
            (a, b) = pair;
        }
    }

    /// Orders two dereferenced terms that are not both compound.
    fn compare_atomic(&self, atoms: &Atoms, a: Term, b: Term) -> Ordering {
        let (left, right) = (self.view(a), self.view(b));
        let by_kind = kind_rank(left).cmp(&kind_rank(right));
        if by_kind != Ordering::Equal {
            return by_kind;
        }
        match (left, right) {
            (View::Variable(x), View::Variable(y)) => x.cmp(&y),
            (View::Atom(x), View::Atom(y)) => atoms.name(x).cmp(atoms.name(y)),
            (View::Small(x), View::Small(y)) => x.cmp(&y),
            (View::Text, View::Text) => self.compare_texts(a.address(), b.address()),
            _ => match (self.number(a), self.number(b)) {
                (Some(x), Some(y)) => {
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
    /// Orders two string boxes by their bytes, which is the order of their character codes.
    fn compare_texts(&self, a: usize, b: usize) -> Ordering {
        let (left, right) = (BoxHeader::read(self.cells[a]), BoxHeader::read(self.cells[b]));
        let words = left.words().min(right.words());
        // The first byte is the lowest of its word; padding is zero, so equal words leave it to
        // the length.
        (1..=words)
            .map(|index| self.cells[a + index].0.swap_bytes().cmp(&self.cells[b + index].0.swap_bytes()))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| left.length().cmp(&right.length()))
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
