//! Reads numbers.

use super::characters::{is_layout, is_name_part};
use super::error::{SyntaxError, SyntaxErrorKind};
use super::quoted::Escape;
use super::scanner::Scanner;
use crate::number::Number;
use num_bigint::BigInt;

/// Digits per piece when a long number is read by divide and conquer.
const PIECE: usize = 512;

impl Scanner<'_> {
    /// Reads an unsigned number; the scanner is at its first digit.
    pub(super) fn number(&mut self) -> Result<Number, SyntaxError> {
        let start = self.position;
        if self.rest().starts_with("0'") {
            return self.code_of_character(start);
        }
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
            if self.rest().starts_with(prefix) && self.rest()[2..].starts_with(|digit: char| digit.is_digit(radix)) {
                self.position += 2;
                let digits = self.digits(radix);
                return Ok(integer(&digits, radix));
            }
        }
        let digits = self.digits(10);
        if self.peek() == Some('\'')
            && let Ok(radix @ 2..=36) = digits.parse::<u32>()
            && self.peek_second().is_some_and(|digit| digit.is_digit(radix))
        {
            self.bump();
            let digits = self.digits(radix);
            return Ok(integer(&digits, radix));
        }
        let has_fraction = self.peek() == Some('.') && self.peek_second().is_some_and(|next| next.is_ascii_digit());
        if !has_fraction && self.exponent_length() == 0 {
            return Ok(integer(&digits, 10));
        }
        let mut text = digits;
        if has_fraction {
            let fraction = self.position;
            self.bump();
            self.skip_while(|character| character.is_ascii_digit());
            text.push_str(&self.text[fraction..self.position]);
            if let Some(special) = self.special_float(start, &text)? {
                return Ok(Number::Float(special));
            }
        }
        let exponent = self.exponent_length();
        text.push_str(&self.rest()[..exponent]);
        self.position += exponent;
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Number::Float(value)),
            _ => {
                let error = SyntaxError::new(start..self.position, "float_overflow", "this number is too large");
                Err(error.with_hint("the largest float is 1.7976931348623157e308"))
            }
        }
    }

    /// Reads a number, with or without a sign, that takes up the whole text except for layout and comments before it.
    pub(super) fn whole_number(&mut self) -> Result<Number, SyntaxError> {
        self.skip_layout()?;
        let negative = self.eat('-');
        if !negative {
            self.eat('+');
        }
        let start = self.position;
        let number = match self.peek() {
            Some('0'..='9') => self.number()?,
            _ => return Err(self.illegal_number(start)),
        };
        if self.position < self.text.len() {
            return Err(self.illegal_number(start));
        }
        Ok(if negative { negated(number) } else { number })
    }

    fn illegal_number(&self, start: usize) -> SyntaxError {
        SyntaxError::new(start..self.text.len(), "illegal_number", "expected a number and nothing else")
    }

    /// Reads digits. They may be grouped by `_`, optionally followed by layout; neither is part of the result.
    fn digits(&mut self, radix: u32) -> String {
        let mut digits = String::new();
        loop {
            let start = self.position;
            self.skip_while(|character| character.is_digit(radix));
            digits.push_str(&self.text[start..self.position]);
            let Some(group) = self.rest().strip_prefix('_') else { return digits };
            let group = group.trim_start_matches(is_layout);
            if !group.starts_with(|character: char| character.is_digit(radix)) {
                return digits;
            }
            self.position = self.text.len() - group.len();
        }
    }

    /// The length of the exponent at this position, or 0.
    fn exponent_length(&self) -> usize {
        let rest = self.rest().as_bytes();
        if !matches!(rest.first(), Some(b'e' | b'E')) {
            return 0;
        }
        let sign = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
        let digits = rest[1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 { 0 } else { 1 + sign + digits }
    }

    /// Reads the rest of `1.0Inf` or `1.5NaN`; the digits of a NaN are its payload. An error if a NaN has a number that
    /// is not between 1 and 2; `None` if neither word follows the digits.
    fn special_float(&mut self, start: usize, text: &str) -> Result<Option<f64>, SyntaxError> {
        let rest = self.rest();
        let word = &rest[..rest.find(|character| !is_name_part(character)).unwrap_or(rest.len())];
        let value = match (word, text.parse::<f64>()) {
            ("Inf", _) => f64::INFINITY,
            ("NaN", Ok(value)) if value > 1.0 && value < 2.0 => {
                f64::from_bits(value.to_bits() | f64::INFINITY.to_bits())
            }
            ("NaN", _) => {
                self.position += word.len();
                let message = "a NaN is written with a number between 1 and 2";
                let error = SyntaxError::new(start..self.position, "illegal_number", message);
                return Err(error.with_hint("write `1.5NaN`"));
            }
            _ => return Ok(None),
        };
        self.position += word.len();
        Ok(Some(value))
    }

    /// Reads `0'c`, the code of the character `c`.
    fn code_of_character(&mut self, start: usize) -> Result<Number, SyntaxError> {
        self.position += 2;
        let character = match self.peek() {
            Some('\\') => match self.escape() {
                Ok(Escape::Character(character)) => character,
                Ok(Escape::Continuation) => return Err(self.missing_character(start)),
                Err(mut error) => {
                    error.kind = SyntaxErrorKind::Named("illegal_number");
                    return Err(error);
                }
            },
            Some('\'') => {
                // `0'''` is the ISO form; `0''` is accepted, too.
                self.bump();
                self.eat('\'');
                '\''
            }
            None | Some('\n') => return Err(self.missing_character(start)),
            Some(character) => {
                self.bump();
                character
            }
        };
        Ok(Number::Int(i64::from(u32::from(character))))
    }

    fn missing_character(&self, start: usize) -> SyntaxError {
        let error = SyntaxError::new(start..self.position, "end_of_file", "expected a character after `0'`");
        error.with_hint("write `0'\\n` for a line break")
    }
}

pub(super) fn negated(number: Number) -> Number {
    match number {
        Number::Int(value) => Number::Int(-value),
        Number::Big(value) => match i64::try_from(-&value) {
            Ok(small) => Number::Int(small),
            Err(_) => Number::Big(-value),
        },
        Number::Float(value) => Number::Float(-value),
    }
}

/// The value of `digits` in base `radix`.
fn integer(digits: &str, radix: u32) -> Number {
    match i64::from_str_radix(digits, radix) {
        Ok(value) => Number::Int(value),
        Err(_) => Number::Big(big_integer(digits, radix)),
    }
}

/// The value of many digits. Pieces are combined pairwise, which avoids the quadratic time of reading digit by digit.
fn big_integer(digits: &str, radix: u32) -> BigInt {
    let parse = |piece: &[u8]| BigInt::parse_bytes(piece, radix).unwrap_or_default();
    let mut pieces: Vec<BigInt> = digits.as_bytes().rchunks(PIECE).map(parse).collect();
    let mut weight = BigInt::from(radix).pow(PIECE as u32);
    loop {
        pieces = pieces
            .chunks(2)
            .map(|pair| match pair {
                [low, high] => high * &weight + low,
                _ => pair[0].clone(),
            })
            .collect();
        if pieces.len() <= 1 {
            return pieces.pop().unwrap_or_default();
        }
        weight = &weight * &weight;
    }
}
