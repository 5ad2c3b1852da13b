//! Appends JSON values to a buffer, for frequent records. Uses serde only for strings with escapes. Public only for
//! `mario_simulator`.

use std::io::Write;

use mario_domain::Id;

/// Appends a number, without a fraction if it is whole and not beyond ±2^53.
pub fn number(out: &mut Vec<u8>, value: f64) {
    /// 2^53: not every larger integer is representable as a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        integer(out, value as i64);
    } else {
        write!(out, "{value:?}").expect("writing to memory does not fail");
    }
}

/// Appends an integer.
pub fn integer(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a non-negative integer.
pub fn natural(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a string with its quotes.
pub fn string(out: &mut Vec<u8>, text: &str) {
    let is_plain = text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
    if is_plain {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        serde_json::to_writer(out, text).expect("writing to memory does not fail");
    }
}

/// Appends an id: a number, or a string.
pub fn id(out: &mut Vec<u8>, id: &Id) {
    match id {
        Id::Number(value) => integer(out, *value),
        Id::Name(name) => string(out, name.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn numbers_and_strings_are_json() {
        for (value, text) in
            [(0.0, "0"), (-7.0, "-7"), (49.019_999_999_999_996, "49.019999999999996"), (1e300, "1e300")]
        {
            assert_eq!(written(|out| number(out, value)), text);
            assert_eq!(text.parse::<f64>().expect("a number").to_bits(), value.to_bits());
        }
        assert_eq!(written(|out| integer(out, i64::MIN)), i64::MIN.to_string());
        for text in ["plain", "a \"quoted\" one", "line\nfeed", "back\\slash", "ünïcode"] {
            let json = written(|out| string(out, text));
            assert_eq!(serde_json::from_str::<String>(&json).expect("a string"), text);
        }
    }
}
