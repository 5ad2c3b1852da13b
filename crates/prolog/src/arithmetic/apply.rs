//! Dispatch from an arithmetic function to the code that computes it.

use super::call::Call;
use super::evaluable::{Binary, Constant, FLOAT_CELLS, PRECISE_CELLS, Unary};
use super::{float, integer};
use crate::fault::{Fault, Solved};
use crate::number::{Number, compare_values};
use crate::term::{SMALL_MAX, SMALL_MIN};
use std::cmp::Ordering;

pub(super) fn constant(op: Constant) -> Number {
    match op {
        Constant::Pi => Number::Float(std::f64::consts::PI),
        Constant::E => Number::Float(std::f64::consts::E),
        Constant::Infinity => Number::Float(f64::INFINITY),
        Constant::Nan => Number::Float(f64::NAN),
        Constant::Epsilon => Number::Float(f64::EPSILON),
        Constant::MaxTaggedInteger => Number::Int(SMALL_MAX),
        Constant::MinTaggedInteger => Number::Int(SMALL_MIN),
        Constant::MaxInteger => Number::Int(i64::MAX),
        Constant::MinInteger => Number::Int(i64::MIN),
    }
}

pub(super) fn unary(call: &mut Call, op: Unary, a: Number) -> Solved<Number> {
    if matches!(a, Number::Big(_)) {
        call.charge(a.words())?;
    }
    match op {
        Unary::Identity => Ok(a),
        Unary::Negate => Ok(match a {
            Number::Float(value) => Number::Float(-value),
            integer => integer::negate(integer),
        }),
        Unary::Abs => Ok(match a {
            Number::Float(value) => Number::Float(value.abs()),
            integer if integer.signum() < 0 => integer::negate(integer),
            integer => integer,
        }),
        Unary::Sign => Ok(match a {
            Number::Float(value) if value.is_nan() => a,
            Number::Float(_) => Number::Float(f64::from(a.signum())),
            integer => Number::Int(i64::from(integer.signum())),
        }),
        Unary::Not => Ok(integer::complement(call.integer(a)?)),
        Unary::Successor => {
            let a = call.integer(a)?;
            integer::sum_or_product(call, Binary::Add, a, Number::Int(1))
        }
        Unary::MostSignificantBit => {
            let a = call.integer(a)?;
            integer::most_significant_bit(call, a)
        }
        Unary::LeastSignificantBit => {
            let a = call.integer(a)?;
            integer::least_significant_bit(call, a)
        }
        Unary::PopulationCount => {
            let a = call.integer(a)?;
            integer::population_count(call, a)
        }
        Unary::Integer | Unary::Truncate | Unary::Round | Unary::Floor | Unary::Ceiling => float::rounded(op, a),
        Unary::IntegerPart | Unary::FractionalPart => float::part(op, a),
        _ => {
            call.charge(op.cells())?;
            float::unary(op, &a)
        }
    }
}

pub(super) fn binary(call: &mut Call, op: Binary, a: Number, b: Number) -> Solved<Number> {
    match op {
        Binary::Add | Binary::Subtract | Binary::Multiply => {
            if a.is_integer() && b.is_integer() {
                return integer::sum_or_product(call, op, a, b);
            }
            let (a, b) = (float::operand(&a)?, float::operand(&b)?);
            float::checked(match op {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                _ => a * b,
            })
        }
        Binary::Divide => divide(call, a, b),
        Binary::Min | Binary::Max => Ok(extreme(op, a, b)),
        Binary::Power | Binary::IntPower => power(call, op, a, &b),
        Binary::CopySign => Ok(copy_sign(a, &b)),
        Binary::Atan2 | Binary::NextToward | Binary::LogBase => {
            call.charge(if op == Binary::LogBase { 2 * PRECISE_CELLS } else { FLOAT_CELLS })?;
            float::binary(op, &a, &b)
        }
        _ => {
            let a = call.integer(a)?;
            let b = call.integer(b)?;
            match op {
                Binary::ShiftLeft | Binary::ShiftRight => integer::shift(call, op, a, &b),
                Binary::And | Binary::Or | Binary::Xor => integer::bitwise(call, op, a, b),
                Binary::Gcd | Binary::Lcm => integer::common(call, op, a, b),
                Binary::GetBit => integer::get_bit(call, a, &b),
                _ => integer::division(call, op, a, b),
            }
        }
    }
}

pub(super) fn power_modulo(call: &mut Call, base: Number, exponent: Number, modulus: Number) -> Solved<Number> {
    let base = call.integer(base)?;
    let exponent = call.integer(exponent)?;
    let modulus = call.integer(modulus)?;
    integer::power_modulo(call, base, exponent, modulus)
}

/// `/`: an exact quotient of integers is an integer, any other quotient a float.
fn divide(call: &mut Call, a: Number, b: Number) -> Solved<Number> {
    if a.is_integer() && b.is_integer() {
        if b == Number::Int(0) {
            return Err(call.zero_divisor());
        }
        if integer::divides(call, &a, &b)? {
            return integer::division(call, Binary::Divide, a, b);
        }
    }
    float::divide(call, &a, &b)
}

/// `**` and `^`, which differ only for two integers with a negative exponent and a base other than -1, 0 and 1.
fn power(call: &mut Call, op: Binary, base: Number, exponent: &Number) -> Solved<Number> {
    if !base.is_integer() || !exponent.is_integer() || exponent.signum() < 0 {
        call.charge(2 * PRECISE_CELLS)?;
    }
    if !base.is_integer() || !exponent.is_integer() {
        return float::power(&base, exponent);
    }
    if exponent.signum() >= 0 || matches!(base, Number::Int(1 | -1)) {
        return integer::power(call, base, exponent);
    }
    if base == Number::Int(0) {
        return Err(Call::zero_power());
    }
    if op == Binary::IntPower {
        return Err(call.type_error("float", base));
    }
    float::power(&base, exponent)
}

/// `min` and `max`. If the numbers compare equal, zeros are ordered by sign, and a float is preferred to an integer. If
/// one is NaN, the result is the other.
fn extreme(op: Binary, a: Number, b: Number) -> Number {
    let order = match compare_values(&a, &b) {
        Some(Ordering::Equal) if a.is_integer() && b.is_integer() => return a,
        Some(Ordering::Equal) => match a.nearest_float().total_cmp(&b.nearest_float()) {
            Ordering::Equal => return if a.is_integer() { b } else { a },
            order => order,
        },
        Some(order) => order,
        None => return if a.nearest_float().is_nan() { b } else { a },
    };
    if (order == Ordering::Less) == (op == Binary::Min) { a } else { b }
}

/// `a` with the sign of `b`; an integer remains an integer.
fn copy_sign(a: Number, b: &Number) -> Number {
    let negative = match b {
        Number::Float(value) => value.is_sign_negative(),
        integer => integer.signum() < 0,
    };
    match a {
        Number::Float(value) => Number::Float(value.copysign(if negative { -1.0 } else { 1.0 })),
        integer if (integer.signum() < 0) == negative => integer,
        integer => integer::negate(integer),
    }
}

/// The error for a functor that is not an arithmetic function.
pub(super) fn unknown(functor: crate::term::Functor) -> Fault {
    Fault::Evaluable(functor.name(), functor.arity())
}
