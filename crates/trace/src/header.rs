//! The first line of a trace.

use mario_domain::{Application, Capacity, Duration, Fact, Id, Models, NodeId};
use serde::Serialize;

use crate::place::{AcceptancePlace, ApplicationPlace, NodePlace, PolicyPlace};
use crate::record::Detail;

/// The version of the format. A run is written in the oldest version that suffices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// What every run has.
    Second,
    /// For runs in which agents remember what happened, hardware has several kinds, or applications have flavours. A run with measures or models is written so, too.
    Third,
    /// For live nodes: [`Header::live`] is there.
    Fourth,
    /// For runs in which owners of nodes have initiative: [`Header::notice`] is there.
    Fifth,
    /// For runs in which an application sleeps, or a policy of agents mentions it.
    Sixth,
    /// For runs in which applications call others: [`Header::calls`] and [`Header::traffic`] are there.
    Seventh,
}

/// What is known before the run. The fields are the keys of the first line, in its order.
#[derive(Clone, Debug, Serialize)]
pub struct Header<'a> {
    /// The version of the format that the run needs.
    #[serde(skip)]
    pub version: Version,
    /// The scenario's name.
    pub scenario: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// When the run ends.
    pub duration: Duration,
    /// The time between two steps of mobility.
    pub step: Duration,
    /// The time between two evaluations of an agent.
    pub evaluation_period: Duration,
    /// The budget of one decision, in inferences, if that is not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_budget: Option<u64>,
    /// How much the trace holds.
    pub detail: Detail,
    /// What agents see of their clients' requests, by the name of the strategy.
    pub observation: &'a str,
    /// Which instance a client request goes to, by the name of the strategy.
    pub routing: &'a str,
    /// How requests to manage are judged, by the name of the strategy.
    pub arbitration: &'a str,
    /// How long agents remember, by the name of the strategy.
    pub memory: &'a str,
    /// With a memory that is cleared periodically, every how many evaluations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgets_every: Option<u32>,
    /// If owners of nodes have initiative: how many evaluations an agent has left when its eviction is announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<u32>,
    /// What is run.
    pub applications: Vec<HeaderApplication<'a>>,
    /// What applications call, application by application in the order of stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<HeaderCall>,
    /// Where applications call others, whether client requests were sent one by one, `messages`, or counted, `rates`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<&'a str>,
    /// The names of the tiers, from the top down; empty when they have none.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub tiers: &'a [String],
    /// Whether the trace records for each application which requests were late and how long they took.
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
    /// Extra facts.
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
    /// The time 0 of the trace, in milliseconds since 1970.
    pub began_ms: u64,
    /// Nodes that are named and have no part.
    pub silent: Vec<NodePlace>,
    /// Nodes with an acceptance policy of their own.
    pub acceptances: Vec<NodePlace>,
    /// Nodes whose facts changed between two of their parts; `facts` has the last ones.
    pub facts_changed: Vec<NodePlace>,
}

/// An application in a header.
#[derive(Clone, Debug, Serialize)]
pub struct HeaderApplication<'a> {
    /// Its descriptor.
    #[serde(flatten)]
    pub application: &'a Application,
    /// The group that it belongs to in figures.
    pub kind: &'a str,
    /// The policy of its agents.
    pub policy: PolicyPlace,
}

/// A call in a header.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HeaderCall {
    /// The application whose instances make it.
    pub caller: ApplicationPlace,
    /// Which of the caller's stages it belongs to, from 0.
    pub stage: u32,
    /// Whether the requests of the stage are sent at once, `parallel`, or one after another, `sequence`.
    pub order: &'static str,
    /// The application that is called.
    pub application: ApplicationPlace,
    /// How many requests are sent for each that the caller has served.
    pub requests: u32,
}

/// A node in a header.
#[derive(Clone, Debug, Serialize)]
pub struct HeaderNode<'a> {
    /// Its id.
    pub id: &'a NodeId,
    /// Its hardware.
    pub capacity: Capacity,
    /// How far it is from the top.
    pub tier: u16,
    /// The nodes that it has a link to.
    pub neighbours: Vec<NodePlace>,
    /// Latitude and longitude.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 2]>,
    /// Whether users can be connected to it.
    #[serde(rename = "access_point", skip_serializing_if = "std::ops::Not::not")]
    pub is_access_point: bool,
    /// Its manager's own policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<AcceptancePlace>,
}

/// A policy in a header.
#[derive(Clone, Debug, Serialize)]
pub struct HeaderPolicy<'a> {
    /// Its name.
    pub name: &'a str,
    /// For how many evaluations its agents remember.
    pub memory: u32,
    /// Names and texts of its files, the policy first.
    pub files: &'a [(String, String)],
}

/// A user in a header.
#[derive(Clone, Debug, Serialize)]
pub struct HeaderUser<'a> {
    /// The user's id.
    pub id: &'a Id,
    /// The application that the user uses.
    pub application: ApplicationPlace,
}

/// A header with what every trace of this program begins with.
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
        };
        let line = Line { mario_trace, program, header: self };
        serde_json::to_writer(out, &line).expect("writing to memory does not fail");
    }
}
