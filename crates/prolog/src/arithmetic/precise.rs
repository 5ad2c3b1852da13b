//! Powers, exponentials and logarithms, correctly rounded in nearly all cases.
//!
//! Values are computed as sums of two floats with about a hundred bits in all, and rounded to a float at the end. For
//! example, `exp(1.0) =:= e` and `2.0 ** 0.5 =:= sqrt(2.0)` are true. All operations used are defined to the last bit
//! by IEEE 754, so the results are the same on all machines.

/// A number as the sum of two floats; the second is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug)]
struct Pair {
    high: f64,
    low: f64,
}

const ZERO: Pair = Pair { high: 0.0, low: 0.0 };
const LN_2: Pair = Pair { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };
const LN_10: Pair = Pair { high: std::f64::consts::LN_10, low: -2.170_756_223_382_249_4e-16 };

/// The exact sum of two floats.
fn sum(a: f64, b: f64) -> Pair {
    let high = a + b;
    let part = high - a;
    Pair { high, low: (a - (high - part)) + (b - part) }
}

/// The exact sum of two floats; `a` must be zero or have the larger absolute value.
fn quick_sum(a: f64, b: f64) -> Pair {
    let high = a + b;
    Pair { high, low: b - (high - a) }
}

/// Splits a float into two summands with half of its bits each.
fn halves(a: f64) -> (f64, f64) {
    const SPLIT: f64 = 134_217_729.0;
    let scaled = a * SPLIT;
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// The exact product of two floats. A fused multiply-add would be faster, but on hardware without it, it is a slow
/// library function.
fn product(a: f64, b: f64) -> Pair {
    let high = a * b;
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    Pair { high, low: ((a1 * b1 - high) + a1 * b2 + a2 * b1) + a2 * b2 }
}

impl Pair {
    fn of(value: f64) -> Pair {
        Pair { high: value, low: 0.0 }
    }

    fn plus(self, other: Pair) -> Pair {
        let (high, low) = (sum(self.high, other.high), sum(self.low, other.low));
        let first = quick_sum(high.high, high.low + low.high);
        quick_sum(first.high, first.low + low.low)
    }

    fn minus(self, other: Pair) -> Pair {
        self.plus(Pair { high: -other.high, low: -other.low })
    }

    fn times(self, other: Pair) -> Pair {
        let exact = product(self.high, other.high);
        quick_sum(exact.high, exact.low + (self.high * other.low + self.low * other.high))
    }

    fn over(self, other: Pair) -> Pair {
        let first = self.high / other.high;
        let rest = self.minus(other.times(Pair::of(first)));
        let second = rest.high / other.high;
        let rest = rest.minus(other.times(Pair::of(second)));
        let third = rest.high / other.high;
        quick_sum(first, second).plus(Pair::of(third))
    }

    /// This number times `factor`, which must be a power of two.
    fn scaled(self, factor: f64) -> Pair {
        Pair { high: self.high * factor, low: self.low * factor }
    }
}

/// `e ^ x - 1` for `|x|` up to about one half.
fn small_exp_minus_one(x: Pair) -> Pair {
    // The series is summed for x / 2^9, and 1 plus the result is squared nine times: (1 + p)^2 - 1 = 2p + p^2.
    const SQUARINGS: i32 = 9;
    let x = x.scaled(1.0 / f64::from(1 << SQUARINGS));
    let mut power = ZERO;
    for divisor in (1..=9_u32).rev() {
        // x/1 (1 + x/2 (1 + x/3 (…)))
        power = x.times(power.plus(Pair::of(1.0))).over(Pair::of(f64::from(divisor)));
    }
    for _ in 0..SQUARINGS {
        power = power.scaled(2.0).plus(power.times(power));
    }
    power
}

/// `e ^ x`; infinite or zero outside the range of floats.
fn exp_of(x: Pair) -> f64 {
    if x.high > 710.0 {
        return f64::INFINITY;
    }
    if x.high < -746.0 {
        return 0.0;
    }
    let twos = (x.high / LN_2.high).round();
    let rest = x.minus(LN_2.times(Pair::of(twos)));
    let result = small_exp_minus_one(rest).plus(Pair::of(1.0));
    libm::scalbn(result.high + result.low, twos as i32)
}

/// The natural logarithm of a positive, finite float.
fn log_of(x: f64) -> Pair {
    let (mut part, mut twos) = libm::frexp(x);
    if part < std::f64::consts::FRAC_1_SQRT_2 {
        (part, twos) = (part * 2.0, twos - 1);
    }
    // ln(part) = guess + ln(1 + error), where 1 + error = part * e^-guess. Both factors are stored as differences from
    // one, so that no digits are lost.
    let guess = libm::log(part);
    let inverse = small_exp_minus_one(Pair::of(-guess));
    let above = Pair::of(part - 1.0);
    let error = above.plus(inverse).plus(above.times(inverse));
    let correction = error.minus(error.times(error).scaled(0.5));
    LN_2.times(Pair::of(f64::from(twos))).plus(Pair::of(guess)).plus(correction)
}

pub(super) fn exp(x: f64) -> f64 {
    if x.is_finite() { exp_of(Pair::of(x)) } else { libm::exp(x) }
}

/// The natural logarithm.
pub(super) fn log(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { log_of(x).high } else { libm::log(x) }
}

pub(super) fn log2(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { log_of(x).over(LN_2).high } else { libm::log2(x) }
}

pub(super) fn log10(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { log_of(x).over(LN_10).high } else { libm::log10(x) }
}

pub(super) fn pow(base: f64, exponent: f64) -> f64 {
    let is_ordinary = base != 0.0 && exponent != 0.0 && base.is_finite() && exponent.is_finite();
    let is_negative = base < 0.0;
    if !is_ordinary || (is_negative && exponent.fract() != 0.0) {
        return libm::pow(base, exponent);
    }
    let logarithm = log_of(base.abs());
    // Beyond this limit, the result is infinite or zero, and splitting a huge exponent into halves could overflow.
    let size = if (logarithm.high * exponent).abs() > 1000.0 {
        if (logarithm.high > 0.0) == (exponent > 0.0) { f64::INFINITY } else { 0.0 }
    } else {
        exp_of(logarithm.times(Pair::of(exponent)))
    };
    if is_negative && exponent % 2.0 != 0.0 { -size } else { size }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "results are exact")]
