//! What records consist of, except for what parts have too: searches, wakes, and rows of counts.

use mario_domain::{Capacity, Inhibition, InstanceId, OperationCounts};
use serde::Deserialize;

use super::rule::RuleName;
use crate::record::FactsAndDecision;

/// See [`TraceRecord::Evaluation`](super::TraceRecord::Evaluation).
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluation {
    /// The time of the record.
    pub time: f64,
    /// The instance of the agent.
    pub instance: InstanceId,
    /// The node of the instance.
    pub node: u32,
    /// The free hardware that the agent saw.
    pub free: Capacity,
    /// The other facts that it saw, and its decision; `None` if both are the same as at its last evaluation.
    pub seen: Option<FactsAndDecision>,
}

/// The numbers of actions of a node's owner on the instances of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct OwnerCounts {
    /// The application.
    pub application: u32,
    /// The tier of the node.
    pub tier: u32,
    /// Evictions.
    pub evicted: u64,
    /// Shrinks.
    pub shrunk: u64,
    /// Announced evictions.
    pub announced: u64,
}

/// See [`TraceRecord::Woken`](super::TraceRecord::Woken).
#[derive(Clone, PartialEq, Debug)]
pub struct Woken {
    /// The time of the record.
    pub time: f64,
    /// The instance.
    pub instance: InstanceId,
    /// Why its manager inhibited the wake; `None` if it was accepted.
    pub inhibited: Option<Inhibition>,
}

/// See [`TraceRecord::Wakings`](super::TraceRecord::Wakings).
#[derive(Clone, PartialEq, Debug)]
pub struct Wakings {
    /// The time of the record.
    pub time: f64,
    /// The application.
    pub application: u32,
    /// The rule that inhibited the wake; `None` if it was accepted.
    pub inhibited_by: Option<RuleName>,
}

/// How the best placement was searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Greedily: a better placement may exist.
    Greedy,
    /// Exactly: no better placement exists.
    Exact,
}

/// The value of a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct PlacementValue {
    /// Applications with at least one instance.
    pub present: u64,
    /// Users whose nearest instances are all within the tolerated latency and not overloaded.
    pub satisfied: u64,
    /// Users who reach an instance.
    pub served: u64,
    /// The total latency of the served users, in millionths of a millisecond.
    pub latency_millionths: u64,
    /// Instances.
    pub instances: u64,
}

/// The numbers of outcomes of an application in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct OutcomeCounts {
    /// The application.
    pub application: u32,
    /// Agents that proposed nothing.
    pub nop: u64,
    /// Accepted undeploys.
    pub undeploy: u64,
    /// Accepted migrations.
    pub migrate: u64,
    /// Accepted replications.
    pub replicate: u64,
    /// Inhibited proposals of agents.
    pub inhibited: u64,
    /// Accepted deployments of operators.
    pub deployed: u64,
    /// Inhibited deployments of operators.
    pub not_deployed: u64,
    /// Accepted adapts; `None` in a trace without this column.
    #[serde(default)]
    pub adapt: Option<u64>,
    /// Accepted sleeps; `None` in a trace without this column.
    #[serde(default)]
    pub sleep: Option<u64>,
    /// Accepted wakes; `None` in a trace without this column.
    #[serde(default)]
    pub wake: Option<u64>,
}

impl OutcomeCounts {
    /// The accepted operations of agents; 0 without a column.
    pub fn accepted(&self) -> OperationCounts {
        OperationCounts {
            undeploy: self.undeploy,
            migrate: self.migrate,
            replicate: self.replicate,
            adapt: self.adapt.unwrap_or(0),
            sleep: self.sleep.unwrap_or(0),
            wake: self.wake.unwrap_or(0),
        }
    }
}

/// The number of instances of an application in a tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct Placed {
    /// The application.
    pub application: u32,
    /// The tier.
    pub tier: u32,
    /// The number of instances.
    pub instances: u64,
}

/// The totals of a run, including evaluations that are not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Totals {
    /// Evaluations of agents.
    pub evaluations: u64,
    /// Accepted operations.
    pub operations: u64,
    /// Inhibited operations.
    pub inhibited: u64,
    /// Handovers.
    pub handovers: u64,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// Instances at the end.
    pub instances: u64,
}

impl Search {
    /// The name of the search in a trace.
    pub const fn as_str(self) -> &'static str {
        match self {
            Search::Greedy => "greedy",
            Search::Exact => "exact",
        }
    }
}
