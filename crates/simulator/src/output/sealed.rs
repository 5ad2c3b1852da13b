//! The file format of checkpoints: a first line with the version and the program, the compressed content, and a
//! checksum. Files are written atomically.

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

/// The program that writes these files. No other build reads them.
pub(super) const PROGRAM: &str = concat!("mario ", env!("CARGO_PKG_VERSION"), " of sources ", env!("MARIO_SOURCES"));

/// The version of the checkpoint format. It must be raised when the layout of the files changes: the first line, the
/// chunks or the checksum, which this module writes, or the sequence of values in
/// [`RunDirectory::save`](super::RunDirectory::save). A change within one of these values, such as a new field of the
/// simulation, need not raise it, because the fingerprint in [`PROGRAM`] rejects checkpoints of other builds.
///
/// With the version, an error message can say that the layout differs, not only the build.
pub(super) const CHECKPOINT_VERSION: u32 = 3;

/// The version of checkpoints whose first line has no version.
const UNNUMBERED_VERSION: u32 = 1;

/// The first bytes of a checkpoint of any version. In the current one, ` format VERSION of PROGRAM` and the end of the
/// line follow.
const OPENING: &str = "checkpoint";

/// The file extension while a file is being written.
const UNFINISHED: &str = "new";

/// The maximum uncompressed size of a chunk. A chunk is preceded by its compressed and its uncompressed size.
const CHUNK_BYTES: usize = 1 << 20;

/// The number of bytes of a chunk size, and of the checksum.
const NUMBER_BYTES: usize = size_of::<u32>();

/// A file that is being written.
pub(super) struct Sealing<'a> {
    file: &'a mut File,
    hasher: Hasher,
    bytes: u64,
    chunk: Vec<u8>,
    packed: Vec<u8>,
    /// The first write error, because serialisers do not pass it on.
    broken: Option<io::Error>,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub(super) enum SealError {
    /// It cannot be read.
    Read(io::Error),
    /// It is damaged or truncated.
    Broken,
    /// It has this version, which is not [`CHECKPOINT_VERSION`].
    Version(u32),
    /// It has the current format, but this other program wrote it.
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

    /// Writes the buffered bytes and the checksum. Returns the digest of the file.
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

/// Writes a file. An existing file stays until the new one is completely on disk.
pub(super) fn write(path: &Path, content: impl FnOnce(&mut Sealing<'_>) -> io::Result<()>) -> io::Result<Digest> {
    write_beside(path, &path.with_extension(UNFINISHED), |file| {
        let mut sealing = Sealing::new(file);
        sealing.append(format!("{OPENING} format {CHECKPOINT_VERSION} of {PROGRAM}\n").as_bytes())?;
        content(&mut sealing)?;
        sealing.close()
    })
}

/// Reads a file. Returns the decompressed content, and the same digest as [`write()`].
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, Digest), SealError> {
    decode(&fs::read(path).map_err(SealError::Read)?)
}

/// Decodes a file. Every version of the format has a first line, and a CRC-32 at the end, so that a damaged file is not
/// mistaken for another version.
fn decode(file: &[u8]) -> Result<(Vec<u8>, Digest), SealError> {
    let bytes = file.len() as u64;
    let Some((before, end)) = file.split_last_chunk::<NUMBER_BYTES>() else { return Err(SealError::Broken) };
    let checksum = u32::from_le_bytes(*end);
    if !before.starts_with(OPENING.as_bytes()) || crc32fast::hash(before) != checksum {
        return Err(SealError::Broken);
    }
    let line_end = before.iter().position(|byte| *byte == b'\n').ok_or(SealError::Broken)?;
    let line = str::from_utf8(&before[..line_end]).map_err(|_| SealError::Broken)?;
    let (version, program) = opened(line).ok_or(SealError::Broken)?;
    if version != CHECKPOINT_VERSION {
        return Err(SealError::Version(version));
    }
    if program != PROGRAM {
        return Err(SealError::Foreign(program.to_owned()));
    }
    let content = unpack(&before[line_end + 1..]).ok_or(SealError::Broken)?;
    Ok((content, Digest { bytes, checksum }))
}

/// Returns the version and the program in the first line of a file.
fn opened(line: &str) -> Option<(u32, &str)> {
    let (kind, program) = line.split_once(" of ")?;
    let version = match kind.strip_prefix(OPENING)?.strip_prefix(" format ") {
        Some(version) => version.parse().ok()?,
        None if kind == OPENING => UNNUMBERED_VERSION,
        None => return None,
    };
    Some((version, program))
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

    /// A file with a valid checksum.
    fn sealed(line: &str, content: &[u8]) -> Vec<u8> {
        let mut file = [line.as_bytes(), content].concat();
        file.extend_from_slice(&crc32fast::hash(&file).to_le_bytes());
        file
    }

    #[test]
    fn another_format_is_distinguished_from_another_build_and_from_damage() {
        let next = CHECKPOINT_VERSION + 1;
        let ours = format!("checkpoint format {CHECKPOINT_VERSION} of {PROGRAM}\n");
        let version = |line: &str| match decode(&sealed(line, b"what another version writes")) {
            Err(SealError::Version(version)) => version,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(version("checkpoint of mario 0.1.0 of sources 0123456789abcdef\n"), UNNUMBERED_VERSION);
        assert_eq!(version(&format!("checkpoint format {next} of {PROGRAM}\n")), next);
        let foreign = ours.replace(PROGRAM, "mario 0.1.0 of sources 0123456789abcdef");
        let by = match decode(&sealed(&foreign, b"")) {
            Err(SealError::Foreign(by)) => by,
            other => panic!("{other:?}"),
        };
        assert_eq!(by, "mario 0.1.0 of sources 0123456789abcdef");
        for damaged in [
            "checkpoint",
            "checkpoint\n",
            "checkpoint format of x\n",
            "checkpoint format -1 of x\n",
            "checkpointer of x\n",
        ] {
            assert!(matches!(decode(&sealed(damaged, b"")), Err(SealError::Broken)), "{damaged}");
        }
        assert!(decode(&sealed(&ours, b"")).is_ok_and(|(content, _)| content.is_empty()));
    }

    /// If this test fails, the encoding of values or of chunks has changed, and [`CHECKPOINT_VERSION`] must be raised.
    #[test]
    fn the_format_changes_only_with_its_version() {
        let path = std::env::temp_dir().join(format!("mario-sealed-format-{}", std::process::id()));
        write(&path, |file| file.put(&("mario", 300_u32, [1.5_f64; 4]))).expect("writable");
        let file = fs::read(&path).expect("it was written");
        fs::remove_file(path).expect("it was there");
        let line_end = file.iter().position(|byte| *byte == b'\n').expect("a first line");
        assert_eq!(CHECKPOINT_VERSION, 3, "the expected bytes below are of version 3");
        let sizes = [27, 0, 0, 0, 40, 0, 0, 0];
        let chunk = *b"\x91\x05mario\xac\x02\0\x01\0\x21\xf8\x3f\x07\0\x09\x08\0\x60\0\0\0\0\xf8\x3f";
        assert_eq!(&file[line_end + 1..file.len() - NUMBER_BYTES], [&sizes[..], &chunk].concat());
    }
}