mod tests {
    use super::*;

    #[test]
    fn exact_results_are_exact() {
        assert_eq!(exp(1.0), std::f64::consts::E);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(log(std::f64::consts::E), 1.0);
        assert_eq!(log(1.0), 0.0);
        for power in -300..300 {
            assert_eq!(log2(2_f64.powi(power)), f64::from(power), "log2 of 2^{power}");
            assert_eq!(pow(2.0, f64::from(power)), 2_f64.powi(power), "2^{power}");
        }
        for power in 0..=22 {
            let ten = 10_u128.pow(power) as f64;
            assert_eq!(log10(ten), f64::from(power), "log10 of 10^{power}");
            assert_eq!(pow(10.0, f64::from(power)), ten, "10^{power}");
        }
        assert_eq!(pow(-3.0, 3.0), -27.0);
        assert_eq!(pow(-3.0, 4.0), 81.0);
        assert_eq!(pow(2.0, 0.5), 2_f64.sqrt());
    }

    #[test]
    fn results_at_the_limits_of_the_range_are_right() {
        assert_eq!(exp(709.782_712_893_384), 1.797_693_134_862_273_2e308);
        assert_eq!(exp(710.0), f64::INFINITY);
        assert_eq!(exp(-745.2), 0.0);
        assert_eq!(exp(-745.0), 5e-324);
        assert_eq!(exp(-800.0), 0.0);
        assert_eq!(log(5e-324), -744.440_071_921_381_2);
        assert_eq!(log(f64::MAX), 709.782_712_893_384);
        assert_eq!(pow(1e300, 2.0), f64::INFINITY);
        assert_eq!(pow(1e300, -2.0), 0.0);
        assert_eq!(pow(0.5, 1e300), 0.0);
        assert_eq!(pow(1.0 + f64::EPSILON, 1e300), f64::INFINITY);
        assert!(pow(-2.0, 0.5).is_nan() && log(-1.0).is_nan() && exp(f64::NAN).is_nan());
        assert_eq!(pow(0.0, 2.0), 0.0);
        assert_eq!(pow(-0.0, 3.0).to_bits(), (-0.0_f64).to_bits());
    }
}
