//! The instances on a node.

use std::net::SocketAddr;
use std::sync::Arc;

use mario_domain::{ApplicationId, FlavourId, InstanceId, NodeId, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::Report;
use super::words::{AnyId, Capacity, Hardware, Word, words};

/// The instances on a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Instances {
    /// The instances that it owns, then those in its custody.
    pub instances: Vec<Instance>,
}

/// An instance on a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Instance {
    /// The node owns it.
    Owned(Box<OwnedInstance>),
    /// The node has handed it over, and does not know yet that it arrived.
    InCustody(Box<InstanceInCustody>),
    /// It is in a state that only newer versions know.
    #[schemars(skip)]
    Other(Box<OtherInstance>),
}

/// The state of an owned instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum OwnedState {
    /// The node owns the instance.
    Owned,
}

/// The state of an instance in custody.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum CustodyState {
    /// The node has handed the instance over.
    InCustody,
}

/// An instance that its node owns.
#[allow(clippy::struct_excessive_bools, reason = "each is an independent fact")]
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OwnedInstance {
    /// Its id.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// Its application.
    #[schemars(with = "AnyId")]
    pub application: ApplicationId,
    /// The version of its description.
    #[serde(default)]
    pub version: u64,
    /// The digest of its description.
    #[schemars(with = "String")]
    pub digest: Option<String>,
    /// The version that a rollback restores; null if there is none.
    pub previous_version: Option<u64>,
    /// Its flavour; null if the application has none.
    #[schemars(with = "Option<AnyId>")]
    pub flavour: Option<FlavourId>,
    /// `owned`.
    pub state: OwnedState,
    /// Whether it sleeps: its workload is stopped until the next client request.
    #[serde(default)]
    pub is_asleep: bool,
    /// How often it has migrated.
    #[serde(default)]
    pub epoch: u64,
    /// Whether its agent can neither migrate nor undeploy it.
    #[serde(default)]
    pub is_pinned: bool,
    /// Whether its agent cannot undeploy it.
    #[serde(default)]
    pub is_anchor: bool,
    /// Whether a transfer of it, or of a replica of it, is being prepared.
    #[serde(default)]
    pub is_transferring: bool,
    /// How often it may still replicate; null for no limit.
    pub replications_left: Option<u32>,
    /// The hardware that it occupies.
    #[schemars(with = "Hardware")]
    pub hardware: Option<Hardware>,
    /// How many client requests it handles in an evaluation period.
    #[schemars(with = "f64")]
    pub max_rate: Option<Quantity>,
    /// The latency to clients that it tolerates, in milliseconds.
    #[schemars(with = "f64")]
    pub max_latency: Option<Quantity>,
    /// How often its agent has evaluated its policy on this node.
    pub evaluations: Option<u32>,
    /// Its copy; null if there is none.
    pub copy: Option<CopyStatus>,
    /// Its last restart; null if its copy was never down.
    pub restart: Option<RestartStatus>,
    /// Why its copy must not run now; null if it may.
    pub held_back: Option<String>,
    /// What its agent sees.
    #[serde(default)]
    pub facts: AgentFacts,
    /// The latest evaluations and verdicts, oldest first; null before the first.
    pub decisions: Option<Vec<Arc<Report>>>,
}

/// An instance that its node has handed over.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstanceInCustody {
    /// Its id.
    #[schemars(with = "AnyId")]
    pub instance: InstanceId,
    /// Its application.
    #[schemars(with = "AnyId")]
    pub application: ApplicationId,
    /// `in-custody`.
    pub state: CustodyState,
    /// The node that it was handed over to.
    #[schemars(with = "AnyId")]
    pub target: Option<NodeId>,
    /// Whether its agent cannot undeploy it.
    #[serde(default)]
    pub is_anchor: bool,
    /// Its copy on this node; null if it has stopped.
    pub copy: Option<CopyStatus>,
}

/// An instance in a state that only newer versions know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OtherInstance {
    /// Its id.
    pub instance: InstanceId,
    /// Its application.
    pub application: Option<ApplicationId>,
    /// The state.
    #[serde(default)]
    pub state: String,
}

