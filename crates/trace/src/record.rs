//! The contents of records: the one vocabulary of what is recorded, in traces and in the parts of live nodes.

mod decision;
mod outcome;
mod parsed;
mod written;

use mario_domain::{Capacity, Duration, InstanceId};
use serde::{Deserialize, Serialize};

use crate::reference::{ApplicationRef, NodeRef};

pub use decision::{FactsAndDecision, Neighbour, OperationTarget, Proposal, RequestFact, Seen, Solution, Target};
pub use outcome::{Outcome, OwnerAct, OwnerActKind, Verdict};
pub(crate) use parsed::{VerdictWord, seen};
pub use written::Element;
pub(crate) use written::{list, value, write_verdict};

/// The level of detail of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// All records.
    Full,
    /// All records except evaluations.
    Operations,
    /// Counts instead of records of individual instances and users, except for the instances at the start.
    Summary,
}

impl Detail {
    /// The name of the level of detail, as in the header of a trace.
    pub const fn as_str(self) -> &'static str {
        match self {
            Detail::Full => "full",
            Detail::Operations => "operations",
            Detail::Summary => "summary",
        }
    }
}

/// An evaluation of an agent.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The agent's instance.
    pub instance: &'a InstanceId,
    /// Its application.
    pub application: ApplicationRef,
    /// Its node.
    pub node: NodeRef,
    /// The free hardware that the agent saw.
    pub free: Capacity,
    /// The sum of the rates that the agent saw.
    pub rate: f64,
    /// The rate that its instance handles in its flavour; `None` for the default flavour, and for live nodes.
    pub max_rate: Option<f64>,
}

/// Why a node is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// It crashed.
    Crash,
    /// It left as announced.
    Leave,
    /// It has not joined yet.
    Absent,
}

impl Cause {
    /// The name of the cause in traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Cause::Crash => "crash",
            Cause::Leave => "leave",
            Cause::Absent => "absent",
        }
    }
}

/// A comparison of the current placement with the best placement found for the same users.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Regret<'a> {
    /// How the best placement was searched for.
    pub search: &'a str,
    /// Connected users.
    pub users: u64,
    /// The value of the placement.
    pub actual: PlacementValue,
    /// The value of the best placement found.
    pub best: PlacementValue,
}

/// The value of a placement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlacementValue {
    /// Applications with an instance.
    pub present: i64,
    /// Satisfied users.
    pub satisfied: i64,
    /// Users who reach an instance.
    pub served: i64,
    /// The total latency of the users who reach an instance, in millionths of a millisecond.
    pub latency_millionths: i64,
    /// Instances.
    pub instances: i64,
}

/// The results of client requests.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct UserResults {
    /// The number served.
    pub served: u64,
    /// The number lost.
    pub lost: u64,
    /// The total response time of the served requests.
    pub response: Duration,
}

/// The results of the requests of a call.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct CallResults {
    /// The number sent.
    pub sent: u64,
    /// The number served.
    pub served: u64,
    /// The number lost.
    pub lost: u64,
    /// The total response time of the served requests.
    pub response: Duration,
}
