//! The figures of a run, computed from its trace.
//!
//! Start at [`from_trace`]. [`Reading`] does the same record by record. Nothing here uses the simulator's counts. The
//! simulator computes the figures of groups independently, and tests compare both.
//!
//! Undefined figures are `None`: the correlation with a constant series, a ratio to zero movements, the mean response
//! time without served requests, the service usage without evaluations, and the cycles to the steady state without a
//! step with movements.

mod groups;
mod measuring;
mod reading;
pub mod regret;
mod response_times;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use mario_domain::AgentOperation;
use mario_trace::State;
use mario_trace::reader::{ReadError, TraceReader};
use serde::{Deserialize, Serialize};

pub(crate) use groups::Groups;
pub use measuring::{ApplicationFigures, CallFigures, Consumption, Inhibitions, Measurements, TierFigures};
pub use reading::Reading;
pub use response_times::{Bins, ResponseTimes};

/// The figures of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunFigures {
    /// All applications together first, then each kind.
    pub groups: Vec<GroupFigures>,
    /// The number of evaluations of all agents.
    pub evaluations: u64,
    /// Client requests that an instance started to serve.
    pub served: u64,
    /// Client requests that were lost.
    pub lost: u64,
}

/// The figures of a group of applications.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GroupFigures {
    /// `all`, or the kind of application.
    pub group: String,
    /// Handovers, arrivals and departures after the first step.
    pub movements: u64,
    /// Accepted undeploys, migrations and replications, inhibited proposals, and evaluations that proposed nothing.
    pub operations: OperationCounts,
    /// Counts beyond the paper's figures.
    #[serde(flatten)]
    pub further: FurtherCounts,
    /// Accepted undeploys, migrations and replications, and inhibited proposals, of all steps, divided by `movements`,
    /// which excludes the first step; `None` without movements.
    pub per_movement: Option<OperationRatios>,
    /// Mean and maximum number of instances, sampled after each cycle; 0 without cycles.
    pub instances: MeanAndMax,
    /// Mean response time, in milliseconds: averaged per user, then per application, then over applications.
    pub response: Option<f64>,
    /// Request rate divided by the rate that an instance can handle: averaged over evaluations per application, then
    /// over applications.
    pub service_usage: Option<f64>,
    /// Pearson's correlation, over the steps without the first, of the number of movements and the number of changes of
    /// the placement.
    pub pearson_r: Option<f64>,
    /// The same correlation with the first step, in which the first connections count as movements.
    pub pearson_r_with_start: Option<f64>,
    /// Mean and maximum number of active cycles per step, over the steps with a movement, without the first step.
    pub cycles_to_steady_state: Option<MeanAndMax>,
    /// The figures of each step.
    pub steps: Vec<StepFigures>,
}

/// The numbers of accepted undeploys, migrations and replications, of evaluations that proposed nothing (`nop`), and of
/// inhibited proposals of any kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is the operation of that name")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OperationCounts {
    pub undeploy: u64,
    pub nop: u64,
    pub migrate: u64,
    pub replicate: u64,
    pub inhibited: u64,
}

/// Counts beyond the paper's figures. Zero counts are not serialised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FurtherCounts {
    /// Accepted adapts.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub adapt: u64,
    /// Instances that the owners of nodes evicted.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub evicted: u64,
    /// Instances that the owners of nodes shrank.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub shrunk: u64,
    /// Accepted sleeps.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub sleep: u64,
    /// Accepted wakes that an agent proposed.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub wake: u64,
    /// Sleeping instances that a client request woke.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub woken: u64,
    /// How often a manager did not allow a sleeping instance to wake for a client request.
    #[serde(skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<_>"))]
    pub not_woken: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Accepted undeploys, migrations and replications, and inhibited proposals, divided by the number of movements.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is the operation of that name")]
pub struct OperationRatios {
    pub undeploy: f64,
    pub migrate: f64,
    pub replicate: f64,
    pub inhibited: f64,
}

/// Mean and maximum.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MeanAndMax {
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: u64,
}

/// The figures of one step of mobility.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StepFigures {
    /// Handovers, arrivals and departures.
    pub movements: u64,
    /// The outcomes of all cycles in the step.
    #[serde(flatten)]
    pub operations: OperationCounts,
    /// Cycles with at least one accepted undeploy, migrate or replicate.
    pub active_cycles: u64,
}

