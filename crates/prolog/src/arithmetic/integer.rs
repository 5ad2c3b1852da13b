//! Functions on integers of any size.
//!
//! Operations that may take more than linear time are charged before they are computed. If the result may be longer
//! than the operands, the heap budget is checked first, too.

use super::call::{Call, multiplication_cost};
use super::evaluable::Binary;
use crate::fault::Solved;
use crate::number::Number;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Pow, Signed, Zero};

/// Factor of the cost of `gcd` and `lcm`; the other factor is the square of the longer operand's length in words.
const GCD_CELLS: u64 = 8;
/// Fixed cost of a modular power in addition to the reduction of the base and the multiplications; `STEP_CELLS` is
/// added for each bit of the exponent.
const POWER_CELLS: u64 = 128;
const STEP_CELLS: u64 = 2;

/// Converts an integer to a `BigInt`.
fn big(number: Number) -> BigInt {
    match number {
        Number::Int(value) => BigInt::from(value),
        Number::Big(value) => value,
        Number::Float(_) => unreachable!("operands were checked to be integers"),
    }
}

fn bits(number: &Number) -> u64 {
    match number {
        Number::Int(value) => u64::from(64 - value.unsigned_abs().leading_zeros()),
        Number::Big(value) => value.bits(),
        Number::Float(_) => unreachable!("operands were checked to be integers"),
    }
}

/// `+`, `-` and `*`.
pub(super) fn sum_or_product(call: &mut Call, op: Binary, a: Number, b: Number) -> Solved<Number> {
    if let (Number::Int(x), Number::Int(y)) = (&a, &b) {
        let result = match op {
            Binary::Add => x.checked_add(*y),
            Binary::Subtract => x.checked_sub(*y),
            _ => x.checked_mul(*y),
        };
        if let Some(result) = result {
            return Ok(Number::Int(result));
        }
    }
    let (x, y) = (a.words(), b.words());
    if op == Binary::Multiply {
        call.reserve_bits(bits(&a) + bits(&b))?;
        call.charge(multiplication_cost(x, y))?;
    } else {
        call.reserve_bits(bits(&a).max(bits(&b)) + 1)?;
        call.charge(x + y)?;
    }
    let (a, b) = (big(a), big(b));
    Ok(Number::from_big(match op {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        _ => a * b,
    }))
}

/// `//`, `div`, `mod` and `rem`; and the exact quotient for `/`.
pub(super) fn division(call: &mut Call, op: Binary, a: Number, b: Number) -> Solved<Number> {
    if b == Number::Int(0) {
        return Err(call.zero_divisor());
    }
    if let (Number::Int(x), Number::Int(y)) = (&a, &b) {
        let result = match op {
            Binary::IntDivide | Binary::Divide => x.checked_div(*y),
            Binary::FloorDivide => (*y != -1).then(|| x.div_floor(y)).or_else(|| x.checked_neg()),
            Binary::Modulo => Some(if *y == -1 { 0 } else { x.mod_floor(y) }),
            _ => Some(x.checked_rem(*y).unwrap_or(0)),
        };
        if let Some(result) = result {
            return Ok(Number::Int(result));
        }
    }
    call.charge(division_cost(&a, &b))?;
    let (a, b) = (big(a), big(b));
    Ok(Number::from_big(match op {
        Binary::IntDivide | Binary::Divide => a / b,
        Binary::FloorDivide => a.div_floor(&b),
        Binary::Modulo => a.mod_floor(&b),
        _ => a % b,
    }))
}

fn division_cost(a: &Number, b: &Number) -> u64 {
    let (dividend, divisor) = (a.words(), b.words());
    dividend.saturating_sub(divisor).saturating_add(1).saturating_mul(divisor)
}

