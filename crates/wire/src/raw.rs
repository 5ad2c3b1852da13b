//! Numbered fields in the encoding of Protocol Buffers: a tag, then a varint, eight bytes, or length-delimited bytes.

use crate::error::Problem;

/// The content of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    /// No field has this wire type yet, but a field of a newer version may.
    Fixed32,
}

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const BYTES: u8 = 2;
const FIXED32: u8 = 5;

/// Reads the fields of a message one by one. Malformed input yields a [`Problem`], never a panic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { rest: bytes }
    }

    pub(crate) fn next(&mut self) -> Result<Option<(u32, Content<'a>)>, Problem> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| Problem::NumberTooLarge { max: u64::from(u32::MAX) })?;
        let content = match (tag & 7) as u8 {
            VARINT => Content::Varint(self.varint()?),
            FIXED64 => {
                let bytes = self.bytes(8)?;
                Content::Fixed64(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
            }
            BYTES => {
                let length = self.varint()?;
                let length = usize::try_from(length).map_err(|_| Problem::Truncated)?;
                Content::Bytes(self.bytes(length)?)
            }
            FIXED32 => {
                self.bytes(4)?;
                Content::Fixed32
            }
            wire_type => return Err(Problem::UnknownContent { wire_type }),
        };
        Ok(Some((number, content)))
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Problem> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Problem::Truncated)?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Problem::NumberTooLarge { max: u64::MAX })
    }

    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Problem> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Problem::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn put_number(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3 | u64::from(VARINT));
    put_varint(out, value);
}

pub(crate) fn put_fixed64(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3 | u64::from(FIXED64));
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | u64::from(BYTES));
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes a length-delimited field whose content is written by `write`.
pub(crate) fn put_nested<E>(
    out: &mut Vec<u8>,
    number: u32,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    put_varint(out, u64::from(number) << 3 | u64::from(BYTES));
    // Reserves one byte for the length, because most messages are short. If the length needs more, the content is
    // moved.
    let start = out.len();
    out.push(0);
    write(out)?;
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
    } else {
        let mut prefix = Vec::with_capacity(10);
        put_varint(&mut prefix, length as u64);
        out.splice(start..=start, prefix);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_and_have_at_most_64_bits() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            assert_eq!(Fields::new(&bytes).varint(), Ok(value));
            assert_eq!(Fields::new(&bytes[..bytes.len() - 1]).varint(), Err(Problem::Truncated));
        }
        let too_large = [0xff; 11];
        assert_eq!(Fields::new(&too_large).varint(), Err(Problem::NumberTooLarge { max: u64::MAX }));
        let sixty_five_bits = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2];
        assert_eq!(Fields::new(&sixty_five_bits).varint(), Err(Problem::NumberTooLarge { max: u64::MAX }));
    }

    #[test]
    fn a_length_beyond_the_end_allocates_nothing() {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, 1 << 3 | 2);
        put_varint(&mut bytes, u64::MAX);
        assert_eq!(Fields::new(&bytes).next(), Err(Problem::Truncated));
    }

    #[test]
    fn nested_content_of_any_length_is_preceded_by_its_length() {
        for length in [0, 1, 127, 128, 20_000] {
            let mut bytes = vec![9];
            let written: Result<(), ()> = put_nested(&mut bytes, 7, |out| {
                out.resize(out.len() + length, 5);
                Ok(())
            });
            assert_eq!(written, Ok(()));
            let content = vec![5; length];
            assert_eq!(Fields::new(&bytes[1..]).next(), Ok(Some((7, Content::Bytes(&content)))));
        }
    }
}