/// The figures of a group of applications in one cycle.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CycleFigures {
    /// When the cycle took place.
    pub time: f64,
    /// The outcomes of the cycle.
    #[serde(flatten)]
    pub operations: OperationCounts,
    /// The number of instances after the cycle.
    pub instances: u64,
}

/// Whether applications left the top tier, which rules inhibited proposals, and how often nodes were overloaded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PlacementFigures {
    /// One entry for each application.
    pub applications: Vec<ApplicationPlacement>,
    /// The number of inhibited proposals by rule.
    pub inhibited_by_rule: BTreeMap<&'static str, u64>,
    /// The number of nodes with more units in use than their capacity, summed over samples after each initial
    /// deployment and after each cycle; 0 for a trace of counts.
    pub overloads: u64,
}

/// Whether an application left the top tier.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ApplicationPlacement {
    /// The application.
    pub application: String,
    /// The kind of the application.
    pub kind: String,
    /// Whether an instance was ever below the top tier.
    pub left_the_top: bool,
}

/// Everything computed from a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceFigures {
    /// The figures.
    pub figures: RunFigures,
    /// For each group, in the order of `figures.groups`, the figures of each cycle.
    pub cycles: Vec<Vec<CycleFigures>>,
    /// Whether applications left the top tier, inhibitions by rule, and overloads.
    pub placement: PlacementFigures,
    /// The measures of single applications, calls, nodes and tiers, and the cost of the run.
    pub measured: Measurements,
    /// Whether the trace has an end. Without it, the response times and service usage of groups are undefined.
    pub is_complete: bool,
}

/// Computes the figures of a trace.
pub fn from_trace(input: impl BufRead) -> Result<TraceFigures, ReadError> {
    let mut reader = TraceReader::new(input)?;
    let mut state = State::new(Arc::clone(reader.header()));
    let mut reading = Reading::new(Arc::clone(reader.header()));
    while let Some(record) = reader.next_record()? {
        reading.follow(&mut state, &record);
    }
    Ok(reading.figures())
}

impl OperationCounts {
    /// The number of accepted operations that changed the placement: undeploys, migrations and replications.
    pub fn changes(&self) -> u64 {
        self.undeploy + self.migrate + self.replicate
    }

    /// Counts accepted operations of a name, if they have a count here.
    const fn accepted(&mut self, operation: AgentOperation, count: u64) {
        match operation {
            AgentOperation::Undeploy => self.undeploy += count,
            AgentOperation::Migrate => self.migrate += count,
            AgentOperation::Replicate => self.replicate += count,
            AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake => {}
        }
    }

    fn add(&mut self, other: &OperationCounts) {
        self.undeploy += other.undeploy;
        self.nop += other.nop;
        self.migrate += other.migrate;
        self.replicate += other.replicate;
        self.inhibited += other.inhibited;
    }
}

impl FurtherCounts {
    /// Counts accepted operations of a name, if they have a count here.
    const fn accepted(&mut self, operation: AgentOperation, count: u64) {
        match operation {
            AgentOperation::Undeploy | AgentOperation::Migrate | AgentOperation::Replicate => {}
            AgentOperation::Adapt => self.adapt += count,
            AgentOperation::Sleep => self.sleep += count,
            AgentOperation::Wake => self.wake += count,
        }
    }
}

impl RunFigures {
    /// The figures of the first group with this name.
    pub fn group(&self, name: &str) -> Option<&GroupFigures> {
        self.groups.iter().find(|group| group.group == name)
    }
}

/// Pearson's correlation coefficient r of pairs of counts; `None` if either series is constant.
pub fn pearson(pairs: &[(u64, u64)]) -> Option<f64> {
    let is_constant = |part: fn(&(u64, u64)) -> u64| pairs.windows(2).all(|two| part(&two[0]) == part(&two[1]));
    if is_constant(|pair| pair.0) || is_constant(|pair| pair.1) {
        return None;
    }
    let mean = |part: fn(&(u64, u64)) -> u64| pairs.iter().map(part).sum::<u64>() as f64 / pairs.len() as f64;
    let (mean_x, mean_y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
        pairs.iter().map(|(x, y)| term(*x as f64 - mean_x, *y as f64 - mean_y)).sum()
    };
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    Some(xy / (xx * yy).sqrt())
}
