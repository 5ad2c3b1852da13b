//! The node's part of the trace of a colony: the records of its journal, its reservations, and the observations and
//! decisions of its agents.
//!
//! ```text
//! records and reports ──► lines with the time of a hybrid logical clock ──► write(2) ──► only then messages leave
//! ```
//!
//! So an event is in this node's trace before a neighbour can learn of it and record it, unless the write fails.
//! Records of the journal that the trace lacks after a crash are added at the next start, if the journal still has
//! them. Of an application, the trace contains requirements, facts and policy, but not how it is run, nor secrets.
//!
//! A trace that cannot be written does not stop the node: lines are buffered in memory up to a bound, then dropped, and
//! the trace records the gap.
//!
//! | file | what is in it |
//! |---|---|
//! | `clock` | the hybrid logical clock |
//! | `lines` | records of the journal, and the state of the node, as records of the trace |
//! | `reports` | what the node reports, as records of the trace and as reports for operators |
//! | `parts` | the files in which the node's part of the trace is stored; each file is itself called a part |

mod clock;
mod lines;
mod parts;
mod reports;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_colony::{Descriptor, JournalRecord, Ledger, TraceEvent, TransferId, WorkloadId};
use mario_domain::{Hardware, InstanceId};
use mario_trace::live::{PartHeader, PartLine, PartRecord, ReservedState};

use crate::api::NodeReport;

use clock::Clock;
use parts::Parts;
use reports::Converted;

/// The maximum size of the buffer while the trace cannot be written, in bytes.
const PENDING_BYTES_MAX: usize = 4 << 20;

/// The retry interval of a failed write.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Writes the node's part of a trace.
pub(crate) struct Recorder {
    parts: Option<Parts>,
    header: PartHeader,
    clock: Clock,
    /// Lines that are not written yet.
    pending: Vec<u8>,
    /// The applications described in the current part.
    applications: Vec<Arc<Descriptor>>,
    reservations: UnjournaledReservations,
    /// Whether the next flush must add a line with the whole state of the node.
    wants_state: bool,
    /// Whether lines are missing since the last line with the whole state of the node.
    has_gap: bool,
    /// Why lines cannot be written, and when the write is retried; `None` if they can be written.
    failing: Option<(String, Instant)>,
}

/// The state that is not in the journal: reservations, the hardware of copies that have not stopped yet although their
/// reservations were dropped, and transfers in preparation.
#[derive(Default)]
struct UnjournaledReservations {
    reserved: BTreeMap<TransferId, (ReservedState, Arc<Descriptor>)>,
    released: BTreeMap<WorkloadId, Hardware>,
    preparing: BTreeMap<TransferId, InstanceId>,
}

/// The trace has become writable or unwritable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// The trace can no longer be written, for this reason.
    Fails(String),
    /// The trace can be written again.
    Works,
}

impl Recorder {
    /// Opens a recorder that continues the trace in a data directory. Its files have at most about `bytes_max` bytes in
    /// total; 0 disables the trace. Also returns the number of the last journal record that the newest part covers;
    /// `None` if it covers none of this journal. Until [`Recorder::catch_up`] is called, the trace counts as having a
    /// gap.
    pub(crate) fn open(data: &Path, header: PartHeader, bytes_max: u64) -> (Recorder, Option<u64>) {
        let mut recorder = Recorder {
            parts: None,
            header,
            clock: Clock::default(),
            pending: Vec::new(),
            applications: Vec::new(),
            reservations: UnjournaledReservations::default(),
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
        // If the journal was moved away, the existing parts belong to the old journal.
        let is_same = |last: &parts::LastLine| last.journal == recorder.header.journal;
        let number = last.filter(is_same).and_then(|last| last.number);
        (recorder, number)
    }

    /// Adds records that are in the journal but not in the trace, for example after a crash. Their timestamps follow
    /// directly after the last one in the trace, because the events are in the past.
    pub(crate) fn catch_up(&mut self, records: &[(u64, JournalRecord)]) {
        self.has_gap = false;
        self.clock.stop();
        for (number, record) in records {
            self.record(*number, record);
        }
        // A boot among these records is an earlier one. The state is written after the boot of this process.
        self.wants_state = false;
        self.clock.resume();
    }

    /// The timestamp for a message.
    pub(crate) fn now(&mut self) -> u64 {
        Clock::pack(self.clock.tick())
    }

    /// Makes further timestamps later than that of a received message, unless that one is too far in the future.
    pub(crate) fn heard(&mut self, clock: Option<u64>) {
        if let Some(clock) = clock {
            self.clock.heard(clock);
        }
    }

    /// Adds a record of the journal that is already on disk.
    pub(crate) fn record(&mut self, number: u64, record: &JournalRecord) {
        self.note_record(record);
        if self.parts.is_none() {
            return;
        }
        self.wants_state |= matches!(record, JournalRecord::Boot { .. });
        let event = self.event(record);
        self.line(Some(number), PartLine::Event(event));
    }

    /// Adds the line of an event, if the trace has events of its kind, and returns the report for operators, if they get
    /// events of its kind.
    pub(crate) fn report(&mut self, event: &TraceEvent) -> Option<NodeReport> {
        let Converted { line, report } = self.convert(event);
        if let Some(line) = line {
            self.line(None, line);
        }
        report
    }

    fn line(&mut self, number: Option<u64>, line: PartLine) {
        if self.parts.is_some() {
            PartRecord(self.clock.tick(), number, line).write(&mut self.pending);
            self.pending.push(b'\n');
        }
    }

    /// Writes the pending lines, and the whole state of the node if that is due. After a failed write, nothing is
    /// written before [`RETRY_AFTER`] has passed. `ledger` is the state after all records so far. Returns the change if
    /// the trace has become writable or unwritable; `None` if neither.
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

    /// Why the trace cannot be written; `None` if it can.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.failing.as_ref().map(|(cause, _)| cause.as_str())
    }

    /// Drops the buffered lines if they exceed [`PENDING_BYTES_MAX`]. Further lines go into a new part, to which the
    /// next flush adds the whole state of the node.
    fn bound(&mut self) {
        if self.pending.len() > PENDING_BYTES_MAX {
            self.has_gap = true;
            self.next_part();
            self.wants_state = true;
        }
    }

    /// Discards the pending lines and closes the current part, so that further lines go into a new one. Each part has
    /// its own descriptions of applications.
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
                    // The part may end in a truncated line, so it cannot be continued. The pending lines refer to its
                    // descriptions of applications, so they are dropped.
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