/// Whether `b`, which is not zero, divides `a`.
pub(super) fn divides(call: &mut Call, a: &Number, b: &Number) -> Solved<bool> {
    if let (Number::Int(x), Number::Int(y)) = (a, b) {
        return Ok(x.checked_rem(*y).unwrap_or(0) == 0);
    }
    call.charge(division_cost(a, b))?;
    Ok((big(a.clone()) % big(b.clone())).is_zero())
}

/// `/\`, `\/` and `xor`, on two's complement of unlimited length.
pub(super) fn bitwise(call: &mut Call, op: Binary, a: Number, b: Number) -> Solved<Number> {
    if let (Number::Int(x), Number::Int(y)) = (&a, &b) {
        return Ok(Number::Int(match op {
            Binary::And => x & y,
            Binary::Or => x | y,
            _ => x ^ y,
        }));
    }
    call.reserve_bits(bits(&a).max(bits(&b)) + 1)?;
    call.charge(a.words() + b.words())?;
    let (a, b) = (big(a), big(b));
    Ok(Number::from_big(match op {
        Binary::And => a & b,
        Binary::Or => a | b,
        _ => a ^ b,
    }))
}

/// `<<` and `>>`; a negative distance shifts the other way.
pub(super) fn shift(call: &mut Call, op: Binary, value: Number, distance: &Number) -> Solved<Number> {
    let left = (op == Binary::ShiftLeft) == (distance.signum() >= 0);
    let distance = match distance {
        Number::Int(distance) => distance.unsigned_abs(),
        _ => u64::MAX,
    };
    if left { shift_left(call, value, distance) } else { shift_right(call, value, distance) }
}

fn shift_left(call: &mut Call, value: Number, distance: u64) -> Solved<Number> {
    match value {
        Number::Int(0) => return Ok(value),
        Number::Int(x) if distance < 64 && (x << distance) >> distance == x => return Ok(Number::Int(x << distance)),
        _ => {}
    }
    let length = bits(&value).saturating_add(distance);
    call.reserve_bits(length)?;
    call.charge(length / 64)?;
    Ok(Number::from_big(big(value) << distance))
}

fn shift_right(call: &mut Call, value: Number, distance: u64) -> Solved<Number> {
    match value {
        Number::Int(x) => Ok(Number::Int(x >> distance.min(63))),
        value if distance >= bits(&value) => Ok(Number::Int(if value.signum() < 0 { -1 } else { 0 })),
        value => {
            call.charge(value.words())?;
            Ok(Number::from_big(big(value) >> distance))
        }
    }
}

/// An integer to a non-negative power, or 1 or -1 to any power.
pub(super) fn power(call: &mut Call, base: Number, exponent: &Number) -> Solved<Number> {
    match (&base, exponent) {
        (_, Number::Int(0)) | (Number::Int(1), _) => return Ok(Number::Int(1)),
        (Number::Int(0), _) => return Ok(Number::Int(0)),
        (Number::Int(-1), exponent) => return Ok(Number::Int(if is_even(exponent) { 1 } else { -1 })),
        _ => {}
    }
    let Number::Int(exponent) = *exponent else { return Err(call.store.out_of_room()) };
    let Ok(exponent) = u32::try_from(exponent) else { return Err(call.store.out_of_room()) };
    if let Number::Int(base) = base
        && let Some(result) = base.checked_pow(exponent)
    {
        return Ok(Number::Int(result));
    }
    let length = bits(&base).saturating_mul(u64::from(exponent));
    call.reserve_bits(length)?;
    let half = length / 128 + 1;
    call.charge(multiplication_cost(half, half).saturating_mul(2))?;
    Ok(Number::from_big(Pow::pow(big(base), exponent)))
}

fn is_even(number: &Number) -> bool {
    match number {
        Number::Int(value) => value & 1 == 0,
        Number::Big(value) => !value.bit(0),
        Number::Float(_) => unreachable!("operands were checked to be integers"),
    }
}

