//! Numbers in the notations of `format`: grouped integers, and fixed, scientific and general floats.

use crate::number::Number;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

/// No float has more digits after the point than this, so a higher precision adds only zeros.
pub(super) const FRACTION_DIGITS_MAX: usize = 1_100;

/// An integer with a decimal point before its last `fraction` digits; without a point if `fraction` is 0. The digits
/// before the point are in groups of `group`, with `separator` between them; 0 means no groups.
pub(super) fn grouped(value: &BigInt, fraction: usize, group: usize, separator: &str) -> String {
    let digits = value.magnitude().to_string();
    let missing = (fraction + 1).saturating_sub(digits.len());
    let mut padded = String::with_capacity(missing + digits.len());
    padded.extend(std::iter::repeat_n('0', missing));
    padded.push_str(&digits);
    let (whole, rest) = padded.split_at(padded.len() - fraction);
    let mut text = String::from(if value.is_negative() { "-" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && group > 0 && (whole.len() - index) % group == 0 {
            text.push_str(separator);
        }
        text.push(digit);
    }
    if fraction > 0 {
        text.push('.');
        text.push_str(rest);
    }
    text
}

/// `~Nf`: exact for integers of any size.
pub(super) fn fixed(number: &Number, precision: usize) -> String {
    let mut text = match number {
        Number::Float(value) => match special(*value) {
            Some(special) => return special.to_owned(),
            None => return with_zeros(format!("{value:.*}", precision.min(FRACTION_DIGITS_MAX)), precision),
        },
        Number::Int(value) => value.to_string(),
        Number::Big(value) => value.to_string(),
    };
    if precision > 0 {
        text.push('.');
        text.extend(std::iter::repeat_n('0', precision));
    }
    text
}

fn with_zeros(mut text: String, precision: usize) -> String {
    text.extend(std::iter::repeat_n('0', precision.saturating_sub(FRACTION_DIGITS_MAX)));
    text
}

/// Infinities and NaN as C prints them; `None` for finite floats.
fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("nan")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "inf" } else { "-inf" })
    } else {
        None
    }
}

/// A number as `d.ddd` and an exponent of ten, rounded.
struct Scientific {
    mantissa: String,
    exponent: i64,
}

impl Scientific {
    /// Rounds to `precision` digits after the point.
    fn new(number: &Number, precision: usize) -> Scientific {
        let float = match number {
            Number::Float(value) => *value,
            Number::Int(value) => *value as f64,
            Number::Big(value) => match value.to_f64().filter(|float| float.is_finite()) {
                Some(float) => float,
                None => return Scientific::of_digits(value, precision),
            },
        };
        let text = format!("{float:.*e}", precision.min(FRACTION_DIGITS_MAX));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        Scientific {
            mantissa: with_zeros(mantissa.to_owned(), precision),
            exponent: exponent.parse().unwrap_or_default(),
        }
    }

    /// Converts an integer outside the range of floats.
    fn of_digits(value: &BigInt, precision: usize) -> Scientific {
        let digits = value.magnitude().to_string();
        let cut = digits.len().saturating_sub(precision + 1);
        let unit = BigInt::from(10).pow(cut as u32);
        let rounded = ((value.abs() + &unit / 2_u32) / &unit).to_string();
        // Rounding up may have added a digit.
        let exponent = (cut + rounded.len() - 1) as i64;
        let mut kept = rounded;
        kept.truncate(precision + 1);
        kept.extend(std::iter::repeat_n('0', (precision + 1).saturating_sub(kept.len())));
        let mut mantissa = String::from(if value.is_negative() { "-" } else { "" });
        mantissa.push_str(&kept[..1]);
        if precision > 0 {
            mantissa.push('.');
            mantissa.push_str(&kept[1..]);
        }
        Scientific { mantissa, exponent }
    }

    fn text(&self) -> String {
        let sign = if self.exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", self.mantissa, self.exponent.unsigned_abs())
    }
}