/// What an agent sees.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AgentFacts {
    /// The client requests of the last evaluation period; null before its end.
    pub requests: Option<Vec<RequestRate>>,
    /// The neighbours whose links are up.
    #[serde(default)]
    #[schemars(with = "Vec<AnyId>")]
    pub neighbours: Vec<NodeId>,
    /// The free hardware of the node.
    #[schemars(with = "Capacity")]
    pub free: Option<Capacity>,
}

/// Client requests that arrived by one last hop with one latency.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RequestRate {
    /// The last hop: a neighbour, or `self` for clients of this node.
    pub neighbour: String,
    /// How many arrived in the evaluation period.
    pub rate: f64,
    /// The latency of the path from the client, in milliseconds.
    pub latency: f64,
}

/// A copy of an application: its running workload.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CopyStatus {
    /// The id of the copy on this node.
    #[serde(default)]
    pub workload: String,
    /// Its state.
    pub state: Word<CopyState>,
    /// What runs it; null before it starts.
    pub driver: Option<String>,
    /// Its address; null before it serves.
    #[schemars(with = "Option<String>")]
    pub address: Option<SocketAddr>,
    /// The client requests that it is answering.
    #[serde(default)]
    pub open_requests: u64,
    /// The processor time that it used; null if it is not measured.
    pub cpu_time_ms: Option<u64>,
    /// The memory that it uses; null if it is not measured.
    pub memory_bytes: Option<u64>,
}

words! {
    /// The state of a copy.
    CopyState {
        /// It starts, and is not healthy yet.
        Starting = "starting",
        /// It serves.
        Healthy = "healthy",
        /// It finishes its open requests.
        Draining = "draining",
        /// It has ended.
        Ended = "ended",
    }
}

/// Why a copy was down last.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RestartStatus {
    /// Why it ended or did not start.
    pub cause: String,
    /// How often in a row.
    #[serde(default)]
    pub failures: u32,
    /// When it is started again; null if it was started since.
    pub starts_in_ms: Option<u64>,
}

impl RestartStatus {
    /// Whether the program cannot be executed, because it is missing, is not a program, or may not be executed: another
    /// start would fail in the same way.
    pub fn is_hopeless(&self) -> bool {
        let causes = ["No such file or directory", "Permission denied", "Exec format error"];
        self.cause.starts_with("cannot start: `") && causes.iter().any(|cause| self.cause.contains(cause))
    }
}

impl Instance {
    /// Its id.
    pub fn id(&self) -> &InstanceId {
        match self {
            Instance::Owned(owned) => &owned.instance,
            Instance::InCustody(custody) => &custody.instance,
            Instance::Other(other) => &other.instance,
        }
    }

    /// Its application; `None` if a newer node does not say.
    pub fn application(&self) -> Option<&ApplicationId> {
        match self {
            Instance::Owned(owned) => Some(&owned.application),
            Instance::InCustody(custody) => Some(&custody.application),
            Instance::Other(other) => other.application.as_ref(),
        }
    }

    /// The instance, if its node owns it.
    pub fn owned(&self) -> Option<&OwnedInstance> {
        match self {
            Instance::Owned(owned) => Some(owned),
            Instance::InCustody(_) | Instance::Other(_) => None,
        }
    }
}

impl OwnedInstance {
    /// The state of its copy.
    pub fn copy_state(&self) -> Option<&Word<CopyState>> {
        self.copy.as_ref().map(|copy| &copy.state)
    }

    /// Whether its copy is healthy.
    pub fn is_healthy(&self) -> bool {
        self.copy_state().is_some_and(|state| state.is(&CopyState::Healthy))
    }

    /// Whether it answers client requests, if need be after it has woken.
    pub fn serves(&self) -> bool {
        self.is_asleep || self.is_healthy()
    }

    /// Whether its copy has ended or not started, and is not healthy again.
    pub fn is_down(&self) -> bool {
        self.restart.is_some() && !self.is_healthy()
    }
}
