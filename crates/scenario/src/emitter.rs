//! The times at which users send client requests.

use mario_domain::{Duration, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::index::UserIndex;
use crate::scenario::Workload;

/// Generates the send times of one user.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Emitter {
    workload: Workload,
    /// The random generator of the user; `None` for a workload without randomness.
    random: Option<Pcg64Mcg>,
    /// The end of the current on period, for an on-off workload.
    on_until: Time,
}

/// Sets the random streams of workloads apart from other random streams of the same seed.
const STREAM: u128 = 0x776f_726b_6c6f_6164;

impl Emitter {
    /// An emitter for a user with this workload. Every user has an independent random stream.
    pub fn new(workload: Workload, seed: u64, user: UserIndex) -> Emitter {
        let random = match workload {
            Workload::Periodic { .. } => None,
            Workload::Poisson { .. } | Workload::OnOff { .. } => {
                let state = (u128::from(seed) << 64) ^ (u128::from(user.0) << 8) ^ STREAM.rotate_left(64);
                Some(Pcg64Mcg::from_seed(scrambled(state)))
            }
        };
        Emitter { workload, random, on_until: Time::ZERO }
    }

    /// Whether this emitter was made for the workload, and has a random generator exactly if the workload needs one.
    pub fn is_of(&self, workload: Workload) -> bool {
        let needs_none = matches!(workload, Workload::Periodic { .. });
        self.workload == workload && self.random.is_none() == needs_none
    }

    /// The first send time of a user who arrives at `now`.
    pub fn first(&mut self, now: Time) -> Time {
        match self.workload {
            Workload::Periodic { phase, .. } => now + phase,
            Workload::Poisson { mean_period } => now + self.exponential(mean_period),
            Workload::OnOff { mean_on, .. } => {
                self.on_until = now + self.exponential(mean_on);
                self.next(now)
            }
        }
    }

    /// The next send time of a user who sends at `now`.
    #[inline]
    pub fn next(&mut self, now: Time) -> Time {
        match self.workload {
            Workload::Periodic { period, .. } => now + period,
            Workload::Poisson { mean_period } => now + self.exponential(mean_period),
            Workload::OnOff { period, mean_on, mean_off } => {
                let mut next = now + period;
                while next > self.on_until {
                    let pause_ends = self.on_until + self.exponential(mean_off);
                    next = next.max(pause_ends);
                    self.on_until = pause_ends + self.exponential(mean_on);
                }
                next
            }
        }
    }

    fn exponential(&mut self, mean: Duration) -> Duration {
        match &mut self.random {
            // One minus a number below one is never zero, so the logarithm is finite.
            Some(random) => Duration::of(-mean.units() * (1.0 - random.random::<f64>()).ln()),
            None => mean,
        }
    }
}

/// Mixes the bits of a seed, because seeds that differ in one bit must lead to unrelated streams.
fn scrambled(state: u128) -> [u8; 16] {
    let mut halves = [state as u64, (state >> 64) as u64];
    for round in 0..4 {
        let mixed = (halves[0] ^ round).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        halves = [halves[1] ^ mixed ^ (mixed >> 29), halves[0]];
    }
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&halves[0].to_le_bytes());
    bytes[8..].copy_from_slice(&halves[1].to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_gap(workload: Workload) -> f64 {
        let mut emitter = Emitter::new(workload, 1, UserIndex(7));
        let mut now = emitter.first(Time::ZERO);
        let count = 20_000;
        for _ in 0..count {
            let next = emitter.next(now);
            assert!(next >= now);
            now = next;
        }
        now.units() / f64::from(count)
    }

    #[test]
    fn random_workloads_have_the_configured_mean() {
        let poisson = mean_gap(Workload::Poisson { mean_period: Duration::of(40.0) });
        assert!((poisson - 40.0).abs() < 1.5, "{poisson}");
        // On for a third of the time, with a request every 10 units: about one every 30.
        let on_off = mean_gap(Workload::OnOff {
            period: Duration::of(10.0),
            mean_on: Duration::of(500.0),
            mean_off: Duration::of(1_000.0),
        });
        assert!((on_off - 30.0).abs() < 2.5, "{on_off}");
    }

    #[test]
    fn every_user_has_an_independent_random_stream() {
        let workload = Workload::Poisson { mean_period: Duration::of(1.0) };
        let first = |seed, user| Emitter::new(workload, seed, UserIndex(user)).first(Time::ZERO).units();
        assert!((first(1, 1) - first(1, 1)).abs() < f64::EPSILON);
        assert!((first(1, 1) - first(1, 2)).abs() > 1e-9);
        assert!((first(1, 1) - first(2, 1)).abs() > 1e-9);
    }
}
