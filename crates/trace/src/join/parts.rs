//! Reads the parts of one data directory, line by line.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use super::{JoinError, JoinProblem, Open};
use crate::live::{PART_VERSION, PartHeader, PartRecord};

/// The maximum length of a line, in bytes.
const LINE_BYTES_MAX: u64 = 64 << 20;

/// A reader of the parts of one data directory, in order.
pub(super) struct Reader<'a> {
    open: &'a Open<'a>,
    paths: &'a [PathBuf],
    /// The open part, and its index.
    part: Option<(usize, Box<dyn BufRead>)>,
    next_part: usize,
    line: u64,
    /// The version of the open part, from its header.
    version: u32,
    buffer: Vec<u8>,
}

/// A line of a part.
pub(super) enum Line {
    /// The first line of a part.
    Header(Box<PartHeader>),
    /// Any other line.
    Record(Box<PartRecord>),
}

impl<'a> Reader<'a> {
    pub(super) fn new(paths: &'a [PathBuf], open: &'a Open<'a>) -> Reader<'a> {
        Reader { open, paths, part: None, next_part: 0, line: 0, version: PART_VERSION, buffer: Vec::new() }
    }

    /// The index of the part read last.
    pub(super) fn part(&self) -> usize {
        self.next_part.saturating_sub(1)
    }

    fn path(&self) -> &Path {
        self.paths.get(self.part()).map_or(Path::new(""), PathBuf::as_path)
    }

    pub(super) fn error(&self, problem: JoinProblem) -> JoinError {
        JoinError { path: self.path().to_path_buf(), line: self.line, problem }
    }

    /// The next line; `None` at the end of the last part. The truncated last line of a part, as after a crash, is
    /// skipped.
    pub(super) fn next(&mut self) -> Result<Option<Line>, JoinError> {
        loop {
            if self.part.is_none() {
                let Some(path) = self.paths.get(self.next_part) else { return Ok(None) };
                let input = (self.open)(path);
                let place = self.next_part;
                self.next_part += 1;
                self.line = 0;
                let input = input.map_err(|error| self.error(JoinProblem::Io(error)))?;
                self.part = Some((place, input));
            }
            let Some((_, input)) = &mut self.part else { continue };
            self.buffer.clear();
            let read = input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut self.buffer);
            match read {
                Ok(_) if self.buffer.last() == Some(&b'\n') => self.line += 1,
                Ok(count) if count as u64 == LINE_BYTES_MAX => {
                    self.line += 1;
                    return Err(self.error(JoinProblem::Record("it is longer than 64 MiB".to_owned())));
                }
                Ok(_) => {
                    self.part = None;
                    continue;
                }
                Err(error) => return Err(self.error(JoinProblem::Io(error))),
            }
            return self.parse().map(Some);
        }
    }

    fn parse(&mut self) -> Result<Line, JoinError> {
        if self.line > 1 {
            let record = PartRecord::read(&self.buffer, self.version);
            return match record {
                Ok(record) => Ok(Line::Record(Box::new(record))),
                Err(error) => Err(self.error(JoinProblem::Record(error.to_string()))),
            };
        }
        let value: serde_json::Value =
            serde_json::from_slice(&self.buffer).map_err(|_| self.error(JoinProblem::NotAPart))?;
        let version = value.get("mario_trace_part").and_then(serde_json::Value::as_u64);
        let version = version.ok_or_else(|| self.error(JoinProblem::NotAPart))?;
        if !(1..=u64::from(PART_VERSION)).contains(&version) {
            return Err(self.error(JoinProblem::Version(u32::try_from(version).unwrap_or(u32::MAX))));
        }
        let header: PartHeader =
            serde_json::from_value(value).map_err(|error| self.error(JoinProblem::Record(error.to_string())))?;
        self.version = header.mario_trace_part;
        Ok(Line::Header(Box::new(header)))
    }
}
