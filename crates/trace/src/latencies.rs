//! Optional statistics over the whole run: the response times of each application, and the number of hops of all client
//! requests.

use std::collections::BTreeMap;
use std::io::Write;

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};

use crate::header::Header;
use crate::json::{integer, natural, number};
use crate::writer::TraceWriter;

/// The relative tolerance for late requests: rounding errors must not make a response time late.
const BOUND_TOLERANCE: f64 = 1e-9;

/// The response times of one application.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Latency {
    late: u64,
    max: Duration,
    /// Longer response times are late.
    limit: f64,
    /// The histogram. The range between two powers of two is divided into 64 buckets of equal width; bucket `None` is
    /// for zero and for subnormal values.
    histogram: BTreeMap<Option<i32>, u64>,
}

impl Latency {
    /// Empty statistics. Response times above `limit` are late.
    pub(crate) fn new(limit: f64) -> Latency {
        Latency { late: 0, max: Duration::ZERO, limit, histogram: BTreeMap::new() }
    }

    /// Empty statistics for each application of a header; `None` if the header has no measures.
    pub(crate) fn of(header: &Header<'_>) -> Option<Vec<Latency>> {
        let applications =
            header.applications.iter().map(|listed| Latency::new(listed.application.max_latency.value()));
        header.measures.then(|| applications.collect())
    }

    /// Adds `served` requests with this response time.
    pub(crate) fn count(&mut self, response: Duration, served: u64) {
        let units = response.units();
        if units > self.limit * (1.0 + BOUND_TOLERANCE) {
            // Saturates, because a restored count may be any number.
            self.late = self.late.saturating_add(served);
        }
        if response > self.max {
            self.max = response;
        }
        let count = self.histogram.entry(bucket(units)).or_default();
        *count = count.saturating_add(served);
    }

    /// Whether restored statistics are valid for an application with this limit.
    pub(crate) fn is_valid(&self, limit: f64) -> bool {
        const BUCKETS: std::ops::RangeInclusive<i32> = -80_000..=80_000;
        self.limit.to_bits() == limit.to_bits()
            && self.histogram.keys().flatten().all(|bucket| BUCKETS.contains(bucket))
    }
}

impl<W: Write> TraceWriter<W> {
    /// Writes the response times of each application over the whole run.
    pub(crate) fn write_latencies(&mut self, time: Time) {
        for (application, latency) in self.latencies.take().into_iter().flatten().enumerate() {
            self.begin("latency", time);
            for count in [application as u64, latency.late] {
                self.line.push(b',');
                natural(&mut self.line, count);
            }
            self.line.push(b',');
            number(&mut self.line, latency.max.units());
            self.line.extend_from_slice(b",[");
            for (position, (bucket, count)) in latency.histogram.into_iter().enumerate() {
                self.line.extend_from_slice(if position > 0 { b",[" } else { b"[" });
                match bucket {
                    Some(bucket) => integer(&mut self.line, i64::from(bucket)),
                    None => self.line.extend_from_slice(b"null"),
                }
                self.line.push(b',');
                natural(&mut self.line, count);
                self.line.push(b']');
            }
            self.line.extend_from_slice(b"]]");
            self.end_line();
        }
    }

    /// Sets the total number of hops of all client requests in the whole run. It is written at the end if the header
    /// has models.
    pub fn traffic(&mut self, hops: u64) {
        self.hops = Some(hops);
    }

    pub(crate) fn write_traffic(&mut self, time: Time) {
        let Some(hops) = self.hops.filter(|_| self.has_models) else { return };
        self.begin("traffic", time);
        self.line.push(b',');
        natural(&mut self.line, hops);
        self.line.push(b']');
        self.end_line();
    }
}

/// The bucket of a value, computed from its bits: 64 times the exponent, plus the first six bits of the mantissa;
/// `None` for zero and for subnormal values.
fn bucket(value: f64) -> Option<i32> {
    const MANTISSA_BITS: u32 = 52;
    const PART_BITS: u32 = 6;
    const BIAS: i32 = 1_023;
    if value < f64::MIN_POSITIVE {
        return None;
    }
    let parts = (value.to_bits() >> (MANTISSA_BITS - PART_BITS)) as i32;
    Some(parts - (BIAS << PART_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_64ths_of_powers_of_two() {
        assert_eq!([1.0, 1.016, 2.0, 3.0, 0.5].map(bucket), [Some(0), Some(1), Some(64), Some(96), Some(-64)]);
        assert_eq!(bucket(0.0), None);
        for value in [0.01, 0.99, 1.0, 6.01, 1e9] {
            let bucket = bucket(value).expect("not zero");
            let bound =
                |bucket: i32| 2_f64.powi(bucket.div_euclid(64)) * (1.0 + f64::from(bucket.rem_euclid(64)) / 64.0);
            assert!(bound(bucket) <= value && value < bound(bucket + 1), "{value} in {bucket}");
        }
    }
}
