//! A fast path for common expressions: a few levels deep, small integers and floats, no error.
//!
//! For anything else, [`evaluate`] returns `None`, and the general evaluation starts from the beginning. So the fast
//! path need not handle errors, their order, or long numbers.

use super::evaluable::{Binary, Evaluable, Unary};
use crate::number::Number;
use crate::store::{Store, View};
use crate::term::Term;

/// The maximum depth of a simple expression. Deeper ones are left to the general evaluation, which does not recurse.
const LEVELS: u32 = 8;

/// Returns the value of a simple expression; `None` for any other. Adds the number of subterms visited to `steps`.
pub(super) fn evaluate(store: &Store, term: Term, steps: &mut u64) -> Option<Number> {
    Some(match value(store, term, LEVELS, steps)? {
        Short::Int(value) => Number::Int(value),
        Short::Float(value) => Number::Float(value),
    })
}

/// A [`Number`] other than a big integer, so that it can be copied and needs no drop.
#[derive(Clone, Copy)]
enum Short {
    Int(i64),
    Float(f64),
}

impl Short {
    fn as_float(self) -> f64 {
        match self {
            Short::Int(value) => value as f64,
            Short::Float(value) => value,
        }
    }
}

fn value(store: &Store, term: Term, levels: u32, steps: &mut u64) -> Option<Short> {
    *steps += 1;
    match store.view(term) {
        View::Small(value) => Some(Short::Int(value)),
        View::Float(value) => Some(Short::Float(value)),
        View::Compound(functor, start) if levels > 0 => match Evaluable::find(functor)? {
            Evaluable::Unary(op) => unary(op, value(store, store.cells[start], levels - 1, steps)?),
            Evaluable::Binary(op) => {
                let a = value(store, store.cells[start], levels - 1, steps)?;
                let b = value(store, store.cells[start + 1], levels - 1, steps)?;
                binary(op, a, b)
            }
            _ => None,
        },
        _ => None,
    }
}

fn unary(op: Unary, a: Short) -> Option<Short> {
    match (op, a) {
        (Unary::Negate, Short::Int(a)) => a.checked_neg().map(Short::Int),
        (Unary::Negate, Short::Float(a)) => Some(Short::Float(-a)),
        (Unary::Abs, Short::Int(a)) => a.checked_abs().map(Short::Int),
        (Unary::Abs, Short::Float(a)) => Some(Short::Float(a.abs())),
        _ => None,
    }
}

fn binary(op: Binary, a: Short, b: Short) -> Option<Short> {
    match (a, b) {
        (Short::Int(a), Short::Int(b)) => integers(op, a, b).map(Short::Int),
        _ => floats(op, a.as_float(), b.as_float()).filter(|value| value.is_finite()).map(Short::Float),
    }
}

fn integers(op: Binary, a: i64, b: i64) -> Option<i64> {
    match op {
        Binary::Add => a.checked_add(b),
        Binary::Subtract => a.checked_sub(b),
        Binary::Multiply => a.checked_mul(b),
        Binary::Divide if b > 0 && a % b == 0 => Some(a / b),
        Binary::IntDivide if b > 0 => Some(a / b),
        Binary::FloorDivide if b > 0 => Some(a.div_euclid(b)),
        Binary::Modulo if b > 0 => Some(a.rem_euclid(b)),
        Binary::Remainder if b > 0 => Some(a % b),
        Binary::Min => Some(a.min(b)),
        Binary::Max => Some(a.max(b)),
        Binary::And => Some(a & b),
        Binary::Or => Some(a | b),
        Binary::Xor => Some(a ^ b),
        Binary::ShiftRight if (0..64).contains(&b) => Some(a >> b),
        _ => None,
    }
}

fn floats(op: Binary, a: f64, b: f64) -> Option<f64> {
    match op {
        Binary::Add => Some(a + b),
        Binary::Subtract => Some(a - b),
        Binary::Multiply => Some(a * b),
        Binary::Divide if b != 0.0 => Some(a / b),
        _ => None,
    }
}
