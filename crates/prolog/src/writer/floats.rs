//! Floats as text.

/// A float in the format of SWI-Prolog, with the fewest digits that are read back as the same float: `0.1`, `100000.0`,
/// `1.0e+15`, `1.0e-5`, `1.0Inf`.
pub(crate) fn format_float(value: f64) -> String {
    if value.is_nan() {
        // The payload is written as the digits of a number between 1 and 2.
        let mantissa = value.to_bits() & ((1 << 52) - 1);
        return format!("{}NaN", format_float(f64::from_bits(mantissa | 1.0_f64.to_bits())));
    }
    if value.is_infinite() {
        return if value > 0.0 { "1.0Inf".to_owned() } else { "-1.0Inf".to_owned() };
    }
    let scientific = shortest(value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    // The number of digits before the decimal point in positional notation; 0 or negative for a number below 1.
    let whole = exponent + 1;
    let length = digits.len() as i32;
    if whole <= -4 || (whole > 15 && length <= whole) {
        let fraction = if length > 1 { &digits[1..] } else { "0" };
        let plus = if exponent > 0 { "+" } else { "" };
        return format!("{sign}{}.{fraction}e{plus}{exponent}", &digits[..1]);
    }
    if whole <= 0 {
        return format!("{sign}0.{}{digits}", "0".repeat((-whole) as usize));
    }
    if length > whole {
        let (before, after) = digits.split_at(whole as usize);
        return format!("{sign}{before}.{after}");
    }
    format!("{sign}{digits}{}.0", "0".repeat((whole - length) as usize))
}

/// The float in scientific notation, with the fewest digits that are read back as the same float. Ties in the last
/// digit are rounded to even where the result is still read back as the same float.
fn shortest(value: f64) -> String {
    let shortest = format!("{value:e}");
    let digits = shortest.bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit).count();
    // Rust rounds a tie up in the shortest form, but half to even when the number of digits is given.
    let even = format!("{value:.precision$e}", precision = digits - 1);
    if even.parse() == Ok(value) { even } else { shortest }
}
