//! Checks the records of optional measures, `latency` and `traffic`, at the end of a trace.

use super::Audit;
use crate::finding::FindingKind;
use crate::reader::{Header, Latency, Traffic};

/// The relative tolerance of the bounds of a bin.
const BIN_TOLERANCE: f64 = 1e-8;

/// The number of records of each kind so far.
#[derive(Default)]
pub(super) struct Measured {
    latencies: usize,
    traffic: usize,
}

impl Measured {
    /// For each kind of record, its name, the required number, and the recorded number.
    fn missing(&self, header: &Header) -> [(&'static str, usize, usize); 2] {
        let latencies = if header.measures { header.applications.len() } else { 0 };
        let traffic = usize::from(header.models.is_some());
        [("latency", latencies, self.latencies), ("traffic", traffic, self.traffic)]
    }
}

impl Audit {
    /// Checks that the record is the next application's and is at the end of the run, that the number of response times
    /// equals the number of served requests, that bins are unique, in order and not empty, that the longest response
    /// time is in the last bin, and that the number of late requests is possible.
    pub(super) fn latency(&mut self, record: &Latency) {
        let who = self.application_text(record.application);
        let next = self.measured.latencies;
        self.measured.latencies = next.saturating_add(1);
        if record.application as usize != next {
            let expected = format!("the record `latency` of index {next}: one for each application, in order");
            self.find(FindingKind::Totals, &who, expected, format!("that of index {}", record.application));
        }
        self.require_end(record.time, &who);
        let served = self.served_of(record.application);
        let counted = record.histogram.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        if counted != served {
            let expected = format!("a histogram of the {served} response times of the records `responses`");
            self.find(FindingKind::Totals, &who, expected, format!("one of {counted}"));
        }
        let in_order = record.histogram.windows(2).all(|two| two[0].0 < two[1].0);
        if !in_order || record.histogram.iter().any(|(_, count)| *count == 0) {
            let expected = "bins in order, each once, and none empty";
            self.find(FindingKind::Totals, &who, expected, "other bins");
        }
        let bounds = |bin: Option<i64>| {
            bin.map_or([0.0, 0.0], |bin| [Latency::bound(bin), Latency::bound(bin.saturating_add(1))])
        };
        let [least, most] = record.histogram.last().map_or([0.0, 0.0], |(bin, _)| bounds(*bin));
        if record.max < least * (1.0 - BIN_TOLERANCE) || record.max > most * (1.0 + BIN_TOLERANCE) {
            let expected = format!("a longest response time from {least} to {most}, as the last bin says");
            self.find(FindingKind::Totals, &who, expected, record.max.to_string());
        }
        // Clients of live nodes measure the time there and back.
        let ways = if self.header.live.is_some() { 2.0 } else { 1.0 };
        let limit = ways * self.header.applications[record.application as usize].max_latency.value();
        let beyond = |end: usize| {
            let is_beyond = |bin: Option<i64>| bounds(bin)[end] > limit * (1.0 + BIN_TOLERANCE);
            let counts = record.histogram.iter().filter(|(bin, _)| is_beyond(*bin)).map(|(_, count)| *count);
            counts.fold(0_u64, u64::saturating_add)
        };
        let (surely, at_most) = (beyond(0), beyond(1));
        if !(surely..=at_most).contains(&record.late) {
            let expected = format!("from {surely} to {at_most} requests that took longer than {limit}");
            self.find(FindingKind::Totals, &who, expected, record.late.to_string());
        }
    }

    /// Counts the record, and checks that it is at the end of the run. The number of hops is recorded nowhere else.
    pub(super) fn traffic(&mut self, record: &Traffic) {
        self.measured.traffic = self.measured.traffic.saturating_add(1);
        self.require_end(record.time, "the traffic");
    }

    /// Checks that there are as many records of measures as the header requires.
    pub(super) fn check_measured(&mut self) {
        for (name, expected, found) in self.measured.missing(&self.header) {
            if expected != found {
                let expected = format!("{expected} records `{name}`, as the header says");
                self.find(FindingKind::Totals, "the end", expected, found.to_string());
            }
        }
    }

    fn require_end(&mut self, time: f64, who: &str) {
        if time < self.header.duration {
            let expected = format!("totals of the whole run, at {}", self.header.duration);
            self.find(FindingKind::Totals, who, expected, format!("at {time}"));
        }
    }
}
