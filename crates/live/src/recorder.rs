//! The node's part of the trace of a colony: what its journal has, what it promises, what its agents saw and decided.
//!
//! ```text
//! records and reports ──► lines with the time of a hybrid logical clock ──► write(2) ──► only then messages leave
//! ```
//!
//! So what a neighbour knows of is in the trace before the neighbour tells of it, also if the daemon dies between the two. What the journal
//! has and the trace has not, after a crash, is told at the next start. Secrets are never told: of an application, what policies
//! and managers judge by.
//!
//! A trace that cannot be written stops nothing: lines wait in memory, up to a bound, then they are dropped, and the trace says that there is a gap.
//!
//! | file | what is in it |
//! |---|---|
//! | `clock` | the hybrid logical clock |
//! | `lines` | records and reports as lines |
//! | `parts` | the files |

mod clock;
mod lines;
mod parts;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_colony::{Descriptor, Ledger, Record, Report, TransferId, WorkloadId};
use mario_domain::{Hardware, InstanceId};
use mario_trace::live::{PartHeader, PartLine, PartRecord, ReservedState};

use clock::Clock;
use parts::Parts;

/// Bytes of lines that wait while the trace cannot be written.
const PENDING_BYTES_MAX: usize = 4 << 20;

/// How soon a failed write is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Writes the node's part of a trace.
pub(crate) struct Recorder {
    parts: Option<Parts>,
    header: PartHeader,
    clock: Clock,
    /// Lines that are not written yet.
    pending: Vec<u8>,
    /// The applications that the part describes.
    applications: Vec<Arc<Descriptor>>,
    promised: Promised,
    /// Whether a line with everything that the node has is to follow the records at hand.
    wants_state: bool,
    /// Whether something was not told.
    has_gap: bool,
    /// Why lines cannot be written, and when that is tried again.
    failing: Option<(String, Instant)>,
}

/// What the node has promised and has not in its journal.
#[derive(Default)]
struct Promised {
    reserved: BTreeMap<TransferId, (ReservedState, Arc<Descriptor>)>,
    released: BTreeMap<WorkloadId, Hardware>,
    preparing: BTreeMap<TransferId, InstanceId>,
}

/// Whether the trace is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// It cannot be any more, and this is why.
    Fails(String),
    /// It can be again.
    Works,
}

impl Recorder {
    /// A recorder that goes on in a data directory, with files of at most `bytes_max` bytes in all; 0 for no trace at all. Returns the
    /// number of the last record that the trace tells, too, unless it tells of none. Until [`Recorder::catch_up`] is called, the trace is
    /// taken to have a gap.
    pub(crate) fn open(data: &Path, header: PartHeader, bytes_max: u64) -> (Recorder, Option<u64>) {
        let mut recorder = Recorder {
            parts: None,
            header,
            clock: Clock::default(),
            pending: Vec::new(),
            applications: Vec::new(),
            promised: Promised::default(),
            wants_state: false,
            has_gap: true,
            failing: None,
        };
        if bytes_max == 0 {
            return (recorder, None);
        }
        let (parts, last) = Parts::open(&data.join("trace"), bytes_max);
        recorder.parts = Some(parts);
        if let Some(last) = &last {
            recorder.clock.not_before(last.stamp);
        }
        // A journal that was moved away left its parts behind.
        let is_same = |last: &parts::LastLine| last.journal == recorder.header.journal;
        let number = last.filter(is_same).and_then(|last| last.number);
        (recorder, number)
    }

    /// Tells records that are in the journal and not in the trace: a crash came between the two. They happened before it.
    pub(crate) fn catch_up(&mut self, records: &[(u64, Record)]) {
        self.has_gap = false;
        self.clock.stop();
        for (number, record) in records {
            self.record(*number, record);
        }
        // They do not begin a life of the daemon, even if one of them did.
        self.wants_state = false;
        self.clock.go_on();
    }

    /// The time for a message.
    pub(crate) fn now(&mut self) -> u64 {
        Clock::pack(self.clock.tick())
    }

    /// A message came with this time.
    pub(crate) fn heard(&mut self, clock: Option<u64>) {
        if let Some(clock) = clock {
            self.clock.heard(clock);
        }
    }

    /// Tells a record of the journal, which is on disk.
    pub(crate) fn record(&mut self, number: u64, record: &Record) {
        if self.parts.is_none() {
            return;
        }
        self.wants_state |= matches!(record, Record::Boot { .. });
        self.note_record(record);
        let happened = self.happened(record);
        self.line(Some(number), &PartLine::Happened(happened));
    }

    /// Tells what the rules report.
    pub(crate) fn report(&mut self, report: &Report) {
        if self.parts.is_none() {
            return;
        }
        self.note_report(report);
        if let Some(line) = self.reported(report) {
            self.line(None, &line);
        }
    }

    fn line(&mut self, number: Option<u64>, line: &PartLine) {
        let record = PartRecord(self.clock.tick(), number, line.clone());
        let before = self.pending.len();
        if serde_json::to_writer(&mut self.pending, &record).is_err() {
            self.pending.truncate(before);
            self.has_gap = true;
            return;
        }
        self.pending.push(b'\n');
    }

    /// Writes what was told; `ledger` is what the records so far add up to. Returns whether it works, where that has changed.
    pub(crate) fn flush(&mut self, ledger: &Ledger) -> Option<Change> {
        if self.parts.is_none() || (self.pending.is_empty() && !self.wants_state) {
            return None;
        }
        if std::mem::take(&mut self.wants_state) {
            self.state(ledger);
        }
        if self.failing.as_ref().is_some_and(|(_, retry)| *retry > Instant::now()) {
            self.bound();
            return None;
        }
        match self.write(ledger) {
            Ok(()) => self.failing.take().map(|_| Change::Works),
            Err(error) => {
                let cause = error.to_string();
                let is_new = self.failing.is_none();
                self.failing = Some((cause.clone(), Instant::now() + RETRY_AFTER));
                self.bound();
                is_new.then_some(Change::Fails(cause))
            }
        }
    }

    /// Why the trace cannot be written.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.failing.as_ref().map(|(cause, _)| cause.as_str())
    }

    /// Drops what waits when there is too much of it. The next part begins with everything that the node has.
    fn bound(&mut self) {
        if self.pending.len() > PENDING_BYTES_MAX {
            self.has_gap = true;
            self.next_part();
            self.wants_state = true;
        }
    }

    /// Lines are for another part from now on, which describes its applications itself.
    fn next_part(&mut self) {
        self.pending.clear();
        self.applications.clear();
        if let Some(parts) = &mut self.parts {
            parts.close();
        }
    }

    fn write(&mut self, ledger: &Ledger) -> std::io::Result<()> {
        let Some(parts) = &mut self.parts else { return Ok(()) };
        if parts.is_open() {
            if let Err(error) = parts.write(&self.pending) {
                if !parts.is_open() {
                    // The part is torn, and what waits was told for it.
                    self.has_gap = true;
                    self.next_part();
                    self.wants_state = true;
                }
                return Err(error);
            }
        } else {
            self.header.part = parts.next_number();
            let mut bytes = serde_json::to_vec(&self.header).map_err(std::io::Error::other)?;
            bytes.push(b'\n');
            bytes.extend_from_slice(&self.pending);
            parts.begin(&bytes)?;
        }
        self.pending.clear();
        if parts.is_full() {
            self.next_part();
            self.state(ledger);
        }
        Ok(())
    }
}
