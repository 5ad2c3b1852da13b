//! Numbers, outside of the machine's cells.

use num_bigint::BigInt;
use num_traits::{FromPrimitive, Signed};
use std::cmp::Ordering;

/// An integer of any size, or a float.
#[derive(Clone, PartialEq, Debug)]
pub enum Number {
    /// An integer that fits in 64 bits.
    Int(i64),
    /// Any other integer.
    Big(BigInt),
    /// A float; never NaN or infinite as the result of arithmetic.
    Float(f64),
}

/// Compares by value, exactly: no integer is rounded to a float. `None` when one is NaN.
pub(crate) fn compare_numbers(a: &Number, b: &Number) -> Option<Ordering> {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(b)),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(b),
        (Number::Float(a), b) => compare_float(*a, b),
        (a, Number::Float(b)) => compare_float(*b, a).map(Ordering::reverse),
        (Number::Big(a), Number::Big(b)) => Some(a.cmp(b)),
        (Number::Int(_), Number::Big(b)) => Some(if b.is_negative() { Ordering::Greater } else { Ordering::Less }),
        (Number::Big(a), Number::Int(_)) => Some(if a.is_negative() { Ordering::Less } else { Ordering::Greater }),
    }
}

fn compare_float(float: f64, integer: &Number) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.is_infinite() {
        return Some(if float > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    let whole = BigInt::from_f64(float.floor())?;
    let order = match integer {
        Number::Int(value) => whole.cmp(&BigInt::from(*value)),
        Number::Big(value) => whole.cmp(value),
        Number::Float(value) => return float.partial_cmp(value),
    };
    Some(if order == Ordering::Equal && float > float.floor() { Ordering::Greater } else { order })
}
