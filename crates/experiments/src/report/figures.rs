//! The figures of a run in the shape that the page holds.

use serde::Serialize;

use super::series::Counts;
use crate::figures::{FurtherCounts, GroupFigures, MeanAndMax, OperationCounts};

/// The figures of a group. What is not defined is absent: nothing moved, a series is constant, or the run is not complete.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct ShownFigures {
    pub(crate) movements: u64,
    pub(crate) counts: Counts,
    /// Adapts, evictions, shrinks, sleeps, wakes, instances that client requests woke, and those that they did not.
    pub(crate) further: [u64; 7],
    /// Mean and maximum.
    pub(crate) instances: (f64, u64),
    pub(crate) response: Option<f64>,
    pub(crate) service_usage: Option<f64>,
    /// Without the first step.
    pub(crate) pearson_r: Option<f64>,
    pub(crate) pearson_r_with_start: Option<f64>,
    /// Mean and maximum over the steps with a movement, the first left out.
    pub(crate) cycles_to_steady_state: Option<(f64, u64)>,
    /// For each step: movements, counts, cycles with an operation.
    pub(crate) steps: Vec<(u64, Counts, u64)>,
}

impl ShownFigures {
    pub(crate) fn new(figures: &GroupFigures) -> ShownFigures {
        let pair = |spread: &MeanAndMax| (spread.mean, spread.max);
        ShownFigures {
            movements: figures.movements,
            counts: counts(&figures.operations),
            further: further(&figures.further),
            instances: pair(&figures.instances),
            response: figures.response,
            service_usage: figures.service_usage,
            pearson_r: figures.pearson_r,
            pearson_r_with_start: figures.pearson_r_with_start,
            cycles_to_steady_state: figures.cycles_to_steady_state.as_ref().map(pair),
            steps: figures
                .steps
                .iter()
                .map(|step| (step.movements, counts(&step.operations), step.active_cycles))
                .collect(),
        }
    }
}

fn further(of: &FurtherCounts) -> [u64; 7] {
    [of.adapt, of.evicted, of.shrunk, of.sleep, of.wake, of.woken, of.not_woken]
}

/// Counts in the order of the outcomes.
pub(crate) fn counts(of: &OperationCounts) -> Counts {
    [of.undeploy, of.nop, of.migrate, of.replicate, of.inhibited]
}
