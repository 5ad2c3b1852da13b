//! Files that exist completely or not at all: the program that wrote them, the compressed content, and a checksum.

#![expect(clippy::disallowed_methods, reason = "the files of a run are written and read in this directory alone")]

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crc32fast::Hasher;
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use postcard::ser_flavors::Flavor;
use serde::Serialize;

use super::digest::Digest;
use super::whole::write_beside;

/// The program that writes these files; no other can read them.
pub(super) const PROGRAM: &str = concat!("mario ", env!("CARGO_PKG_VERSION"), " of sources ", env!("MARIO_SOURCES"));

/// The first bytes of such a file, followed by the program and a line break.
const OPENING: &[u8] = b"checkpoint of ";

/// The suffix of a file's name while it is being written.
const UNFINISHED: &str = "new";

/// The size of a compressed chunk. It is preceded by its compressed and its uncompressed size.
const CHUNK_BYTES: usize = 1 << 20;

/// The bytes of such a size, and of the checksum.
const NUMBER_BYTES: usize = size_of::<u32>();

/// A file that is being written.
pub(super) struct Sealing<'a> {
    file: &'a mut File,
    hasher: Hasher,
    bytes: u64,
    chunk: Vec<u8>,
    packed: Vec<u8>,
    /// The first error, because serialisers do not pass on its cause.
    broken: Option<io::Error>,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub(super) enum SealError {
    /// It cannot be read.
    Read(io::Error),
    /// It is damaged or truncated.
    Broken,
    /// Another program wrote it.
    Foreign(String),
}

impl<'a> Sealing<'a> {
    fn new(file: &'a mut File) -> Sealing<'a> {
        let packed = vec![0; get_maximum_output_size(CHUNK_BYTES)];
        Sealing { file, hasher: Hasher::new(), bytes: 0, chunk: Vec::with_capacity(CHUNK_BYTES), packed, broken: None }
    }

    /// Appends a value.
    pub(super) fn put(&mut self, value: &impl Serialize) -> io::Result<()> {
        postcard::serialize_with_flavor(value, Appending(self))
            .map_err(|error| self.broken.take().unwrap_or_else(|| io::Error::other(error)))
    }

    /// Compresses and writes the buffer.
    fn pack(&mut self) -> io::Result<()> {
        let packed = compress_into(&self.chunk, &mut self.packed).map_err(io::Error::other)?;
        let numbers = [packed, self.chunk.len()].map(|number| (number as u32).to_le_bytes());
        self.append(numbers.as_flattened())?;
        let content = std::mem::take(&mut self.packed);
        let result = self.append(&content[..packed]);
        self.packed = content;
        self.chunk.clear();
        result
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Writes the rest, and the checksum.
    fn close(mut self) -> io::Result<Digest> {
        self.pack()?;
        let checksum = self.hasher.clone().finalize();
        self.append(&checksum.to_le_bytes())?;
        Ok(Digest { bytes: self.bytes, checksum })
    }
}

/// Receives serialised bytes.
struct Appending<'a, 'f>(&'a mut Sealing<'f>);

impl Flavor for Appending<'_, '_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    #[inline]
    fn try_extend(&mut self, mut bytes: &[u8]) -> postcard::Result<()> {
        let Appending(sealing) = self;
        while bytes.len() > CHUNK_BYTES - sealing.chunk.len() {
            let (fitting, rest) = bytes.split_at(CHUNK_BYTES - sealing.chunk.len());
            sealing.chunk.extend_from_slice(fitting);
            bytes = rest;
            if let Err(error) = sealing.pack() {
                sealing.broken = Some(error);
                return Err(postcard::Error::SerializeBufferFull);
            }
        }
        sealing.chunk.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Writes a file. An existing one of that name stays until the new one is completely on disk.
pub(super) fn write(path: &Path, content: impl FnOnce(&mut Sealing<'_>) -> io::Result<()>) -> io::Result<Digest> {
    write_beside(path, &path.with_extension(UNFINISHED), |file| {
        let mut sealing = Sealing::new(file);
        for part in [OPENING, PROGRAM.as_bytes(), b"\n"] {
            sealing.append(part)?;
        }
        content(&mut sealing)?;
        sealing.close()
    })
}

/// Reads what [`Sealing::put`] wrote.
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, Digest), SealError> {
    let file = fs::read(path).map_err(SealError::Read)?;
    let bytes = file.len() as u64;
    let Some((before, end)) = file.split_last_chunk::<NUMBER_BYTES>() else { return Err(SealError::Broken) };
    let checksum = u32::from_le_bytes(*end);
    if !before.starts_with(OPENING) || crc32fast::hash(before) != checksum {
        return Err(SealError::Broken);
    }
    let line = before.iter().position(|byte| *byte == b'\n').ok_or(SealError::Broken)?;
    let program = String::from_utf8_lossy(&before[OPENING.len()..line]);
    if program != PROGRAM {
        return Err(SealError::Foreign(program.into_owned()));
    }
    let content = unpack(&before[line + 1..]).ok_or(SealError::Broken)?;
    Ok((content, Digest { bytes, checksum }))
}

fn unpack(mut packed: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    while !packed.is_empty() {
        let mut number = || {
            let (number, rest) = packed.split_first_chunk::<NUMBER_BYTES>()?;
            packed = rest;
            Some(u32::from_le_bytes(*number) as usize)
        };
        let (packed_bytes, bytes) = (number()?, number()?);
        if bytes > CHUNK_BYTES {
            return None;
        }
        let (chunk, rest) = packed.split_at_checked(packed_bytes)?;
        let begin = content.len();
        content.resize(begin + bytes, 0);
        let unpacked = decompress_into(chunk, &mut content[begin..]).ok()?;
        if unpacked != bytes {
            return None;
        }
        packed = rest;
    }
    Some(content)
}

#[cfg(test)]
mod tests {
    use mario_testing::Scratch;

    use super::*;

    #[test]
    fn content_longer_than_a_chunk_round_trips() {
        let directory = Scratch::new("sealed");
        let path = directory.join("file");
        for count in [0, 1, CHUNK_BYTES as u32 / 4, CHUNK_BYTES as u32] {
            let numbers: Vec<f64> = (0..count).map(|number| f64::from(number).sqrt()).collect();
            let seal = write(&path, |file| file.put(&numbers).and_then(|()| file.put(&count))).expect("writable");
            let (content, found) = read(&path).unwrap_or_else(|error| panic!("{error:?}"));
            assert_eq!(found, seal);
            let (values, after): (Vec<f64>, u32) = postcard::from_bytes(&content).expect("what was written");
            assert!(values == numbers && after == count);
        }
    }
}