/// `gcd` and `lcm`.
pub(super) fn common(call: &mut Call, op: Binary, a: Number, b: Number) -> Solved<Number> {
    let (x, y) = (a.words(), b.words());
    // The binary algorithm shifts and subtracts whole numbers once for each bit, so its cost is quadratic.
    call.charge(x.max(y).saturating_mul(x.max(y)).saturating_mul(GCD_CELLS))?;
    let (a, b) = (big(a), big(b));
    if op == Binary::Gcd {
        return Ok(Number::from_big(a.gcd(&b)));
    }
    call.reserve_bits(a.bits() + b.bits())?;
    call.charge(multiplication_cost(x, y))?;
    Ok(Number::from_big(a.lcm(&b).abs()))
}

/// `getbit(Value, Index)`: 0 or 1; an error if an operand is negative.
pub(super) fn get_bit(call: &mut Call, value: Number, index: &Number) -> Solved<Number> {
    for operand in [&value, index] {
        if operand.signum() < 0 {
            return Err(call.domain_error("not_less_than_zero", operand.clone()));
        }
    }
    let &Number::Int(index) = index else { return Ok(Number::Int(0)) };
    Ok(Number::Int(match value {
        Number::Int(value) => {
            if index < 64 {
                value >> index & 1
            } else {
                0
            }
        }
        value => i64::from(big(value).bit(index.unsigned_abs())),
    }))
}

/// `powm(Base, Exponent, Modulus)`.
pub(super) fn power_modulo(call: &mut Call, base: Number, exponent: Number, modulus: Number) -> Solved<Number> {
    for operand in [&base, &exponent] {
        if operand.signum() < 0 {
            return Err(call.domain_error("not_less_than_zero", operand.clone()));
        }
    }
    if modulus.signum() <= 0 {
        return Err(call.domain_error("not_less_than_one", modulus));
    }
    let step = modulus.words().saturating_mul(modulus.words());
    let steps = bits(&exponent).saturating_mul(step.saturating_mul(8).saturating_add(STEP_CELLS));
    call.charge(division_cost(&base, &modulus).saturating_add(steps).saturating_add(POWER_CELLS))?;
    Ok(Number::from_big(big(base).modpow(&big(exponent), &big(modulus))))
}

/// The index of the highest bit that is set; an error unless `value` is positive.
pub(super) fn most_significant_bit(call: &mut Call, value: Number) -> Solved<Number> {
    if value.signum() <= 0 {
        return Err(call.domain_error("not_less_than_one", value));
    }
    Ok(Number::Int(bits(&value) as i64 - 1))
}

/// The index of the lowest bit that is set; an error unless `value` is positive.
pub(super) fn least_significant_bit(call: &mut Call, value: Number) -> Solved<Number> {
    match value {
        Number::Int(value) if value > 0 => Ok(Number::Int(i64::from(value.trailing_zeros()))),
        Number::Big(value) if value.is_positive() => Ok(Number::Int(value.trailing_zeros().unwrap_or_default() as i64)),
        value => Err(call.domain_error("not_less_than_one", value)),
    }
}

/// The number of bits that are set; an error if `value` is negative.
pub(super) fn population_count(call: &mut Call, value: Number) -> Solved<Number> {
    match value {
        Number::Int(value) if value >= 0 => Ok(Number::Int(i64::from(value.count_ones()))),
        Number::Big(value) if value.is_positive() => {
            Ok(Number::Int(value.iter_u64_digits().map(|digit| i64::from(digit.count_ones())).sum()))
        }
        value => Err(call.domain_error("not_less_than_zero", value)),
    }
}

pub(super) fn negate(value: Number) -> Number {
    match value {
        Number::Int(value) => value.checked_neg().map_or_else(|| Number::from_big(-BigInt::from(value)), Number::Int),
        value => Number::from_big(-big(value)),
    }
}

pub(super) fn complement(value: Number) -> Number {
    match value {
        Number::Int(value) => Number::Int(!value),
        value => Number::from_big(!big(value)),
    }
}
