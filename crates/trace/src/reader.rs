//! Reads traces, one line at a time. `docs/trace.md` describes the format.
//!
//! Start at [`TraceReader`]. [`State`](crate::State) applies the records, so that no other reader has to.
//!
//! Not for the auditor (`mario_audit`), which reads traces with code of its own.

mod header;
mod indices;
mod parse;
mod record;
mod rule;
mod values;

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use serde::Deserialize;

pub use header::{
    Arbitration, CallOrder, FORMAT, Header, Memory, TracedApplication, TracedCall, TracedLive, TracedNode,
    TracedPolicy, TracedUser, TrafficKind,
};
pub use record::{
    Calls, Client, Clients, Counted, Cycle, Deployed, End, Gone, Handover, Handovers, Latency, LinkEvent, Live,
    NodeDown, NodeEvent, Owner, Owners, Regret, Responses, TraceRecord, Traffic, Update, Usage,
};
pub use rule::{RuleName, SIMULATED_RULES, rule_text};
pub use values::{Evaluation, OutcomeCounts, OwnerCounts, Placed, PlacementValue, Search, Totals, Wakings, Woken};

pub use crate::record::{
    Cause, Detail, FactsAndDecision, Neighbour, Outcome, OwnerAct, OwnerActKind, Proposal, RequestFact, Solution,
    Target, Verdict,
};

/// A line must have fewer bytes than this. A header with a hundred thousand nodes has about ten megabytes.
const LINE_BYTES_MAX: u64 = 1 << 30;

/// Reads a trace: the header first, then record after record. Keeps only the header and one line in memory.
pub struct TraceReader<R> {
    input: R,
    header: Arc<Header>,
    buffer: Vec<u8>,
    line: u64,
    is_interrupted: bool,
}

/// Why an input cannot be read as a trace.
#[derive(Debug)]
pub enum ReadError {
    /// The input cannot be read.
    Io {
        /// The last line that was read completely, from 1; 0 if none was.
        line: u64,
        /// The error.
        error: io::Error,
    },
    /// The first line is not a header.
    NotATrace,
    /// The format of the trace is not supported.
    Format(u64),
    /// The header is malformed.
    Header(String),
    /// A line is not a valid record.
    Record {
        /// The line, from 1.
        line: u64,
        /// The byte of the line, from 1, if known.
        column: Option<usize>,
        /// The error.
        message: String,
    },
}

/// The part of a header that every version has.
#[derive(Deserialize)]
struct Version {
    mario_trace: u64,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads the header.
    pub fn new(mut input: R) -> Result<TraceReader<R>, ReadError> {
        // Rejects other files at once, instead of reading a large one to the end of its first line.
        let first = input.fill_buf().map_err(|error| ReadError::Io { line: 0, error })?;
        if first.first() != Some(&b'{') {
            return Err(ReadError::NotATrace);
        }
        let mut buffer = Vec::new();
        let is_whole = read_line(&mut input, &mut buffer, 0)?;
        let version = serde_json::from_slice::<Version>(&buffer);
        match version {
            Ok(Version { mario_trace: 1..=FORMAT }) => {}
            Ok(Version { mario_trace }) => return Err(ReadError::Format(mario_trace)),
            Err(error) if error.is_data() => return Err(ReadError::NotATrace),
            Err(_) if is_whole => return Err(ReadError::NotATrace),
            Err(_) => return Err(ReadError::Header("it is cut off".to_owned())),
        }
        let header: Header =
            serde_json::from_slice(&buffer).map_err(|error| ReadError::Header(without_place(&error)))?;
        if let Some(fault) = header.fault() {
            return Err(ReadError::Header(fault));
        }
        Ok(TraceReader { input, header: Arc::new(header), buffer, line: 1, is_interrupted: !is_whole })
    }

    /// The header.
    pub fn header(&self) -> &Arc<Header> {
        &self.header
    }

    /// The line number of the last record; 1, the line of the header, before the first record.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Whether the last line read has no line feed, as when the writing program was stopped. Such a line is not
    /// returned as a record.
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// The next record; `None` at the end of the trace, or if only a truncated line is left.
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, ReadError> {
        if self.is_interrupted {
            return Ok(None);
        }
        let is_whole = read_line(&mut self.input, &mut self.buffer, self.line)?;
        if !is_whole {
            self.is_interrupted = !self.buffer.is_empty();
            return Ok(None);
        }
        self.line += 1;
        let line = self.line;
        let record: TraceRecord = serde_json::from_slice(&self.buffer).map_err(|error| {
            let column = (error.column() > 0).then(|| error.column());
            ReadError::Record { line, column, message: without_place(&error) }
        })?;
        match indices::check(&record, &self.header) {
            Ok(()) => Ok(Some(record)),
            Err(message) => Err(ReadError::Record { line, column: None, message }),
        }
    }
}

/// Replaces `buffer` by the next line. Returns whether the line ends in a line feed; `false` also at the end of the
/// input. The end of a truncated compressed file counts as the end of the input.
fn read_line(input: &mut impl BufRead, buffer: &mut Vec<u8>, line: u64) -> Result<bool, ReadError> {
    buffer.clear();
    match input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', buffer) {
        Ok(count) if count as u64 == LINE_BYTES_MAX => {
            Err(ReadError::Record { line: line + 1, column: None, message: "it has more than 2^30 bytes".to_owned() })
        }
        Ok(_) => Ok(buffer.last() == Some(&b'\n')),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(ReadError::Io { line, error }),
    }
}

/// The message of an error without its line and column, which are reported separately.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io { line: 0, .. } => formatter.write_str("cannot read the trace"),
            ReadError::Io { line, .. } => write!(formatter, "cannot read the trace after line {line}"),
            ReadError::NotATrace => formatter.write_str("this is not a trace: its first line is not a header"),
            ReadError::Format(format) => {
                write!(formatter, "this trace has format {format}; this mario reads 1 to {FORMAT}")
            }
            ReadError::Header(message) => write!(formatter, "line 1 is not a header of a trace: {message}"),
            ReadError::Record { line, column: Some(column), message } => {
                write!(formatter, "line {line} is not a record: {message}, at byte {column}")
            }
            ReadError::Record { line, column: None, message } => {
                write!(formatter, "line {line} is not a record: {message}")
            }
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ReadError::Io { error, .. } => Some(error),
            ReadError::NotATrace | ReadError::Format(_) | ReadError::Header(_) | ReadError::Record { .. } => None,
        }
    }
}
