//! Reads batches of knowledge bases, one JSON object per line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use mario_frontend::Diagnostic;
use mario_policy::RecordedSituation;
use mario_prolog::Symbols;

use crate::gzip::{self, is_gzip};
use crate::{Failure, TEXT_SIZE_BYTES_MAX};

/// Reads knowledge bases from a file one at a time, so that a batch may be larger than memory.
pub(super) struct Batch {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    buffer: Vec<u8>,
    /// The number of the last line that was read, from 1; 0 before the first.
    pub(super) line: usize,
}

impl Batch {
    pub(super) fn open(path: &Path) -> Result<Batch, Failure> {
        let reader = open(path).map_err(|error| Failure::file(format!("cannot read `{}`", path.display()), &error))?;
        Ok(Batch { path: path.to_path_buf(), reader, buffer: Vec::new(), line: 0 })
    }

    /// Returns the next knowledge base, or `None` at the end. Blank lines are skipped.
    pub(super) fn next(&mut self, symbols: &Symbols) -> Result<Option<RecordedSituation>, Failure> {
        loop {
            self.buffer.clear();
            let mut line = (&mut self.reader).take(TEXT_SIZE_BYTES_MAX as u64 + 1);
            let read = line.read_until(b'\n', &mut self.buffer).map_err(|error| {
                Failure::file(format!("cannot read `{}` after line {}", self.path.display(), self.line), &error)
            })?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            if read > TEXT_SIZE_BYTES_MAX {
                let mebibytes = TEXT_SIZE_BYTES_MAX >> 20;
                return Err(self.refuse(&format!("it is longer than {mebibytes} MiB")));
            }
            let line = match str::from_utf8(&self.buffer) {
                Ok(line) => line,
                Err(error) => {
                    return Err(self.refuse(&format!("byte {} is not valid UTF-8", error.valid_up_to() + 1)));
                }
            };
            if line.trim().is_empty() {
                continue;
            }
            return RecordedSituation::parse(symbols, line).map(Some).map_err(|error| self.refuse(&error.to_string()));
        }
    }

    fn refuse(&self, cause: &str) -> Failure {
        let mut diagnostic =
            Diagnostic::error(format!("line {} of `{}` is not a knowledge base", self.line, self.path.display()));
        diagnostic.causes.push(cause.to_owned());
        Failure::input(diagnostic.hint(
            r#"expected {"si": instance, "app": application, "node": node, "free_hw": {node: units, …}, "requests": [[neighbour, rate, latency], …], "refused": [[operation, instance, target], …]}"#,
        ))
    }
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let mut reader = BufReader::with_capacity(1 << 16, file);
    if is_gzip(reader.fill_buf()?) {
        return Ok(gzip::lines(reader));
    }
    Ok(Box::new(reader))
}
