//! Regret, if the run measured it: how the actual placement compares with the best one.

use mario_trace::reader::{PlacementValue, Regret};
use serde::Serialize;

use super::compact::Compact;
use super::series::Samples;

/// Sums up the records of regret while a trace is read.
#[derive(Debug)]
pub(crate) struct RegretSums {
    against: &'static str,
    activations: u64,
    optimal: u64,
    users: u64,
    satisfied: [u64; 2],
    instances: [u64; 2],
    /// The sum of the mean latencies of served users, and the number of activations with a served user: for the actual
    /// and for the best placement.
    latency: [(f64, u64); 2],
    satisfied_regret_max: u64,
    samples: Samples<RegretColumns>,
}

/// One activation: users, then satisfied users, mean latency in milliseconds, and instances, each actual and best.
/// A latency is `None` if no user is served.
pub(crate) type RegretColumns = (u64, [u64; 2], [Option<Compact>; 2], [u64; 2]);

/// Regret as shown in the page. The first value of a pair is that of the actual placement, the second that of the best
/// one. Pairs outside of `samples` are means over activations; that of latency is only over activations at which the
/// placement serves a user.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ShownRegret {
    /// The search for the best placement: `exact` or `greedy`.
    #[serde(skip)]
    pub(crate) against: &'static str,
    #[serde(skip)]
    pub(crate) activations: u64,
    /// The number of activations at which the actual placement was as good as the best one.
    #[serde(skip)]
    pub(crate) optimal: u64,
    #[serde(skip)]
    pub(crate) users: f64,
    pub(crate) satisfied: [f64; 2],
    #[serde(skip)]
    pub(crate) latency: [Option<f64>; 2],
    #[serde(skip)]
    pub(crate) instances: [f64; 2],
    #[serde(skip)]
    pub(crate) satisfied_regret_max: u64,
    #[serde(skip)]
    pub(crate) samples: Samples<RegretColumns>,
}

impl RegretSums {
    pub(crate) fn new() -> RegretSums {
        RegretSums {
            against: "",
            activations: 0,
            optimal: 0,
            users: 0,
            satisfied: [0; 2],
            instances: [0; 2],
            latency: [(0.0, 0); 2],
            satisfied_regret_max: 0,
            samples: Samples::new(),
        }
    }

    pub(crate) fn add(&mut self, record: &Regret) {
        let both = [&record.actual, &record.best];
        let latency = both.map(mean_latency);
        self.against = record.search.as_str();
        self.activations += 1;
        self.optimal += u64::from(record.actual == record.best);
        self.users += record.users;
        for (place, value) in both.into_iter().enumerate() {
            self.satisfied[place] += value.satisfied;
            self.instances[place] += value.instances;
            if let Some(latency) = latency[place] {
                self.latency[place].0 += latency;
                self.latency[place].1 += 1;
            }
        }
        let regret = record.best.satisfied.saturating_sub(record.actual.satisfied);
        self.satisfied_regret_max = self.satisfied_regret_max.max(regret);
        let satisfied = both.map(|value| value.satisfied);
        let instances = both.map(|value| value.instances);
        // More than three decimals would not be visible in the drawing.
        let latency = latency.map(|latency| latency.map(|latency| Compact((latency * 1e3).round() / 1e3)));
        self.samples.push(record.time, || (record.users, satisfied, latency, instances));
    }

    /// Returns `None` if regret was not measured.
    pub(crate) fn finish(self) -> Option<ShownRegret> {
        if self.activations == 0 {
            return None;
        }
        let mean = |sum: u64| sum as f64 / self.activations as f64;
        Some(ShownRegret {
            against: self.against,
            activations: self.activations,
            optimal: self.optimal,
            users: mean(self.users),
            satisfied: self.satisfied.map(mean),
            latency: self.latency.map(|(sum, count)| (count > 0).then(|| sum / count as f64)),
            instances: self.instances.map(mean),
            satisfied_regret_max: self.satisfied_regret_max,
            samples: self.samples,
        })
    }
}

/// The mean latency of the served users, in milliseconds; `None` if there are none.
fn mean_latency(value: &PlacementValue) -> Option<f64> {
    (value.served > 0).then(|| value.latency_millionths as f64 / 1e6 / value.served as f64)
}

#[cfg(test)]
mod tests {
    use mario_trace::reader::Search;

    use super::*;

    fn value(satisfied: u64, served: u64, latency_millionths: u64, instances: u64) -> PlacementValue {
        PlacementValue { present: 1, satisfied, served, latency_millionths, instances }
    }

    #[test]
    fn means_are_over_activations_and_latencies_over_those_with_a_user_served() {
        let mut sums = RegretSums::new();
        let record = |time, actual, best| Regret { time, search: Search::Exact, users: 4, actual, best };
        sums.add(&record(100.0, value(1, 2, 6_000_000, 1), value(3, 4, 4_000_000, 5)));
        sums.add(&record(200.0, value(0, 0, 0, 1), value(1, 1, 2_500_000, 2)));
        sums.add(&record(300.0, value(3, 4, 4_000_000, 4), value(3, 4, 4_000_000, 4)));
        let shown = sums.finish().expect("it was looked at");
        assert_eq!((shown.against, shown.activations, shown.optimal, shown.users), ("exact", 3, 1, 4.0));
        assert_eq!(shown.satisfied.map(Compact), [4.0 / 3.0, 7.0 / 3.0].map(Compact));
        assert_eq!(shown.latency, [Some(2.0), Some(1.5)]);
        assert_eq!(shown.instances.map(Compact), [2.0, 11.0 / 3.0].map(Compact));
        assert_eq!(shown.satisfied_regret_max, 2);
        assert_eq!(shown.samples.values[1].2, [None, Some(Compact(2.5))]);
    }
}
