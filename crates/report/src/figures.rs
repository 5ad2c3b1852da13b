//! The figures of a group of applications, for the page and its drawings.

use serde::Serialize;

use crate::series::Counts;
use mario_experiments::figures::{FurtherCounts, GroupFigures, MeanAndMax, OperationCounts};

/// The figures of a group of applications. A figure is `None` if it is undefined, for example without movements, for a
/// constant series, or in an incomplete run.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ShownFigures {
    pub(crate) movements: u64,
    pub(crate) counts: OperationCounts,
    pub(crate) further: FurtherCounts,
    pub(crate) instances: MeanAndMax,
    pub(crate) response: Option<f64>,
    pub(crate) service_usage: Option<f64>,
    /// Without the first step.
    pub(crate) pearson_r: Option<f64>,
    #[serde(skip)]
    pub(crate) pearson_r_with_start: Option<f64>,
    /// Over the steps with a movement, without the first step.
    pub(crate) cycles_to_steady_state: Option<MeanAndMax>,
    /// For each step: movements, counts, cycles with an operation.
    #[serde(skip)]
    pub(crate) steps: Vec<(u64, Counts, u64)>,
}

impl ShownFigures {
    pub(crate) fn new(figures: &GroupFigures) -> ShownFigures {
        ShownFigures {
            movements: figures.movements,
            counts: figures.operations,
            further: figures.further,
            instances: figures.instances,
            response: figures.response,
            service_usage: figures.service_usage,
            pearson_r: figures.pearson_r,
            pearson_r_with_start: figures.pearson_r_with_start,
            cycles_to_steady_state: figures.cycles_to_steady_state,
            steps: figures
                .steps
                .iter()
                .map(|step| (step.movements, counts(&step.operations), step.active_cycles))
                .collect(),
        }
    }
}

/// Converts counts to the order of `OUTCOMES`.
pub(crate) fn counts(of: &OperationCounts) -> Counts {
    [of.undeploy, of.nop, of.migrate, of.replicate, of.inhibited]
}
