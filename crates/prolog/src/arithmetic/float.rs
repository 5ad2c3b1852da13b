//! Functions on floats.
//!
//! An infinite or NaN result is an error, except that `to_float` returns NaN, and `operand` returns any float
//! unchanged.
//!
//! Results must not depend on the machine. The functions of the standard library are those of the system's C library,
//! which selects one of several versions to suit the processor; their last digits differ. So the functions of `libm`
//! and [`precise`] are used, which consist of operations that IEEE 754 defines to the last bit.

use super::call::Call;
use super::evaluable::{Binary, Unary};
use super::precise;
use crate::fault::{Fault, Raised, Solved};
use crate::number::Number;

fn overflow() -> Raised {
    Fault::Evaluation("float_overflow").into()
}

pub(super) fn undefined() -> Raised {
    Fault::Evaluation("undefined").into()
}

/// The result of a float function if it is finite, otherwise an error.
#[inline]
pub(super) fn checked(value: f64) -> Solved<Number> {
    if value.is_finite() {
        Ok(Number::Float(value))
    } else {
        Err(if value.is_nan() { undefined() } else { overflow() })
    }
}

/// The float nearest to a number; an error if that is infinite. NaN is returned.
pub(super) fn to_float(number: &Number) -> Solved<f64> {
    let value = number.nearest_float();
    if value.is_infinite() { Err(overflow()) } else { Ok(value) }
}

/// An operand of `+`, `-` and so on as a float; an error only for an integer outside the range of floats.
pub(super) fn operand(number: &Number) -> Solved<f64> {
    match number {
        Number::Float(value) => Ok(*value),
        integer => to_float(integer),
    }
}

/// Division when at least one operand, or the result, is a float.
pub(super) fn divide(call: &Call, a: &Number, b: &Number) -> Solved<Number> {
    let (a, b) = (operand(a)?, operand(b)?);
    if b == 0.0 {
        return Err(if a == 0.0 || a.is_nan() { undefined() } else { call.zero_divisor() });
    }
    checked(a / b)
}

/// A power when at least one operand, or the result, is a float.
pub(super) fn power(base: &Number, exponent: &Number) -> Solved<Number> {
    let (base, exponent) = (operand(base)?, operand(exponent)?);
    if base == 0.0 && exponent < 0.0 {
        return Err(Call::zero_power());
    }
    checked(precise::pow(base, exponent))
}

/// Rounds a number to an integer as `op` says; an error for infinities and NaN.
pub(super) fn rounded(op: Unary, number: Number) -> Solved<Number> {
    let Number::Float(value) = number else { return Ok(number) };
    let whole = match op {
        Unary::Floor => value.floor(),
        Unary::Ceiling => value.ceil(),
        Unary::Truncate => value.trunc(),
        // Halves are rounded away from zero.
        _ => value.round(),
    };
    Number::from_whole(whole).ok_or_else(undefined)
}

/// The integer part or the fractional part of a number, with the number's type.
pub(super) fn part(op: Unary, number: Number) -> Solved<Number> {
    match number {
        Number::Float(value) => {
            checked(if op == Unary::IntegerPart { value.trunc() } else { value.fract().copysign(value) })
        }
        integer => Ok(if op == Unary::IntegerPart { integer } else { Number::Int(0) }),
    }
}

/// Applies a function of one float to a number, which is converted.
pub(super) fn unary(op: Unary, number: &Number) -> Solved<Number> {
    let x = to_float(number)?;
    checked(match op {
        // ISO 9.3.6.3: the logarithm of zero is undefined, not an overflow. The cotangent of zero is treated alike.
        Unary::Log | Unary::Log2 | Unary::Log10 | Unary::Cot if x == 0.0 => return Err(undefined()),
        Unary::Sqrt => x.sqrt(),
        Unary::Sin => libm::sin(x),
        Unary::Cos => libm::cos(x),
        Unary::Tan => libm::tan(x),
        Unary::Asin => libm::asin(x),
        Unary::Acos => libm::acos(x),
        Unary::Atan => libm::atan(x),
        Unary::Sinh => libm::sinh(x),
        Unary::Cosh => libm::cosh(x),
        Unary::Tanh => libm::tanh(x),
        Unary::Asinh => inverse_sinh(x),
        Unary::Acosh => inverse_cosh(x),
        Unary::Atanh => inverse_tanh(x),
        Unary::Cot => libm::tan(x).recip(),
        Unary::Acot => libm::atan(x.recip()),
        Unary::Exp => precise::exp(x),
        Unary::Log => precise::log(x),
        Unary::Log2 => precise::log2(x),
        Unary::Log10 => precise::log10(x),
        _ => x,
    })
}

/// Applies a function of two floats to numbers, which are converted.
pub(super) fn binary(op: Binary, a: &Number, b: &Number) -> Solved<Number> {
    match op {
        Binary::NextToward => checked(next_toward(operand(a)?, operand(b)?)),
        Binary::LogBase => {
            let base = unary(Unary::Log, a)?.nearest_float();
            let value = unary(Unary::Log, b)?.nearest_float();
            if base == 0.0 { Err(undefined()) } else { checked(value / base) }
        }
        _ => {
            let (y, x) = (to_float(a)?, to_float(b)?);
            // ISO Cor.2 9.3.13: the origin has no angle.
            if y == 0.0 && x == 0.0 { Err(undefined()) } else { checked(libm::atan2(y, x)) }
        }
    }
}

// The inverse hyperbolic functions use `log1p(x)`, which is `ln(1 + x)`, so that results near zero keep all their
// digits.

/// Above this absolute value, adding 1 to the square of a number, or subtracting 1 from it, is lost in rounding.
const HUGE: f64 = (1_u64 << 28) as f64;

fn inverse_sinh(x: f64) -> f64 {
    let size = x.abs();
    let square = size * size;
    let result = if size < HUGE.recip() {
        size
    } else if size > HUGE {
        precise::log(size) + std::f64::consts::LN_2
    } else if size > 2.0 {
        precise::log(2.0 * size + 1.0 / ((square + 1.0).sqrt() + size))
    } else {
        libm::log1p(size + square / (1.0 + (1.0 + square).sqrt()))
    };
    result.copysign(x)
}

fn inverse_cosh(x: f64) -> f64 {
    if x < 1.0 {
        f64::NAN
    } else if x > HUGE {
        precise::log(x) + std::f64::consts::LN_2
    } else if x > 2.0 {
        precise::log(2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt()))
    } else {
        let above = x - 1.0;
        libm::log1p(above + (2.0 * above + above * above).sqrt())
    }
}

fn inverse_tanh(x: f64) -> f64 {
    let size = x.abs();
    let double = 2.0 * size;
    let argument = if size < 0.5 { double + double * size / (1.0 - size) } else { double / (1.0 - size) };
    (0.5 * libm::log1p(argument)).copysign(x)
}

fn next_toward(from: f64, to: f64) -> f64 {
    if from.is_nan() || to.is_nan() {
        f64::NAN
    } else if to > from {
        from.next_up()
    } else if to < from {
        from.next_down()
    } else {
        to
    }
}
