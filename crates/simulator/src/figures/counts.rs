//! Counts from which figures are computed: responses per user, usage per application, and operations and events that
//! the paper does not have.

use mario_domain::{AgentOperation, Duration};
use serde::{Deserialize, Serialize, Serializer};

use super::StepCounts;

/// A user's client requests: how many were served, the sum of their response times, and how many were lost.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Responses {
    pub(super) count: u64,
    pub(super) sum: Duration,
    pub(super) lost: u64,
}

/// How much of their capacity the instances of an application used.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Usage {
    pub(super) evaluations: u64,
    /// The sum of the request rate over the evaluations in the default flavour.
    pub(super) requests: f64,
    /// The sum of request rate divided by the capacity of the flavour, over the evaluations in flavours other than the
    /// default.
    pub(super) used_in_flavours: f64,
}

/// Counts of operations and events that the paper does not have. Human-readable formats omit counts of zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct FurtherCounts {
    /// Accepted adapts.
    pub adapt: u64,
    /// Instances that the owners of nodes evicted.
    pub evicted: u64,
    /// How often the owner of a node shrank an instance.
    pub shrunk: u64,
    /// Accepted sleeps.
    pub sleep: u64,
    /// Accepted wakes that an agent proposed.
    pub wake: u64,
    /// How often a client request woke a sleeping instance.
    pub woken: u64,
    /// How often the manager refused to wake a sleeping instance for a client request.
    pub not_woken: u64,
}

/// The count of accepted operations of this name.
pub(super) const fn accepted<'c>(
    step: &'c mut StepCounts,
    further: &'c mut FurtherCounts,
    operation: AgentOperation,
) -> &'c mut u64 {
    match operation {
        AgentOperation::Undeploy => &mut step.undeploy,
        AgentOperation::Migrate => &mut step.migrate,
        AgentOperation::Replicate => &mut step.replicate,
        AgentOperation::Adapt => &mut further.adapt,
        AgentOperation::Sleep => &mut further.sleep,
        AgentOperation::Wake => &mut further.wake,
    }
}

impl FurtherCounts {
    /// Accepted operations of this name; 0 for an operation of the paper, which is not counted here.
    pub fn accepted(&self, operation: AgentOperation) -> u64 {
        let named = self.named();
        named.iter().find(|(name, _)| *name == operation.as_str()).map_or(0, |(_, count)| *count)
    }

    /// The counts with their names.
    fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("adapt", self.adapt),
            ("evicted", self.evicted),
            ("shrunk", self.shrunk),
            ("sleep", self.sleep),
            ("wake", self.wake),
            ("woken", self.woken),
            ("not_woken", self.not_woken),
        ]
    }
}

impl Serialize for FurtherCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.named().map(|(_, count)| count).serialize(serializer);
        }
        serializer.collect_map(self.named().into_iter().filter(|(_, count)| *count > 0))
    }
}