fn special_number(number: &Number) -> Option<&'static str> {
    match number {
        Number::Float(value) => special(*value),
        _ => None,
    }
}

/// `~Ne`, as C prints `%.Ne`.
pub(super) fn scientific(number: &Number, precision: usize) -> String {
    special_number(number).map_or_else(|| Scientific::new(number, precision).text(), str::to_owned)
}

/// `~Ng`, as C prints `%.Ng`: scientific if the decimal exponent is below -4 or at least N, otherwise fixed; without
/// trailing zeros. N is the number of significant digits; 0 counts as 1.
pub(super) fn general(number: &Number, precision: usize) -> String {
    if let Some(special) = special_number(number) {
        return special.to_owned();
    }
    let significant = precision.max(1);
    let mut scientific = Scientific::new(number, significant - 1);
    if scientific.exponent < -4 || scientific.exponent >= significant as i64 {
        scientific.mantissa = without_trailing_zeros(&scientific.mantissa).to_owned();
        return scientific.text();
    }
    let digits = (significant as i64 - 1 - scientific.exponent) as usize;
    without_trailing_zeros(&fixed(number, digits)).to_owned()
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::{fixed, general, grouped, scientific};
    use crate::number::Number;
    use num_bigint::BigInt;

    fn big(text: &str) -> Number {
        Number::Big(text.parse().expect("digits"))
    }

    #[test]
    fn integers_are_grouped_and_pointed() {
        for (value, fraction, group, expected) in [
            (1_234_567, 0, 3, "1,234,567"),
            (1_234_567, 2, 3, "12,345.67"),
            (-1_234_567, 0, 3, "-1,234,567"),
            (123, 0, 3, "123"),
            (1, 2, 0, "0.01"),
            (-1, 2, 0, "-0.01"),
            (0, 2, 0, "0.00"),
            (1_234_567, 0, 2, "1,23,45,67"),
        ] {
            assert_eq!(grouped(&BigInt::from(value), fraction, group, ","), expected);
        }
    }

    #[test]
    fn floats_print_as_in_c() {
        for (value, precision, f, e, g) in [
            (2.34567, 2, "2.35", "2.35e+00", "2.3"),
            (2.5, 0, "2", "2e+00", "2"),
            (0.1, 20, "0.10000000000000000555", "1.00000000000000005551e-01", "0.10000000000000000555"),
            (-0.001, 2, "-0.00", "-1.00e-03", "-0.001"),
            (1e22, 2, "10000000000000000000000.00", "1.00e+22", "1e+22"),
            (123_456_789.0, 6, "123456789.000000", "1.234568e+08", "1.23457e+08"),
            (f64::INFINITY, 2, "inf", "inf", "inf"),
            (0.0, 6, "0.000000", "0.000000e+00", "0"),
            (0.000_012_34, 6, "0.000012", "1.234000e-05", "1.234e-05"),
        ] {
            let number = Number::Float(value);
            assert_eq!(
                [&fixed(&number, precision), &scientific(&number, precision), &general(&number, precision)],
                [f, e, g]
            );
        }
    }

    #[test]
    fn integers_beyond_floats_print_in_full() {
        let huge = format!("123456{}", "0".repeat(400));
        assert_eq!(scientific(&big(&huge), 3), "1.235e+405");
        assert_eq!(scientific(&big(&format!("-9999{}", "0".repeat(400))), 1), "-1.0e+404");
        assert_eq!(general(&big(&format!("1{}", "0".repeat(400))), 6), "1e+400");
        assert_eq!(fixed(&big(&huge), 1), format!("{huge}.0"));
        assert_eq!(fixed(&Number::Int(3), 2), "3.00");
    }

    #[test]
    fn precision_beyond_a_float_is_zeros() {
        let text = fixed(&Number::Float(0.1), 100_000);
        assert_eq!(text.len(), 100_002);
        assert!(text.ends_with('0'));
    }
}
