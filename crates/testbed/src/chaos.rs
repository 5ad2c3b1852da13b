//! Faults drawn from a seed: daemons are killed and restarted, links are cut and healed.
//!
//! In a tree, a cut link is a partition. At most one node is down and at most one link is cut at a time: a fault ends
//! before the next of its kind begins.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;

use crate::plan::Plan;

/// The mean time between two draws. A draw while a fault of the same kind is open has no effect.
const PAUSE_MEAN: Duration = Duration::from_secs(4);
/// The minimum and the maximum duration of a fault.
const LASTS_MIN: Duration = Duration::from_secs(2);
const LASTS_MAX: Duration = Duration::from_secs(8);

/// A fault, or its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "fault", rename_all = "kebab-case")]
pub enum Fault {
    /// The daemon of a node is killed with SIGKILL. Its workloads keep running.
    Kill {
        /// The index of the node in the plan.
        node: usize,
    },
    /// The daemon is restarted.
    Start {
        /// The index of the node in the plan.
        node: usize,
    },
    /// A link is cut: connections stay open, but nothing passes.
    Cut {
        /// The index of the link in the plan.
        link: usize,
    },
    /// The link works again.
    Heal {
        /// The index of the link in the plan.
        link: usize,
    },
}

/// A fault and its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct PlannedFault {
    /// The time since the clients started.
    pub at: Duration,
    /// The fault, or its end.
    pub fault: Fault,
}

/// Draws the faults of a run. The result is a pure function of the plan, the seed and the length. All faults end at
/// least eight seconds before the end of the run, so that anything still broken at the end is a failure to recover.
pub fn draw(plan: &Plan, seed: u64, length: Duration) -> Vec<PlannedFault> {
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ 0x6368_616f_7321_0000);
    let last = length.saturating_sub(LASTS_MAX);
    let mut faults = Vec::new();
    let (mut now, mut node_up, mut link_up) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    loop {
        now += PAUSE_MEAN.mul_f64(-(1.0 - random.random::<f64>()).ln());
        let lasts = LASTS_MIN + LASTS_MAX.saturating_sub(LASTS_MIN).mul_f64(random.random::<f64>());
        let end = now + lasts;
        if end > last {
            break;
        }
        let kills = random.random::<bool>();
        if kills && now >= node_up {
            let node = random.random_range(0..plan.nodes.len());
            faults.push(PlannedFault { at: now, fault: Fault::Kill { node } });
            faults.push(PlannedFault { at: end, fault: Fault::Start { node } });
            node_up = end;
        } else if !kills && now >= link_up && !plan.links.is_empty() {
            let link = random.random_range(0..plan.links.len());
            faults.push(PlannedFault { at: now, fault: Fault::Cut { link } });
            faults.push(PlannedFault { at: end, fault: Fault::Heal { link } });
            link_up = end;
        }
    }
    faults.sort_by_key(|planned| planned.at);
    faults
}

#[cfg(test)]
mod tests {
    use mario_scenario::{Document, NoFiles};

    use super::*;

    fn plan() -> Plan {
        let mut document = Document::preset("paper").expect("it ships");
        document.set(&["topology.size=4".to_owned()]);
        Plan::new(&document.resolve(&mut NoFiles).expect("valid").scenario, 200.0).expect("it can be live")
    }

    #[test]
    fn the_same_seed_draws_the_same_faults_and_another_draws_others() {
        let length = Duration::from_mins(5);
        assert_eq!(draw(&plan(), 1, length), draw(&plan(), 1, length));
        assert_ne!(draw(&plan(), 1, length), draw(&plan(), 2, length));
    }

    #[test]
    fn faults_of_one_kind_do_not_overlap_and_end_before_the_run() {
        for seed in 0..50 {
            let length = Duration::from_mins(5);
            let faults = draw(&plan(), seed, length);
            assert!(faults.len() > 20, "seed {seed} has {} faults", faults.len());
            let (mut down, mut cut) = (None, None);
            for planned in &faults {
                assert!(planned.at <= length.saturating_sub(LASTS_MAX));
                match planned.fault {
                    Fault::Kill { node } => assert_eq!(down.replace(node), None),
                    Fault::Start { node } => assert_eq!(down.take(), Some(node)),
                    Fault::Cut { link } => assert_eq!(cut.replace(link), None),
                    Fault::Heal { link } => assert_eq!(cut.take(), Some(link)),
                }
            }
            assert_eq!((down, cut), (None, None), "seed {seed}");
        }
    }

    #[test]
    fn a_run_that_is_too_short_for_a_fault_has_none() {
        assert!(draw(&plan(), 1, Duration::from_secs(5)).is_empty());
    }
}
