//! Files that are there whole or not at all: who wrote them in front, a checksum at the end.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

/// Who writes these files, and alone can read them.
pub(super) const PROGRAM: &str = concat!("mario ", env!("CARGO_PKG_VERSION"), " of sources ", env!("MARIO_SOURCES"));

/// What such a file begins with; the program and the end of the line follow.
const OPENING: &[u8] = b"checkpoint of ";

const CHECKSUM_BYTES: usize = size_of::<u32>();

/// The end of a file's name while it is being written.
const UNFINISHED: &str = "new";

/// Tells one content from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Seal {
    pub(super) bytes: u64,
    checksum: u32,
}

/// A file on its way.
pub(super) struct Sealing {
    out: BufWriter<Checksummed>,
}

struct Checksummed {
    file: File,
    hasher: Hasher,
    bytes: u64,
    /// What went wrong: whoever serialises keeps only that something did.
    broken: Option<io::Error>,
}

/// Why what is there is not what was written.
#[derive(Debug)]
pub(super) enum SealError {
    /// It cannot be read.
    Read(io::Error),
    /// It is not as it was written, or not all of it is there.
    Broken,
    /// Another program wrote it.
    Foreign(String),
}

impl Write for Checksummed {
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

/// Remembers what goes wrong.
struct Noting<'a>(&'a mut BufWriter<Checksummed>);

impl Write for Noting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.0.write(bytes);
        result.map_err(|error| {
            let told = io::Error::from(error.kind());
            self.0.get_mut().broken = Some(error);
            told
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Sealing {
    /// Appends a value.
    pub(super) fn put(&mut self, value: &impl Serialize) -> io::Result<()> {
        match postcard::to_io(value, Noting(&mut self.out)) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.out.get_mut().broken.take().unwrap_or_else(|| io::Error::other(error))),
        }
    }
}

/// Writes a file. Until all of it is on the disk, a former one of that name stays.
pub(super) fn write(path: &Path, content: impl FnOnce(&mut Sealing) -> io::Result<()>) -> io::Result<Seal> {
    let unfinished = path.with_extension(UNFINISHED);
    let result = write_unfinished(&unfinished, content).and_then(|seal| fs::rename(&unfinished, path).map(|()| seal));
    if result.is_err() {
        let _ = fs::remove_file(&unfinished);
    } else if let Some(directory) = path.parent() {
        // Not every system lets a directory be opened; where it does, the new name is on the disk after this.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
    result
}

fn write_unfinished(path: &Path, content: impl FnOnce(&mut Sealing) -> io::Result<()>) -> io::Result<Seal> {
    let file = File::create(path)?;
    let inner = Checksummed { file, hasher: Hasher::new(), bytes: 0, broken: None };
    let mut sealing = Sealing { out: BufWriter::with_capacity(1 << 20, inner) };
    sealing.out.write_all(OPENING)?;
    sealing.out.write_all(PROGRAM.as_bytes())?;
    sealing.out.write_all(b"\n")?;
    content(&mut sealing)?;
    let mut inner = sealing.out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let checksum = inner.hasher.clone().finalize();
    inner.write_all(&checksum.to_le_bytes())?;
    inner.file.sync_all()?;
    Ok(Seal { bytes: inner.bytes, checksum })
}

/// Reads what [`Sealing::put`] wrote.
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, Seal), SealError> {
    let mut content = fs::read(path).map_err(SealError::Read)?;
    let bytes = content.len() as u64;
    let Some((before, end)) = content.split_last_chunk::<CHECKSUM_BYTES>() else { return Err(SealError::Broken) };
    let checksum = u32::from_le_bytes(*end);
    if !before.starts_with(OPENING) || crc32fast::hash(before) != checksum {
        return Err(SealError::Broken);
    }
    let line = before.iter().position(|byte| *byte == b'\n').ok_or(SealError::Broken)?;
    let program = String::from_utf8_lossy(&before[OPENING.len()..line]);
    if program != PROGRAM {
        return Err(SealError::Foreign(program.into_owned()));
    }
    content.truncate(content.len() - CHECKSUM_BYTES);
    content.drain(..=line);
    Ok((content, Seal { bytes, checksum }))
}
