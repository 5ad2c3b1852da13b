//! Time series whose number of points is bounded, however long the run is.

use serde::Serialize;

use crate::compact::Compact;

/// The maximum number of points of a series; a run of the published scenario has 259 cycles.
const POINTS_MAX: usize = 600;

/// The outcomes of evaluations that are counted, in the order of [`Counts`].
pub(crate) const OUTCOMES: [&str; 5] = ["undeploy", "nop", "migrate", "replicate", "inhibited"];
/// The index of `nop`.
pub(crate) const NOP: usize = 1;
/// The index of `inhibited`.
const INHIBITED: usize = 4;

/// The count of each outcome.
pub(crate) type Counts = [u64; OUTCOMES.len()];

/// The number of accepted operations in these counts: undeploy, migrate and replicate.
pub(crate) fn operations(counts: &Counts) -> u64 {
    counts.iter().sum::<u64>() - counts[NOP] - counts[INHIBITED]
}

/// Counts for each group and cycle. In a long run, one bar sums up several consecutive cycles.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    /// The number of cycles per bar; the last bar may have fewer.
    pub(crate) cycles_per_bar: u32,
    /// The time of the first cycle of each bar.
    pub(crate) times: Vec<Compact>,
    /// For each bar and each group, the counts.
    pub(crate) counts: Vec<Vec<Counts>>,
    /// The number of cycles in the last bar.
    in_last: u32,
}

impl Bars {
    pub(crate) fn new() -> Bars {
        Bars { cycles_per_bar: 1, times: Vec::new(), counts: Vec::new(), in_last: 1 }
    }

    /// Adds a cycle: the counts of each group.
    pub(crate) fn push(&mut self, time: f64, groups: &[Counts]) {
        if self.in_last < self.cycles_per_bar {
            self.in_last += 1;
            if let Some(last) = self.counts.last_mut() {
                add(last, groups);
            }
            return;
        }
        if self.times.len() == POINTS_MAX {
            self.halve();
        }
        self.times.push(Compact(time));
        self.counts.push(groups.to_vec());
        self.in_last = 1;
    }

    /// Merges pairs of bars.
    fn halve(&mut self) {
        self.cycles_per_bar *= 2;
        self.times = self.times.iter().copied().step_by(2).collect();
        let joined = self.counts.chunks(2).map(|pair| {
            let mut sum = pair[0].clone();
            pair[1..].iter().for_each(|other| add(&mut sum, other));
            sum
        });
        self.counts = joined.collect();
    }
}

fn add(sum: &mut [Counts], other: &[Counts]) {
    for (sum, other) in sum.iter_mut().flatten().zip(other.iter().flatten()) {
        *sum += other;
    }
}

/// Values at increasing times, each of which applies until the next. When `points_max` values are kept and a further
/// one is due, every second one is dropped, and from then on only half as many of the pushed values are kept.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Samples<T> {
    pub(crate) times: Vec<Compact>,
    pub(crate) values: Vec<T>,
    #[serde(skip)]
    stride: u64,
    #[serde(skip)]
    seen: u64,
    #[serde(skip)]
    points_max: usize,
}

impl<T> Samples<T> {
    pub(crate) fn new() -> Samples<T> {
        Samples::at_most(POINTS_MAX)
    }

    pub(crate) fn at_most(points_max: usize) -> Samples<T> {
        Samples { times: Vec::new(), values: Vec::new(), stride: 1, seen: 0, points_max }
    }

    /// Adds a value that applies from `time` on, if a sample is due; otherwise `value` is not called.
    pub(crate) fn push(&mut self, time: f64, value: impl FnOnce() -> T) {
        let is_due = self.seen.is_multiple_of(self.stride);
        self.seen += 1;
        if !is_due {
            return;
        }
        if self.times.len() == self.points_max {
            let mut place = 0;
            self.times = self.times.iter().copied().step_by(2).collect();
            self.values.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
            if !(self.seen - 1).is_multiple_of(self.stride) {
                return;
            }
        }
        self.times.push(Compact(time));
        self.values.push(value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_its_sums_in_fewer_bars() {
        let mut bars = Bars::new();
        for cycle in 0..2000 {
            bars.push(f64::from(cycle), &[[1, 2, 0, 0, 0], [0, 1, 0, 0, 0]]);
        }
        assert_eq!(bars.cycles_per_bar, 4);
        assert_eq!(bars.times.len(), 500);
        assert_eq!(bars.times[1], Compact(4.0));
        let sum: u64 = bars.counts.iter().map(|groups| groups[0][NOP]).sum();
        assert_eq!(sum, 4000);
    }

    #[test]
    fn a_short_run_keeps_every_cycle() {
        let mut bars = Bars::new();
        (0..259).for_each(|cycle| bars.push(f64::from(cycle), &[[0; 5]]));
        assert_eq!((bars.cycles_per_bar, bars.times.len()), (1, 259));
    }

    #[test]
    fn samples_stay_evenly_spaced() {
        let mut samples = Samples::at_most(8);
        (0..100).for_each(|time| samples.push(f64::from(time), || time));
        let gaps: Vec<i32> = samples.values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(samples.values.len() <= 8 && gaps.iter().all(|gap| *gap == gaps[0]), "{:?}", samples.values);
    }
}
