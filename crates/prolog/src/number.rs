//! Prolog numbers as Rust values, decoded from the cells of the machine, and their comparison.

use num_bigint::BigInt;
use num_traits::{FromPrimitive, Signed, ToPrimitive};
use std::cmp::Ordering;

/// An integer of any size, or a float.
#[derive(Clone, PartialEq, Debug)]
pub enum Number {
    /// An integer that fits in 64 bits.
    Int(i64),
    /// Any other integer.
    Big(BigInt),
    /// A float. It may be NaN or infinite, for example the value of `nan` or `inf`. A function of finite numbers raises
    /// an error instead of returning such a value.
    Float(f64),
}

impl Number {
    /// The integer in its smallest representation.
    pub(crate) fn from_big(value: BigInt) -> Number {
        i64::try_from(&value).map_or_else(|_| Number::Big(value), Number::Int)
    }

    /// A float without a fraction as an integer; `None` if it is not finite.
    pub(crate) fn from_whole(value: f64) -> Option<Number> {
        // Both bounds are exact floats, and every float between them fits in 64 bits.
        const LIMIT: f64 = (1_u64 << 63) as f64;
        if (-LIMIT..LIMIT).contains(&value) {
            return Some(Number::Int(value as i64));
        }
        BigInt::from_f64(value).map(Number::Big)
    }

    /// The nearest float; infinite for an integer outside the range of floats.
    pub(crate) fn nearest_float(&self) -> f64 {
        match self {
            Number::Int(value) => *value as f64,
            Number::Big(value) => value.to_f64().unwrap_or(f64::NAN),
            Number::Float(value) => *value,
        }
    }

    pub(crate) fn is_integer(&self) -> bool {
        !matches!(self, Number::Float(_))
    }

    /// -1, 0 or 1; 0 for a NaN.
    pub(crate) fn signum(&self) -> i32 {
        match self {
            Number::Int(value) => value.signum() as i32,
            Number::Big(value) => {
                if value.is_negative() {
                    -1
                } else {
                    1
                }
            }
            Number::Float(value) => i32::from(*value > 0.0) - i32::from(*value < 0.0),
        }
    }

    /// The number of 64-bit words that the number needs.
    pub(crate) fn words(&self) -> u64 {
        match self {
            Number::Int(_) | Number::Float(_) => 1,
            Number::Big(value) => value.bits() / 64 + 1,
        }
    }
}

/// Compares as `<` and `=:=` do: for an integer and a float, the integer is converted to a float first. `None` if one
/// is NaN.
pub(crate) fn compare_values(a: &Number, b: &Number) -> Option<Ordering> {
    if a.is_integer() == b.is_integer() {
        compare_numbers(a, b)
    } else {
        a.nearest_float().partial_cmp(&b.nearest_float())
    }
}

/// Compares by exact value: no integer is rounded to a float. `None` if one is NaN.
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
