//! Regret, if the run measured it: how the actual placement compares with the best one.

use mario_experiments::figures::regret::{RegretFigures, RegretSums, mean_latency};
use mario_trace::reader::Regret;
use serde::Serialize;

use crate::compact::Compact;
use crate::series::Samples;

/// Records regret while a trace is read.
#[derive(Debug)]
pub(crate) struct RegretRecording {
    sums: RegretSums,
    samples: Samples<RegretColumns>,
}

/// One activation: users, then satisfied users, mean latency in milliseconds, and instances, each actual and best.
/// A latency is `None` if no user is served.
pub(crate) type RegretColumns = (u64, [u64; 2], [Option<Compact>; 2], [u64; 2]);

/// Regret as shown in the page.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ShownRegret {
    /// The mean numbers of satisfied users: of the actual and of the best placement.
    pub(crate) satisfied: [f64; 2],
    #[serde(skip)]
    pub(crate) figures: RegretFigures,
    #[serde(skip)]
    pub(crate) samples: Samples<RegretColumns>,
}

impl RegretRecording {
    pub(crate) fn new() -> RegretRecording {
        RegretRecording { sums: RegretSums::default(), samples: Samples::new() }
    }

    pub(crate) fn add(&mut self, record: &Regret) {
        self.sums.add(record);
        let both = [&record.actual, &record.best];
        let satisfied = both.map(|value| value.satisfied);
        let instances = both.map(|value| value.instances);
        // More than three decimals would not be visible in the drawing.
        let latency = both.map(|value| mean_latency(value).map(|latency| Compact((latency * 1e3).round() / 1e3)));
        self.samples.push(record.time, || (record.users, satisfied, latency, instances));
    }

    /// Returns `None` if regret was not measured.
    pub(crate) fn finish(self) -> Option<ShownRegret> {
        let figures = self.sums.finish()?;
        Some(ShownRegret { satisfied: figures.satisfied, figures, samples: self.samples })
    }
}

#[cfg(test)]
mod tests {
    use mario_trace::reader::{PlacementValue, Search};

    use super::*;

    #[test]
    fn a_sample_has_no_latency_if_no_user_is_served() {
        let value = |served, latency_millionths| PlacementValue {
            present: 1,
            satisfied: served,
            served,
            latency_millionths,
            instances: 1,
        };
        let mut recording = RegretRecording::new();
        let actual = value(0, 0);
        let best = value(3, 7_000_400);
        recording.add(&Regret { time: 200.0, search: Search::Exact, users: 4, actual, best });
        let shown = recording.finish().expect("it was measured");
        assert_eq!(shown.satisfied.map(Compact), [0.0, 3.0].map(Compact));
        assert_eq!(shown.samples.values[0], (4, [0, 3], [None, Some(Compact(2.333))], [1, 1]));
    }
}
