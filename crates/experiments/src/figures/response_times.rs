//! The distribution of response times: counts in the bins of a trace, and percentiles of them.

use std::collections::BTreeMap;

use mario_trace::reader::Latency;

/// Response times in bins.
#[derive(Clone, PartialEq, Debug)]
pub struct ResponseTimes {
    bins: Bins,
    /// The count of each bin; `None` is for response times of 0.
    counts: BTreeMap<Option<i64>, u64>,
    /// The longest response time; `None` if the trace does not record it.
    max: Option<f64>,
}

/// The bins of response times in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bins {
    /// Every trace has these: bin `k` begins at 2^(k/4) ms.
    Quarters,
    /// Only traces of runs with `measures.applications` have these: 64 bins of equal width between two powers of two.
    Fine,
}

impl Bins {
    /// The midpoint of a bin.
    fn middle(self, bin: i64) -> f64 {
        match self {
            Bins::Quarters => ((bin as f64 + 0.5) / 4.0).exp2(),
            Bins::Fine => f64::midpoint(Latency::bound(bin), Latency::bound(bin.saturating_add(1))),
        }
    }

    /// How far a midpoint is at most from any value of its bin, in percent of the value: 2^(1/8) - 1 and 1/128, rounded
    /// up.
    pub fn error_percent(self) -> &'static str {
        match self {
            Bins::Quarters => "9.1",
            Bins::Fine => "0.8",
        }
    }
}

impl ResponseTimes {
    /// The response times of one application: from the fine bins of its record `latency` if the trace has one that counts
    /// every served request, otherwise from the bins that every trace has.
    pub fn of(quarters: &BTreeMap<Option<i64>, u64>, latency: Option<&Latency>) -> ResponseTimes {
        let all =
            |counts: &BTreeMap<Option<i64>, u64>| counts.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
        let fine: Option<BTreeMap<Option<i64>, u64>> =
            latency.map(|latency| latency.histogram.iter().copied().collect());
        match (fine, latency) {
            (Some(counts), Some(latency)) if all(&counts) == all(quarters) => {
                ResponseTimes { bins: Bins::Fine, counts, max: Some(latency.max) }
            }
            _ => ResponseTimes { bins: Bins::Quarters, counts: quarters.clone(), max: None },
        }
    }

    /// The response times of several applications together; `None` if their bins differ.
    pub fn sum<'a>(mut all: impl Iterator<Item = &'a ResponseTimes>) -> Option<ResponseTimes> {
        let mut sum = all.next()?.clone();
        for other in all {
            if other.bins != sum.bins {
                return None;
            }
            for (bin, count) in &other.counts {
                let known = sum.counts.entry(*bin).or_default();
                *known = known.saturating_add(*count);
            }
            sum.max = sum.max.zip(other.max).map(|(one, other)| one.max(other));
        }
        Some(sum)
    }

    /// The bins in which they are counted.
    pub fn bins(&self) -> Bins {
        self.bins
    }

    /// The longest response time, in milliseconds; `None` if the trace does not record it.
    pub fn max(&self) -> Option<f64> {
        self.max
    }

    /// The nearest-rank percentile: the smallest value that at least `share` of all values do not exceed, as the midpoint
    /// of its bin, but not above the longest response time. `None` without values. The exact percentiles of live runs are
    /// computed by `Percentiles` in `crates/testbed/src/summary.rs`.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let all = self.counts.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
        let wanted = (all as f64 * share).ceil().max(1.0);
        let mut so_far = 0_u64;
        for (bin, count) in &self.counts {
            so_far = so_far.saturating_add(*count);
            if so_far as f64 >= wanted {
                let middle = bin.map_or(0.0, |bin| self.bins.middle(bin));
                return Some(self.max.map_or(middle, |max| middle.min(max)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(bins: Bins, counts: &[(Option<i64>, u64)]) -> ResponseTimes {
        ResponseTimes { bins, counts: counts.iter().copied().collect(), max: None }
    }

    #[test]
    fn a_percentile_is_the_midpoint_of_its_bin() {
        let times = times(Bins::Fine, &[(None, 5), (Some(64), 44), (Some(128), 46), (Some(192), 5)]);
        let at = |share| times.percentile(share).map(|value| value as i64);
        let found = [0.05, 0.051, 0.49, 0.5, 0.95, 0.951, 1.0].map(at);
        assert_eq!(found, [0, 2, 2, 4, 4, 8, 8].map(Some));
        assert_eq!(ResponseTimes { counts: BTreeMap::new(), ..times }.percentile(0.5), None);
    }

    #[test]
    fn midpoints_are_as_close_to_every_value_of_their_bin_as_stated() {
        for bins in [Bins::Quarters, Bins::Fine] {
            let bound = bins.error_percent().parse::<f64>().expect("a number") / 100.0;
            let start = |bin: i64| match bins {
                Bins::Quarters => (bin as f64 / 4.0).exp2(),
                Bins::Fine => Latency::bound(bin),
            };
            let worst = |bin: i64| {
                let middle = bins.middle(bin);
                ((middle - start(bin)) / start(bin)).max((start(bin + 1) - middle) / start(bin + 1))
            };
            let worst = (-130..130).map(worst).fold(0.0, f64::max);
            assert!(worst <= bound && worst > bound * 0.97, "{bins:?}: {worst}");
        }
    }

    #[test]
    fn fine_bins_are_used_only_if_they_count_every_served_request() {
        let quarters = BTreeMap::from([(Some(4), 3)]);
        let latency =
            |count| Latency { time: 9.0, application: 0, late: 0, max: 2.2, histogram: vec![(Some(70), count)] };
        let fine = ResponseTimes::of(&quarters, Some(&latency(3)));
        assert_eq!((fine.bins(), fine.max(), fine.percentile(0.5)), (Bins::Fine, Some(2.2), Some(2.2)));
        assert_eq!(ResponseTimes::of(&quarters, Some(&latency(2))).bins(), Bins::Quarters);
        assert_eq!(ResponseTimes::of(&quarters, None).bins(), Bins::Quarters);
        assert_eq!(ResponseTimes::sum([&fine, &ResponseTimes::of(&quarters, None)].into_iter()), None);
    }
}
