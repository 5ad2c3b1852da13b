//! A histogram of response times.

use serde::{Deserialize, Serialize};

/// A histogram whose buckets are bounded by powers of two with exponents that are multiples of 1/4.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Histogram {
    zeros: u64,
    /// The counts of the buckets from `first` on, without gaps.
    counts: Vec<u64>,
    first: i32,
}

impl Histogram {
    /// Whether the buckets of a restored histogram are valid.
    pub(crate) fn is_valid(&self) -> bool {
        /// A range that includes the buckets of all finite numbers.
        const BUCKETS: std::ops::RangeInclusive<i64> = -5_000..=5_000;
        let first = i64::from(self.first);
        BUCKETS.contains(&first) && BUCKETS.contains(&(first + self.counts.len() as i64))
    }

    pub(crate) fn count(&mut self, value: f64, times: u64) {
        self.add(bucket(value), times);
    }

    /// Adds the counts of another histogram.
    pub(crate) fn add_all(&mut self, other: &Histogram) {
        other.buckets().for_each(|(bucket, times)| self.add(bucket, times));
    }

    fn add(&mut self, bucket: Option<i32>, times: u64) {
        let Some(bucket) = bucket else {
            self.zeros += times;
            return;
        };
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let missing = (self.first - bucket) as usize;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = bucket;
        }
        let place = (bucket - self.first) as usize;
        if place >= self.counts.len() {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += times;
    }

    /// The non-empty buckets, in ascending order. Bucket `None` counts zeros and subnormal values; bucket `k` counts
    /// values from 2^(k/4) to below 2^((k+1)/4).
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (Option<i32>, u64)> {
        let zeros = (self.zeros > 0).then_some((None, self.zeros));
        let others = (self.first..).zip(&self.counts).filter(|(_, count)| **count > 0);
        zeros.into_iter().chain(others.map(|(bucket, count)| (Some(bucket), *count)))
    }
}

/// The bucket of a value; `None` for zero and for subnormal values. Computed from the bits of the value, so that it is
/// the same on every machine.
fn bucket(value: f64) -> Option<i32> {
    const MANTISSA_BITS: u32 = 52;
    const BIAS: i32 = 1_023;
    /// 2 to the powers of 1/4, 2/4 and 3/4.
    const QUARTERS: [f64; 3] = [1.189_207_115_002_721, std::f64::consts::SQRT_2, 1.681_792_830_507_429];
    if value < f64::MIN_POSITIVE {
        return None;
    }
    let exponent = (value.to_bits() >> MANTISSA_BITS) as i32 - BIAS;
    let mantissa = f64::from_bits(value.to_bits() & ((1 << MANTISSA_BITS) - 1) | ((BIAS as u64) << MANTISSA_BITS));
    let quarter = QUARTERS.iter().filter(|quarter| mantissa >= **quarter).count() as i32;
    Some(4 * exponent + quarter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_quarter_powers_of_two() {
        for value in [0.01, 0.99, 1.0, 1.19, 1.5, 6.01, 1e9] {
            let bucket = bucket(value).expect("not zero");
            let bound = |bucket: i32| (f64::from(bucket) / 4.0).exp2();
            assert!(bound(bucket) <= value * (1.0 + 1e-12) && value < bound(bucket + 1), "{value} in {bucket}");
        }
        assert_eq!(bucket(0.0), None);
    }

    #[test]
    fn counts_in_any_order() {
        let mut histogram = Histogram::default();
        for value in [8.0, 1.0, 0.0, 8.1, 0.5] {
            histogram.count(value, 1);
        }
        let buckets: Vec<_> = histogram.buckets().collect();
        assert_eq!(buckets, [(None, 1), (Some(-4), 1), (Some(0), 1), (Some(12), 2)]);
    }
}
