//! The files of a trace's parts: `trace/00000001.jsonl` and so on in the data directory. When a new part begins, the
//! oldest parts are removed to make room for it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use mario_trace::live::{PartHeader, Stamp};
use serde::Deserialize;
use serde_json::Value;

/// The maximum size of the trace divided by the size at which a part is full.
const PARTS_KEPT: u64 = 4;

/// The files of a trace.
pub(super) struct Parts {
    directory: PathBuf,
    bytes_max: u64,
    number: u64,
    open: Option<Part>,
}

struct Part {
    file: File,
    bytes: u64,
}

/// The end of a trace that a previous daemon wrote.
pub(super) struct LastLine {
    pub(super) journal: String,
    pub(super) stamp: Stamp,
    /// The number of the last journal record that the newest part covers; `None` if it covers none.
    pub(super) number: Option<u64>,
}

/// The fields of a line that are needed to continue the trace.
#[derive(Deserialize)]
struct LineStart(Stamp, Option<u64>, Value);

impl Parts {
    /// Opens the parts in a directory. Also returns the end of the newest one; `None` if there is none, or it cannot be
    /// read.
    pub(super) fn open(directory: &Path, bytes_max: u64) -> (Parts, Option<LastLine>) {
        let newest = numbered(directory).pop();
        let last = newest.as_ref().and_then(|(_, path, _)| last_line(path));
        let number = newest.map_or(0, |(number, ..)| number);
        (Parts { directory: directory.to_path_buf(), bytes_max, number, open: None }, last)
    }

    /// The number of the part that [`Parts::begin`] starts.
    pub(super) fn next_number(&self) -> u64 {
        self.number + 1
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(super) fn is_full(&self) -> bool {
        self.open.as_ref().is_some_and(|part| part.bytes >= self.bytes_max / PARTS_KEPT)
    }

    /// Closes the current part. Further lines go into a new one.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Starts a part with these bytes. The oldest parts are removed first, so that the trace stays within its maximum
    /// size until the part is full.
    pub(super) fn begin(&mut self, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let mut present = numbered(&self.directory);
        let mut sum: u64 = present.iter().map(|(_, _, bytes)| bytes).sum();
        let rest = self.bytes_max - self.bytes_max / PARTS_KEPT;
        while sum > rest && !present.is_empty() {
            let (_, path, bytes) = present.remove(0);
            fs::remove_file(&path)?;
            sum -= bytes;
        }
        let path = self.directory.join(format!("{:08}.jsonl", self.number + 1));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
        if let Err(error) = file.write_all(bytes) {
            // Its header may be truncated, and the file is then not a valid part.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        self.number += 1;
        self.open = Some(Part { file, bytes: bytes.len() as u64 });
        Ok(())
    }

    /// Appends lines. After an error, the part is unchanged, or closed.
    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let Some(part) = &mut self.open else { return Err(io::Error::other("no part is open")) };
        let written = part.file.write_all(lines);
        if written.is_ok() {
            part.bytes += lines.len() as u64;
        } else if part.file.set_len(part.bytes).is_err() || seek_end(&mut part.file).is_err() {
            self.open = None;
        }
        written
    }
}

fn seek_end(file: &mut File) -> io::Result<u64> {
    io::Seek::seek(file, io::SeekFrom::End(0))
}

/// The parts in a directory, in order, with their numbers and sizes.
fn numbered(directory: &Path) -> Vec<(u64, PathBuf, u64)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut parts: Vec<(u64, PathBuf, u64)> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let number = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.parse().ok()?;
            Some((number, path, entry.metadata().ok()?.len()))
        })
        .collect();
    parts.sort();
    parts
}

/// Reads a part up to its last complete line. Returns its end, or `None` if the part cannot be read.
fn last_line(path: &Path) -> Option<LastLine> {
    let mut input = BufReader::new(File::open(path).ok()?);
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line).ok()?;
    let header: PartHeader = serde_json::from_slice(&line).ok()?;
    let mut last = None;
    let mut number = None;
    loop {
        line.clear();
        input.read_until(b'\n', &mut line).ok()?;
        if line.last() != Some(&b'\n') {
            break;
        }
        let LineStart(stamp, own_number, event) = serde_json::from_slice(&line).ok()?;
        let records = event.get("state").and_then(|state| state["records"].as_u64());
        number = own_number.or(records).or(number);
        last = Some(stamp);
    }
    Some(LastLine { journal: header.journal, stamp: last.unwrap_or_default(), number })
}
