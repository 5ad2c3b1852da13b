//! How many requests a user sends in a span of time, without individual messages.

use mario_domain::{Duration, Time};
use mario_scenario::Workload;
use serde::{Deserialize, Serialize};

use crate::whole_number::is_whole;

/// When a user sends client requests, from the user's arrival on.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) enum Schedule {
    /// At exact times: first, first + period, and so on.
    Exact { first: Time, period: Duration },
    /// From `arrival` on, at random times, with this mean rate per unit of time.
    Mean { arrival: Time, rate: f64 },
}

impl Schedule {
    /// The schedule of a user who arrives at `arrival`. The first request is sent at `first`, which is ignored for
    /// workloads with random send times.
    pub(super) fn new(workload: Workload, arrival: Time, first: Time) -> Schedule {
        match workload {
            Workload::Periodic { period, .. } => Schedule::Exact { first, period },
            Workload::Poisson { mean_period } => Schedule::Mean { arrival, rate: 1.0 / mean_period.units() },
            Workload::OnOff { period, mean_on, mean_off } => {
                Schedule::Mean { arrival, rate: mean_on / (mean_on + mean_off) / period.units() }
            }
        }
    }

    /// How many requests are sent in the half-open span from `from` to `until`.
    pub(super) fn count(&self, from: Time, until: Time) -> f64 {
        match *self {
            Schedule::Exact { first, period } => {
                let number = |time: Time| ((time - first) / period).ceil().max(0.0);
                if until > from { number(until) - number(from) } else { 0.0 }
            }
            Schedule::Mean { arrival, rate } => (until - from.max(arrival)).units().max(0.0) * rate,
        }
    }

    /// How many requests are sent in every span of this length; `None` if the number depends on where the span starts.
    pub(super) fn steady(&self, length: Duration) -> Option<f64> {
        match *self {
            Schedule::Exact { period, .. } => {
                let count = length / period;
                is_whole(count).then_some(count)
            }
            Schedule::Mean { rate, .. } => Some(length.units() * rate),
        }
    }

    /// The mean number of requests per unit of time.
    pub(super) fn rate(&self) -> f64 {
        match *self {
            Schedule::Exact { period, .. } => 1.0 / period.units(),
            Schedule::Mean { rate, .. } => rate,
        }
    }

    /// The time of the first request that is sent at `from` or later, if times are exact.
    pub(super) fn first_from(&self, from: Time) -> Option<Time> {
        match *self {
            Schedule::Exact { first, period } => Some(first + period * ((from - first) / period).ceil().max(0.0)),
            Schedule::Mean { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_same_as_enumerating_requests() {
        for (first, period) in [(40.0, 40.0), (7.25, 40.0), (0.0, 30.0), (95.0, 12.5)] {
            let schedule = Schedule::Exact { first: Time::at(first), period: Duration::of(period) };
            let times: Vec<f64> = (0..200).map(|number| first + f64::from(number) * period).collect();
            for (from, until) in
                [(0.0, 200.0), (40.0, 80.0), (100.0, 100.0), (7.25, 7.26), (200.0, 100.0), (300.0, 500.0)]
            {
                let expected = times.iter().filter(|time| **time >= from && **time < until).count() as f64;
                assert!(
                    (schedule.count(Time::at(from), Time::at(until)) - expected).abs() < 1e-9,
                    "{first} {period} {from} {until}"
                );
            }
        }
    }

    #[test]
    fn a_schedule_is_steady_if_its_period_divides_the_span() {
        let schedule = |period| Schedule::Exact { first: Time::at(3.0), period: Duration::of(period) };
        assert_eq!(schedule(40.0).steady(Duration::of(200.0)), Some(5.0));
        assert_eq!(schedule(30.0).steady(Duration::of(200.0)), None);
        assert_eq!(Schedule::Mean { arrival: Time::ZERO, rate: 0.5 }.steady(Duration::of(200.0)), Some(100.0));
    }
}
