//! Digests of a run's files, so that resuming a run detects changes made in the meantime.
//!
//! A 32-bit CRC detects every error burst of up to 32 bits, and misses other random damage with a probability of about
//! 2^-32. It is computed as buffers are written out, and costs little compared with writing them.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

/// The length and checksum of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Digest {
    pub(super) bytes: u64,
    pub(super) checksum: u32,
}

impl Digest {
    /// The digest of these bytes.
    pub(super) fn of(content: &[u8]) -> Digest {
        Digest { bytes: content.len() as u64, checksum: crc32fast::hash(content) }
    }
}

/// A file, and the digest of everything that was written to it.
pub(super) struct DigestedFile {
    file: File,
    hasher: Hasher,
    bytes: u64,
}

impl DigestedFile {
    /// Starts with an empty file.
    pub(super) fn new(file: File) -> DigestedFile {
        DigestedFile { file, hasher: Hasher::new(), bytes: 0 }
    }

    /// Reads the written part of a file, to append to it. Returns `None` if the file is shorter, or if its checksum
    /// differs.
    pub(super) fn resumed(mut file: File, written: Digest) -> io::Result<Option<DigestedFile>> {
        const BUFFER_BYTES: usize = 1 << 18;
        let mut hasher = Hasher::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut left = written.bytes;
        while left > 0 {
            let most = usize::try_from(left).map_or(BUFFER_BYTES, |left| left.min(BUFFER_BYTES));
            let read = match file.read(&mut buffer[..most]) {
                Ok(0) => return Ok(None),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hasher.update(&buffer[..read]);
            left -= read as u64;
        }
        if hasher.clone().finalize() != written.checksum {
            return Ok(None);
        }
        debug_assert_eq!(file.stream_position().ok(), Some(written.bytes));
        Ok(Some(DigestedFile { file, hasher, bytes: written.bytes }))
    }

    /// The digest of the bytes written so far.
    pub(super) fn digest(&self) -> Digest {
        Digest { bytes: self.bytes, checksum: self.hasher.clone().finalize() }
    }

    /// The file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

impl Write for DigestedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
