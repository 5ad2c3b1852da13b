//! Arithmetic on evaluated words: a small integer in the word itself, or a boxed number.
//!
//! Most operations on two small integers take a few machine instructions. Everything else goes through [`Number`].

use super::evaluable::Binary;
use super::{Call, apply, evaluate, from_number};
use crate::core::Core;
use crate::fault::Solved;
use crate::number::{Number, compare_values};
use crate::store::View;
use crate::symbols::{Atom, atoms};
use crate::term::{Functor, Tag, Term};
use std::cmp::Ordering;

const INT: u64 = Tag::Int as u64;

#[inline(always)]
fn both_small(a: Term, b: Term) -> bool {
    a.has_tag(Tag::Int) && b.has_tag(Tag::Int)
}

/// The value of an expression as a word; a number evaluates to itself.
#[inline(always)]
pub(crate) fn evaluated(core: &mut Core, term: Term) -> Solved<Term> {
    let term = core.store.deref(term);
    if term.has_tag(Tag::Int) { Ok(term) } else { evaluated_slowly(core, term) }
}

#[inline(never)]
fn evaluated_slowly(core: &mut Core, term: Term) -> Solved<Term> {
    if matches!(core.store.view(term), View::Float(_) | View::Big) {
        return Ok(term);
    }
    let number = evaluate(core, term)?;
    Ok(from_number(&mut core.store, number))
}

fn number(core: &Core, word: Term) -> Number {
    core.store.number(word).unwrap_or(Number::Int(0))
}

/// Applies a function of two arguments to evaluated words. Errors name the function `name`.
#[inline(never)]
pub(crate) fn binary(core: &mut Core, op: Binary, name: Atom, a: Term, b: Term) -> Solved<Term> {
    let (a, b) = (number(core, a), number(core, b));
    let mut call = Call { store: &mut core.store, functor: Functor::new(name, 2) };
    let result = apply::binary(&mut call, op, a, b)?;
    Ok(from_number(&mut core.store, result))
}

/// `a + b`.
#[inline(always)]
pub(crate) fn add(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) {
        // Without its tag, the first word is a multiple of eight. So the sum keeps the tag of the second word, and
        // overflows exactly when the result is not a small integer.
        if let Some(sum) = ((a.0 - INT) as i64).checked_add(b.0 as i64) {
            return Ok(Term(sum as u64));
        }
    }
    binary(core, Binary::Add, atoms::PLUS, a, b)
}

/// `a - b`.
#[inline(always)]
pub(crate) fn subtract(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b)
        && let Some(difference) = (a.0 as i64).checked_sub((b.0 - INT) as i64)
    {
        return Ok(Term(difference as u64));
    }
    binary(core, Binary::Subtract, atoms::MINUS, a, b)
}

/// `a * b`.
#[inline(always)]
pub(crate) fn multiply(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b)
        && let Some(product) = ((a.0 - INT) as i64).checked_mul(b.small_value())
    {
        return Ok(Term(product as u64 | INT));
    }
    binary(core, Binary::Multiply, atoms::STAR, a, b)
}

/// `a / b`.
#[inline]
pub(crate) fn divide(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) && b.small_value() > 0 && a.small_value() % b.small_value() == 0 {
        return Ok(Term::small(a.small_value() / b.small_value()));
    }
    binary(core, Binary::Divide, atoms::SLASH, a, b)
}

/// `a // b`.
#[inline]
pub(crate) fn int_divide(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) && b.small_value() > 0 {
        return Ok(Term::small(a.small_value() / b.small_value()));
    }
    binary(core, Binary::IntDivide, atoms::DOUBLE_SLASH, a, b)
}

/// `a mod b`.
#[inline]
pub(crate) fn modulo(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) && b.small_value() > 0 {
        return Ok(Term::small(a.small_value().rem_euclid(b.small_value())));
    }
    binary(core, Binary::Modulo, atoms::MOD, a, b)
}

/// `a rem b`.
#[inline]
pub(crate) fn remainder(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) && b.small_value() > 0 {
        return Ok(Term::small(a.small_value() % b.small_value()));
    }
    binary(core, Binary::Remainder, atoms::REM, a, b)
}

/// `min(a, b)`.
#[inline]
pub(crate) fn min(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) {
        return Ok(if (a.0 as i64) < b.0 as i64 { a } else { b });
    }
    binary(core, Binary::Min, atoms::MIN, a, b)
}

/// `max(a, b)`.
#[inline]
pub(crate) fn max(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) {
        return Ok(if (a.0 as i64) > b.0 as i64 { a } else { b });
    }
    binary(core, Binary::Max, atoms::MAX, a, b)
}

/// `a << b`.
#[inline]
pub(crate) fn shift_left(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) && (0..60).contains(&b.small_value()) {
        let (value, distance) = ((a.0 - INT) as i64, b.small_value());
        if (value << distance) >> distance == value {
            return Ok(Term((value << distance) as u64 | INT));
        }
    }
    binary(core, Binary::ShiftLeft, atoms::SHIFT_LEFT, a, b)
}

/// `a >> b`.
#[inline]
pub(crate) fn shift_right(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) && b.small_value() >= 0 {
        return Ok(Term::small(a.small_value() >> b.small_value().min(63)));
    }
    binary(core, Binary::ShiftRight, atoms::SHIFT_RIGHT, a, b)
}

/// `a /\ b`.
#[inline]
pub(crate) fn and(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) {
        return Ok(Term(a.0 & b.0));
    }
    binary(core, Binary::And, atoms::BIT_AND, a, b)
}

/// `a \/ b`.
#[inline]
pub(crate) fn or(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) {
        return Ok(Term(a.0 | b.0));
    }
    binary(core, Binary::Or, atoms::BIT_OR, a, b)
}

/// `a xor b`.
#[inline]
pub(crate) fn xor(core: &mut Core, a: Term, b: Term) -> Solved<Term> {
    if both_small(a, b) {
        return Ok(Term((a.0 ^ b.0) | INT));
    }
    binary(core, Binary::Xor, atoms::XOR, a, b)
}

/// The order of two evaluated words by value; `None` if one is NaN.
#[inline(always)]
pub(crate) fn compare(core: &mut Core, a: Term, b: Term) -> Option<Ordering> {
    if both_small(a, b) {
        return Some((a.0 as i64).cmp(&(b.0 as i64)));
    }
    compare_slowly(core, a, b)
}

#[inline(never)]
fn compare_slowly(core: &mut Core, a: Term, b: Term) -> Option<Ordering> {
    let (a, b) = (number(core, a), number(core, b));
    core.store.meter.walk(a.words() + b.words());
    compare_values(&a, &b)
}
