//! Regret, if the run measured it: how the actual placement compares with the best one.

use mario_trace::reader::{PlacementValue, Regret};

/// Sums up the records of regret while a trace is read.
#[derive(Debug, Default)]
pub struct RegretSums {
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
}

/// The regret of a run. The first value of a pair is that of the actual placement, the second that of the best one. Pairs
/// are means over activations; that of latency is only over activations at which the placement serves a user.
#[derive(Clone, PartialEq, Debug)]
pub struct RegretFigures {
    /// The search for the best placement: `exact` or `greedy`.
    pub against: &'static str,
    /// The number of activations at which regret was measured.
    pub activations: u64,
    /// The number of activations at which the actual placement was as good as the best one.
    pub optimal: u64,
    /// The mean number of users.
    pub users: f64,
    /// The mean number of satisfied users.
    pub satisfied: [f64; 2],
    /// The mean latency of served users, in milliseconds; `None` if no user was served.
    pub latency: [Option<f64>; 2],
    /// The mean number of instances.
    pub instances: [f64; 2],
    /// The largest number of users that were not satisfied although the best placement would satisfy them.
    pub satisfied_regret_max: u64,
}

impl RegretSums {
    /// Adds the record of an activation.
    pub fn add(&mut self, record: &Regret) {
        let both = [&record.actual, &record.best];
        self.against = record.search.as_str();
        self.activations += 1;
        self.optimal += u64::from(record.actual == record.best);
        self.users += record.users;
        for (place, value) in both.into_iter().enumerate() {
            self.satisfied[place] += value.satisfied;
            self.instances[place] += value.instances;
            if let Some(latency) = mean_latency(value) {
                self.latency[place].0 += latency;
                self.latency[place].1 += 1;
            }
        }
        let regret = record.best.satisfied.saturating_sub(record.actual.satisfied);
        self.satisfied_regret_max = self.satisfied_regret_max.max(regret);
    }

    /// Returns `None` if regret was not measured.
    pub fn finish(self) -> Option<RegretFigures> {
        if self.activations == 0 {
            return None;
        }
        let mean = |sum: u64| sum as f64 / self.activations as f64;
        Some(RegretFigures {
            against: self.against,
            activations: self.activations,
            optimal: self.optimal,
            users: mean(self.users),
            satisfied: self.satisfied.map(mean),
            latency: self.latency.map(|(sum, count)| (count > 0).then(|| sum / count as f64)),
            instances: self.instances.map(mean),
            satisfied_regret_max: self.satisfied_regret_max,
        })
    }
}

/// The mean latency of the served users, in milliseconds; `None` if there are none.
pub fn mean_latency(value: &PlacementValue) -> Option<f64> {
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
        let mut sums = RegretSums::default();
        let record = |time, actual, best| Regret { time, search: Search::Exact, users: 4, actual, best };
        sums.add(&record(100.0, value(1, 2, 6_000_000, 1), value(3, 4, 4_000_000, 5)));
        sums.add(&record(200.0, value(0, 0, 0, 1), value(1, 1, 2_500_000, 2)));
        sums.add(&record(300.0, value(3, 4, 4_000_000, 4), value(3, 4, 4_000_000, 4)));
        let figures = sums.finish().expect("it was measured");
        assert_eq!((figures.against, figures.activations, figures.optimal, figures.users), ("exact", 3, 1, 4.0));
        let means = [figures.satisfied, figures.instances].concat();
        for (mean, expected) in means.into_iter().zip([4.0 / 3.0, 7.0 / 3.0, 2.0, 11.0 / 3.0]) {
            assert!((mean - expected).abs() < 1e-12, "{mean} and {expected}");
        }
        assert_eq!(figures.latency, [Some(2.0), Some(1.5)]);
        assert_eq!(figures.satisfied_regret_max, 2);
    }

    #[test]
    fn without_a_record_there_is_no_regret() {
        assert_eq!(RegretSums::default().finish(), None);
    }
}
