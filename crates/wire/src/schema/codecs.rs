//! The codecs of the contents of fields.

use std::sync::Arc;

use super::{Codec, Page, Schema, Unknown};
use crate::error::{DecodeError, EncodeError, Problem};
use crate::raw::{Content, Fields, put_bytes, put_fixed64, put_nested, put_number};

/// An unsigned integer.
pub(crate) struct Unsigned;

/// A signed integer in zigzag encoding.
pub(crate) struct Signed;

/// 128 bits.
pub(crate) struct Bits128;

/// A finite floating-point number.
pub(crate) struct Double;

/// True or false.
pub(crate) struct Flag;

/// A text of at most this number of bytes.
pub(crate) struct Text(pub(crate) usize);

/// Opaque bytes, at most this number.
pub(crate) struct Octets(pub(crate) usize);

/// A human-readable text of at most this number of bytes. A longer one is truncated when it is written.
pub(crate) struct Excerpt(pub(crate) usize);

/// A nested message, which has its own table.
pub(crate) struct Nested;

/// One of a few constants, each with its code and its name. It is encoded as its code.
pub(crate) struct Word<T: 'static>(pub(crate) &'static [(u64, &'static str, T)]);

macro_rules! unsigned {
    ($($type:ty)*) => { $(
        impl Codec<$type> for Unsigned {
            fn write(&self, number: u32, value: &$type, out: &mut Vec<u8>) -> Result<(), EncodeError> {
                put_number(out, number, u64::from(*value));
                Ok(())
            }

            fn read(&self, content: Content<'_>, _: Unknown) -> Result<$type, DecodeError> {
                let Content::Varint(value) = content else { return Err(Problem::WrongContent.into()) };
                <$type>::try_from(value).map_err(|_| Problem::NumberTooLarge { max: u64::from(<$type>::MAX) }.into())
            }

            fn describe(&self, _: &mut Page) -> String {
                "unsigned".to_owned()
            }
        }
    )* };
}

unsigned! { u8 u32 u64 }

impl Codec<i64> for Signed {
    fn write(&self, number: u32, value: &i64, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_number(out, number, (value << 1 ^ value >> 63) as u64);
        Ok(())
    }

    fn read(&self, content: Content<'_>, _: Unknown) -> Result<i64, DecodeError> {
        let Content::Varint(value) = content else { return Err(Problem::WrongContent.into()) };
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    fn describe(&self, _: &mut Page) -> String {
        "signed (zigzag)".to_owned()
    }
}

impl Codec<u128> for Bits128 {
    fn write(&self, number: u32, value: &u128, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_bytes(out, number, &value.to_be_bytes());
        Ok(())
    }

    fn read(&self, content: Content<'_>, _: Unknown) -> Result<u128, DecodeError> {
        let Content::Bytes(bytes) = content else { return Err(Problem::WrongContent.into()) };
        <[u8; 16]>::try_from(bytes).map(u128::from_be_bytes).map_err(|_| match bytes.len() {
            0..16 => Problem::Truncated.into(),
            bytes => Problem::TooLong { bytes, bytes_max: 16 }.into(),
        })
    }

    fn describe(&self, _: &mut Page) -> String {
        "16 bytes, the highest first".to_owned()
    }
}

impl Codec<f64> for Double {
    fn write(&self, number: u32, value: &f64, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if !value.is_finite() {
            return Err(Problem::NotAQuantity.into());
        }
        put_fixed64(out, number, value.to_bits());
        Ok(())
    }

    fn read(&self, content: Content<'_>, _: Unknown) -> Result<f64, DecodeError> {
        let Content::Fixed64(bits) = content else { return Err(Problem::WrongContent.into()) };
        let value = f64::from_bits(bits);
        if value.is_finite() { Ok(value) } else { Err(Problem::NotAQuantity.into()) }
    }

    fn describe(&self, _: &mut Page) -> String {
        "double, finite".to_owned()
    }
}

impl Codec<bool> for Flag {
    fn write(&self, number: u32, value: &bool, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_number(out, number, u64::from(*value));
        Ok(())
    }

    fn read(&self, content: Content<'_>, _: Unknown) -> Result<bool, DecodeError> {
        match content {
            Content::Varint(value @ 0..=1) => Ok(value == 1),
            Content::Varint(_) => Err(Problem::NumberTooLarge { max: 1 }.into()),
            _ => Err(Problem::WrongContent.into()),
        }
    }

    fn describe(&self, _: &mut Page) -> String {
        "0 or 1".to_owned()
    }
}

impl Codec<String> for Text {
    fn write(&self, number: u32, value: &String, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        write_text(number, value, self.0, out)
    }

    fn read(&self, content: Content<'_>, _: Unknown) -> Result<String, DecodeError> {
        read_text(content, self.0).map(str::to_owned)
    }

    fn describe(&self, _: &mut Page) -> String {
        format!("text, at most {} bytes", self.0)
    }
}

/// Writes a text. Fails if it is longer than `bytes_max`.
pub(crate) fn write_text(number: u32, text: &str, bytes_max: usize, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if text.len() > bytes_max {
        return Err(Problem::TooLong { bytes: text.len(), bytes_max }.into());
    }
    put_bytes(out, number, text.as_bytes());
    Ok(())
}

/// Reads a text of at most `bytes_max` bytes.
pub(crate) fn read_text(content: Content<'_>, bytes_max: usize) -> Result<&str, DecodeError> {
    let Content::Bytes(bytes) = content else { return Err(Problem::WrongContent.into()) };
    if bytes.len() > bytes_max {
        return Err(Problem::TooLong { bytes: bytes.len(), bytes_max }.into());
    }
    str::from_utf8(bytes).map_err(|_| Problem::NotText.into())
}

impl Codec<Arc<[u8]>> for Octets {
    fn write(&self, number: u32, value: &Arc<[u8]>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if value.len() > self.0 {
            return Err(Problem::TooLong { bytes: value.len(), bytes_max: self.0 }.into());
        }
        put_bytes(out, number, value);
        Ok(())
    }

    fn read(&self, content: Content<'_>, _: Unknown) -> Result<Arc<[u8]>, DecodeError> {
        match content {
            Content::Bytes(bytes) if bytes.len() <= self.0 => Ok(bytes.into()),
            Content::Bytes(bytes) => Err(Problem::TooLong { bytes: bytes.len(), bytes_max: self.0 }.into()),
            _ => Err(Problem::WrongContent.into()),
        }
    }

    fn describe(&self, _: &mut Page) -> String {
        format!("bytes, at most {}", self.0)
    }
}

impl Codec<String> for Excerpt {
    fn write(&self, number: u32, value: &String, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_bytes(out, number, &value.as_bytes()[..value.floor_char_boundary(self.0)]);
        Ok(())
    }

    fn read(&self, content: Content<'_>, _: Unknown) -> Result<String, DecodeError> {
        read_text(content, self.0).map(str::to_owned)
    }

    fn describe(&self, _: &mut Page) -> String {
        format!("text, cut after {} bytes", self.0)
    }
}

impl<T: Schema> Codec<T> for Nested {
    fn write(&self, number: u32, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_nested(out, number, |out| value.write(out))
    }

    fn read(&self, content: Content<'_>, unknown: Unknown) -> Result<T, DecodeError> {
        let Content::Bytes(bytes) = content else { return Err(Problem::WrongContent.into()) };
        T::read(Fields::new(bytes), unknown)
    }

    fn describe(&self, page: &mut Page) -> String {
        format!("`{}`", T::describe(page))
    }
}

impl<T: Copy + PartialEq> Codec<T> for Word<T> {
    fn write(&self, number: u32, value: &T, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if let Some((code, ..)) = self.0.iter().find(|(.., word)| word == value) {
            put_number(out, number, *code);
        }
        Ok(())
    }

    fn read(&self, content: Content<'_>, _: Unknown) -> Result<T, DecodeError> {
        let Content::Varint(value) = content else { return Err(Problem::WrongContent.into()) };
        let known = self.0.iter().find(|(code, ..)| *code == value).map(|(.., word)| *word);
        known.ok_or_else(|| Problem::UnknownAlternative { number: u32::try_from(value).unwrap_or(u32::MAX) }.into())
    }

    fn describe(&self, _: &mut Page) -> String {
        let words: Vec<String> = self.0.iter().map(|(code, word, _)| format!("{code} {word}")).collect();
        format!("one of: {}", words.join(", "))
    }
}
