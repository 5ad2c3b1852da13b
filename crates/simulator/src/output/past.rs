//! Replays the past of a recorded run, and compares it with the recording.
//!
//! A run is a pure function of its scenario, so its state at any time can be restored without a checkpoint, by running
//! the scenario again. [`compare_with_trace`] compares each record on the way with a recorded trace, and returns a
//! count and a checksum. The scenario stores only these and the time. [`verify`] checks them before such a scenario is
//! run, perhaps by another version of mario.

use std::error::Error;
use std::fmt;
use std::io::{self, BufRead, Write};

use mario_domain::Time;
use mario_policy::PolicyFunctions;
use mario_scenario::{RecordedPast, Scenario};
use mario_trace::Detail;

use super::trace::TraceRecorder;
use crate::simulation::{RunOptions, Simulation, SimulationError};

/// Why a simulated past could not be compared with the recorded one, or differs from it.
#[derive(Debug)]
pub enum PastError {
    /// The scenario cannot be run.
    Simulation(SimulationError),
    /// The trace cannot be read.
    Read(io::Error),
    /// A line of the trace differs from the simulated one.
    Differs {
        /// The line of the trace, from 1.
        line: u64,
        /// The recorded line; `None` if the trace has ended.
        recorded: Option<String>,
        /// The simulated line; `None` if the simulation has no more records in the compared time.
        simulated: Option<String>,
    },
    /// The count or the checksum of the records differs from the stored one.
    Changed {
        /// The recorded number of records, if known.
        recorded: Option<u64>,
        /// The simulated number of records.
        simulated: u64,
    },
}

/// Runs a scenario until `time` and compares all records before it with a recorded trace, whose first line is its
/// header and whose level of detail is `detail`. Records of regret in the trace are skipped. Returns the count and the
/// checksum of these records in a full trace.
pub fn compare_with_trace(
    scenario: &Scenario,
    time: Time,
    detail: Detail,
    trace: impl BufRead,
) -> Result<RecordedPast, PastError> {
    let comparer = TraceComparer { trace, line: 0, buffer: Vec::new(), pending: Vec::new(), found: None };
    let mut simulation = Simulation::new(scenario, RunOptions::default()).map_err(PastError::Simulation)?;
    let mut recorder = (
        TraceRecorder::new(comparer, scenario, detail),
        TraceRecorder::new(Counted::default(), scenario, Detail::Full),
    );
    simulation.run_until(time, &mut recorder);
    let (mut comparer, mut counted) = recorder;
    let comparer = comparer.out();
    if let Some(found) = comparer.found.take() {
        return Err(found);
    }
    // The next recorded line must not be earlier than `time`; otherwise the simulation lacks a record.
    if let Some(line) = comparer.next_line().map_err(PastError::Read)?
        && time_of(&line).is_some_and(|recorded| recorded < time.units())
    {
        return Err(PastError::Differs { line: comparer.line, recorded: Some(line), simulated: None });
    }
    let counted = counted.out();
    Ok(RecordedPast { time, records: Some(counted.records), checksum: Some(counted.hasher.clone().finalize()) })
}

/// Checks that a scenario reproduces the count and the checksum of its recorded past, as far as they are stored.
pub fn verify(scenario: &Scenario) -> Result<(), PastError> {
    verify_with(scenario, &PolicyFunctions::default())
}

/// Like [`verify`], with host functions that decide after the past for the policies whose texts name them.
pub fn verify_with(scenario: &Scenario, functions: &PolicyFunctions) -> Result<(), PastError> {
    let Some(past) = &scenario.past else { return Ok(()) };
    if past.records.is_none() && past.checksum.is_none() {
        return Ok(());
    }
    let mut simulation =
        Simulation::with_functions(scenario, RunOptions::default(), functions).map_err(PastError::Simulation)?;
    let mut recorder = TraceRecorder::new(Counted::default(), scenario, Detail::Full);
    simulation.run_until(past.time, &mut recorder);
    let Counted { records, hasher, .. } = recorder.out();
    let is_same = past.records.is_none_or(|recorded| recorded == *records)
        && past.checksum.is_none_or(|recorded| recorded == hasher.clone().finalize());
    if is_same { Ok(()) } else { Err(PastError::Changed { recorded: past.records, simulated: *records }) }
}

