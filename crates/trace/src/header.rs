//! The first line of a trace.

use mario_domain::{Application, Capacity, Duration, Fact, Id, Models, NodeId};
use serde::Serialize;

use crate::record::Detail;
use crate::reference::{AcceptanceRef, ApplicationRef, NodeRef, PolicyRef};

/// The version of the format. A simulated run uses the lowest version that covers its features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// The basic format.
    Second,
    /// For runs with agents that look back, several kinds of hardware, flavours, a policy of agents that mentions
    /// `adapt`, updates of policies, measures or models.
    Third,
    /// For traces joined from the parts of live nodes. Adds [`Header::live`].
    Fourth,
    /// For runs in which owners of nodes may evict or shrink instances. Adds [`Header::notice`].
    Fifth,
    /// For runs in which an application can sleep, or a policy of agents mentions `sleep` or `wake`.
    Sixth,
    /// For runs in which applications call others. Adds [`Header::calls`] and [`Header::traffic`].
    Seventh,
    /// For runs with anchors: instances that operators deployed, and that do not undeploy themselves; and for traces of live
    /// nodes of which one may have been drained, with a record of that in its journal.
    Eighth,
}

/// The header of a trace. The first line has the version and the program, then these fields as keys, in order.
#[derive(Clone, Debug, Serialize)]
pub struct Header<'a> {
    /// The version of the format that the run needs. [`Version::Second`] is written as 3 if there are measures or
    /// models.
    #[serde(skip)]
    pub version: Version,
    /// The scenario's name.
    pub scenario: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The duration of the run.
    pub duration: Duration,
    /// The time between two steps of mobility.
    pub step: Duration,
    /// The time between two evaluations of an agent.
    pub evaluation_period: Duration,
    /// The budget of one decision, in inferences; `None` for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_budget: Option<u64>,
    /// The level of detail of the trace.
    pub detail: Detail,
    /// The name of the observation strategy.
    pub observation: &'a str,
    /// The name of the routing strategy.
    pub routing: &'a str,
    /// The name of the arbitration strategy.
    pub arbitration: &'a str,
    /// The name of the memory strategy.
    pub memory: &'a str,
    /// The number of evaluations after which memory is cleared; `None` unless memory is periodic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgets_every: Option<u32>,
    /// The number of evaluations that an agent has left after its eviction is announced; `None` if no owner of a node
    /// may evict or shrink instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<u32>,
    /// The applications.
    pub applications: Vec<HeaderApplication<'a>>,
    /// The calls between applications, ordered by caller and stage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<HeaderCall>,
    /// How client requests were simulated: as `messages` or as `rates`; `None` if no application calls others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<&'a str>,
    /// The names of the tiers, from the top down; empty if the tiers have no names.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub tiers: &'a [String],
    /// Whether the trace ends with statistics of late requests and response times of each application.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub measures: bool,
    /// The models of energy, money and carbon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<&'a Models>,
    /// Data of live nodes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<HeaderLive>,
    /// The infrastructure.
    pub nodes: Vec<HeaderNode<'a>>,
    /// Extra facts about applications and nodes.
    pub facts: Vec<&'a Fact>,
    /// The policies of agents.
    pub policies: Vec<HeaderPolicy<'a>>,
    /// The policies of node managers.
    pub acceptances: Vec<HeaderPolicy<'a>>,
    /// The users.
    pub users: Vec<HeaderUser<'a>>,
}

/// The additional header of live nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HeaderLive {
    /// Time 0 of the trace, in milliseconds since 1970.
    pub began_ms: u64,
    /// Nodes that other nodes mention, but that have no part.
    pub silent: Vec<NodeRef>,
    /// Nodes that have an acceptance policy.
    pub acceptances: Vec<NodeRef>,
    /// Nodes whose facts differ between two of their parts. [`Header::facts`] has those of the part read last.
    pub facts_changed: Vec<NodeRef>,
    /// For each application, how many of [`Header::facts`] belong to its description: the first ones to the first, and
    /// so on. Only written if an application has several descriptions, because then the subject of a fact does not say
    /// to which it belongs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub application_facts: Vec<usize>,
}

/// An application in a header.
#[derive(Clone, Debug, Serialize)]
pub struct HeaderApplication<'a> {
    /// Its descriptor.
    #[serde(flatten)]
    pub application: &'a Application,
    /// Its group in figures.
    pub kind: &'a str,
    /// The policy of its agents.
    pub policy: PolicyRef,
    /// Whether an instance that an operator deploys is an anchor. Not used for live nodes, where each instance says so
    /// itself.
    #[serde(rename = "anchor", skip_serializing_if = "std::ops::Not::not")]
    pub is_anchor: bool,
}

/// A call in a header.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HeaderCall {
    /// The calling application.
    pub caller: ApplicationRef,
    /// The stage of the caller, from 0.
    pub stage: u32,
    /// `parallel` if the requests of the stage are sent at once, `sequence` if one after another.
    pub order: &'static str,
    /// The called application.
    pub application: ApplicationRef,
    /// The number of requests that the caller sends for each request that it serves.
    pub requests: u32,
}

/// A node in a header.
#[derive(Clone, Debug, Serialize)]
pub struct HeaderNode<'a> {
    /// Its id.
    pub id: &'a NodeId,
    /// Its hardware.
    pub capacity: Capacity,
    /// Its tier. 0 is the top.
    pub tier: u16,
    /// Its neighbours.
    pub neighbours: Vec<NodeRef>,
    /// Latitude and longitude.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 2]>,
    /// Whether users can be connected to it.
    #[serde(rename = "access_point", skip_serializing_if = "std::ops::Not::not")]
    pub is_access_point: bool,
    /// The acceptance policy of its manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<AcceptanceRef>,
}

/// A policy in a header.
#[derive(Clone, Debug, Serialize)]
pub struct HeaderPolicy<'a> {
    /// Its name.
    pub name: &'a str,
    /// The number of evaluations for which its agents remember an inhibition.
    pub memory: u32,
    /// The names and texts of its files. The first is the policy itself.
    pub files: &'a [(String, String)],
}

/// A user in a header.
#[derive(Clone, Debug, Serialize)]
pub struct HeaderUser<'a> {
    /// The user's id.
    pub id: &'a Id,
    /// The user's application.
    pub application: ApplicationRef,
}

/// The header with the version and the program.
#[derive(Serialize)]
struct Line<'a> {
    mario_trace: u32,
    program: &'static str,
    #[serde(flatten)]
    header: &'a Header<'a>,
}

impl Header<'_> {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let program = concat!("mario ", env!("CARGO_PKG_VERSION"));
        let mario_trace = match self.version {
            Version::Second if !self.measures && self.models.is_none() => 2,
            Version::Second | Version::Third => 3,
            Version::Fourth => 4,
            Version::Fifth => 5,
            Version::Sixth => 6,
            Version::Seventh => 7,
            Version::Eighth => 8,
        };
        let line = Line { mario_trace, program, header: self };
        serde_json::to_writer(out, &line).expect("writing to memory does not fail");
    }
}
