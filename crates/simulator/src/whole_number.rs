//! A cheap test for whole numbers.

/// From here on, every finite number is whole.
const ALL_WHOLE_FROM: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// Whether a number is finite and has no fractional part.
///
/// `f64::fract` calls a function of the C library on the oldest x86-64 processors that are supported; converting to an
/// integer and back takes two instructions.
#[inline]
#[allow(clippy::float_cmp, reason = "a whole number in this range survives the conversion unchanged")]
pub(crate) fn is_whole(number: f64) -> bool {
    if number.abs() < ALL_WHOLE_FROM { number as i64 as f64 == number } else { number.is_finite() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_fractional_part() {
        let edges = [0.0, -0.0, 0.5, 1.0, 1.5, f64::EPSILON, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::NAN];
        let large = [ALL_WHOLE_FROM - 1.0, ALL_WHOLE_FROM / 2.0 + 0.5, ALL_WHOLE_FROM, 2.0 * ALL_WHOLE_FROM, 1e300];
        for number in edges.into_iter().chain(large).flat_map(|number| [number, -number]) {
            assert_eq!(is_whole(number), number.fract() == 0.0, "{number}");
        }
    }
}