/// Counts the records of a trace, without the header, and computes their checksum.
#[derive(Default)]
struct Counted {
    hasher: crc32fast::Hasher,
    records: u64,
    has_header: bool,
}

impl Write for Counted {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // The trace writer writes one line per call.
        if self.has_header {
            self.hasher.update(line);
            self.records += 1;
        }
        self.has_header = true;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer that compares the bytes written with the lines of a recorded trace. `found` is the first difference or read
/// error; nothing is compared after it.
struct TraceComparer<R> {
    trace: R,
    line: u64,
    buffer: Vec<u8>,
    pending: Vec<u8>,
    found: Option<PastError>,
}

impl<R: BufRead> TraceComparer<R> {
    /// The next line of the trace that is not a record of regret; `None` at the end. Records of regret are optional and
    /// not simulated here.
    fn next_line(&mut self) -> io::Result<Option<String>> {
        loop {
            self.buffer.clear();
            if self.trace.read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if !self.buffer.starts_with(b"[\"regret\"") {
                return Ok(Some(String::from_utf8_lossy(self.buffer.trim_ascii_end()).into_owned()));
            }
        }
    }

    fn compare(&mut self, simulated: &[u8]) {
        let is_header = self.line == 0;
        let recorded = match self.next_line() {
            Ok(recorded) => recorded,
            Err(error) => {
                self.found = Some(PastError::Read(error));
                return;
            }
        };
        let simulated = String::from_utf8_lossy(simulated.trim_ascii_end()).into_owned();
        let is_same = match &recorded {
            Some(recorded) if is_header => without_names(recorded) == without_names(&simulated),
            recorded => recorded.as_deref() == Some(&simulated),
        };
        if !is_same {
            self.found = Some(PastError::Differs { line: self.line.max(1), recorded, simulated: Some(simulated) });
        }
    }
}

impl<R: BufRead> Write for TraceComparer<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        while let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            if self.found.is_none() {
                self.compare(&line);
            }
        }
        // An error ends the simulation early.
        if self.found.is_some() { Err(io::ErrorKind::InvalidData.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The header without the fields that do not affect a run: the program, and the names of policies and of acceptance
/// policies.
fn without_names(header: &str) -> Option<serde_json::Value> {
    let mut header: serde_json::Value = serde_json::from_str(header).ok()?;
    header.as_object_mut()?.remove("program");
    for list in ["policies", "acceptances"] {
        for policy in header.get_mut(list).and_then(serde_json::Value::as_array_mut).into_iter().flatten() {
            policy.as_object_mut()?.remove("name");
        }
    }
    Some(header)
}

fn time_of(record: &str) -> Option<f64> {
    serde_json::from_str::<serde_json::Value>(record).ok()?.get(1)?.as_f64()
}

impl fmt::Display for PastError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &Option<String>| text.as_deref().map_or_else(|| "nothing".to_owned(), shortened);
        match self {
            PastError::Simulation(error) => error.fmt(formatter),
            PastError::Read(_) => formatter.write_str("cannot read the trace"),
            PastError::Differs { line, recorded, simulated } => {
                let (recorded, simulated) = (shown(recorded), shown(simulated));
                write!(formatter, "line {line} of the trace is {recorded}, and the scenario leads to {simulated}")
            }
            PastError::Changed { recorded: Some(recorded), simulated } if recorded != simulated => {
                write!(
                    formatter,
                    "the simulated run differs from the recorded one: {simulated} records instead of {recorded}"
                )
            }
            PastError::Changed { simulated, .. } => {
                write!(
                    formatter,
                    "the simulated run differs from the recorded one, though both have {simulated} records"
                )
            }
        }
    }
}

/// The beginning of a long line.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 160;
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

impl Error for PastError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            PastError::Simulation(error) => error.source(),
            PastError::Read(error) => Some(error),
            PastError::Differs { .. } | PastError::Changed { .. } => None,
        }
    }
}
