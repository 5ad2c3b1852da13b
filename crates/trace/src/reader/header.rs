//! The header of a trace as it is read: the run and its strategies, applications, nodes, policies and users.

use mario_domain::{
    Application, ApplicationId, Capacity, Fact, Flavour, Hardware, Id, Models, NodeId, OwnerId, Quantity, Sleep,
};
use serde::Deserialize;

use crate::record::Detail;

/// The newest supported version of the format. All older versions are supported.
pub const FORMAT: u64 = 8;

/// The header of a trace: the run and its strategies, applications, nodes, policies and users.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub mario_trace: u64,
    /// The program that wrote the trace.
    pub program: String,
    /// The name of the scenario.
    pub scenario: String,
    /// The seed of the run.
    pub seed: u64,
    /// The time at which the run ends. Runs start at 0.
    pub duration: f64,
    /// The time between two steps of mobility.
    pub step: f64,
    /// The time between two evaluations of one agent.
    pub evaluation_period: f64,
    /// The budget of one decision of an agent, in inferences; `None` for the default.
    #[serde(default)]
    pub decision_budget: Option<u64>,
    /// The detail of the trace.
    pub detail: Detail,
    /// The name of the observation strategy.
    pub observation: String,
    /// The name of the routing strategy.
    pub routing: String,
    /// The arbitration strategy.
    pub arbitration: Arbitration,
    /// The memory strategy.
    pub memory: Memory,
    /// With periodic memory, the number of evaluations of an agent after which its memory is cleared, not counting the
    /// first evaluation; `None` with sliding memory.
    #[serde(default)]
    pub forgets_every: Option<u64>,
    /// The number of evaluations that an agent has left when its eviction is announced. `None` before format 5, and in
    /// later formats than 5 if no owner of a node may evict or shrink instances; format 5 always has it.
    #[serde(default)]
    pub notice: Option<u64>,
    /// The applications.
    pub applications: Vec<TracedApplication>,
    /// The calls between applications, ordered by caller, then by stage.
    #[serde(default)]
    pub calls: Vec<TracedCall>,
    /// How client requests were simulated; `None` if no application calls another.
    #[serde(default)]
    pub traffic: Option<TrafficKind>,
    /// The names of the tiers, from the top down; empty if the tiers have no names.
    #[serde(default)]
    pub tiers: Vec<String>,
    /// Whether the trace has a record `latency` for each application.
    #[serde(default)]
    pub measures: bool,
    /// The models of energy, money and carbon; `None` if they are not computed.
    #[serde(default)]
    pub models: Option<Models>,
    /// Data that only traces of live nodes have; `None` for a simulated run.
    #[serde(default)]
    pub live: Option<TracedLive>,
    /// The nodes.
    pub nodes: Vec<TracedNode>,
    /// The extra facts, which agents and managers see as `fact/3`.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// The policies of agents.
    pub policies: Vec<TracedPolicy>,
    /// The policies of node managers.
    #[serde(default)]
    pub acceptances: Vec<TracedPolicy>,
    /// The users.
    #[serde(default)]
    pub users: Vec<TracedUser>,
}

/// A call in a header: requests that instances of one application send to another for each request that they serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct TracedCall {
    /// The index of the calling application.
    pub caller: u32,
    /// The stage in which the caller sends the requests, from 0. A stage starts when the previous one has been
    /// answered.
    pub stage: u32,
    /// The order of the requests of the stage.
    pub order: CallOrder,
    /// The index of the called application.
    pub application: u32,
    /// The number of requests that are sent for each request that the caller serves.
    pub requests: u64,
}

/// The order of the requests of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallOrder {
    /// Each is sent when the previous one has been answered. Such a stage has only one call.
    Sequence,
    /// All are sent at once, including those of the other calls of the stage.
    Parallel,
}

/// How client requests were simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrafficKind {
    /// As individual messages.
    Messages,
    /// As rates.
    Rates,
}

/// The part of a header that only traces of live nodes have.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct TracedLive {
    /// Time 0 of the trace, in milliseconds since the Unix epoch.
    pub began_ms: u64,
    /// Nodes that other nodes mention, but that have no records of their own.
    #[serde(default)]
    pub silent: Vec<u32>,
    /// Nodes with their own acceptance policy.
    #[serde(default)]
    pub acceptances: Vec<u32>,
    /// Nodes whose facts changed during the trace, so that the facts of the header do not always apply.
    #[serde(default)]
    pub facts_changed: Vec<u32>,
    /// For each application, how many of the first facts of the header belong to its description. Empty if each
    /// application has one description, and in traces of older versions.
    #[serde(default)]
    pub application_facts: Vec<usize>,
}

/// The arbitration strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arbitration {
    /// By the managers of all nodes concerned; all accepted operations are enacted together.
    Managers,
    /// One by one, by free hardware and by acceptance policies, also for targets that are not neighbours; each accepted
    /// operation is enacted before the next request is judged.
    Sequential,
    /// By the plan of a central planner, enacted one by one.
    Central,
}

/// The memory strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// Each inhibition is forgotten after [`TracedPolicy::memory`] evaluations.
    Sliding,
    /// The whole memory is cleared after every [`Header::forgets_every`] evaluations, not counting the first.
    Periodic,
}

/// An application in a header.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct TracedApplication {
    /// Its id.
    pub id: ApplicationId,
    /// Its owner, if known.
    #[serde(default)]
    pub owner: Option<OwnerId>,
    /// The hardware of one instance, in the default flavour.
    pub hardware: Hardware,
    /// The maximum number of client requests that one instance in the default flavour handles in one evaluation period.
    pub max_rate: Quantity,
    /// The maximum latency that its client requests tolerate, in the default flavour.
    pub max_latency: Quantity,
    /// Its flavours, the default first; empty if it has none.
    #[serde(default)]
    pub flavours: Vec<Flavour>,
    /// The sleep settings; `None` if its instances cannot sleep.
    #[serde(default)]
    pub sleep: Option<Sleep>,
    /// Its group in figures.
    #[serde(default)]
    pub kind: String,
    /// The index of the policy of its agents. A deployment or an update may name another one.
    pub policy: u32,
    /// Whether an instance that an operator deploys is an anchor. Not recorded for live nodes, where each instance says
    /// so itself.
    #[serde(default)]
    pub anchor: bool,
}

/// A node in a header.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct TracedNode {
    /// Its id.
    pub id: NodeId,
    /// Its total hardware.
    pub capacity: Capacity,
    /// The index of its tier, from 0 at the top.
    #[serde(default)]
    pub tier: u32,
    /// The indices of its neighbours.
    pub neighbours: Vec<u32>,
    /// Latitude and longitude, if known.
    #[serde(default)]
    pub position: Option<[f64; 2]>,
    /// Whether users can be connected to it.
    #[serde(default)]
    pub access_point: bool,
    /// The index of its manager's policy in `acceptances`; `None` if it has none.
    #[serde(default)]
    pub acceptance: Option<u32>,
}

/// A policy in a header.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct TracedPolicy {
    /// Its name.
    pub name: String,
    /// With sliding memory, the number of evaluations for which an agent remembers an inhibition.
    #[serde(default)]
    pub memory: u64,
    /// The name and text of the policy, then of the files that it loads.
    pub files: Vec<(String, String)>,
}

/// A user in a header.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct TracedUser {
    /// The user's id.
    pub id: Id,
    /// The index of the user's application.
    pub application: u32,
}

impl TracedApplication {
    /// Converts the application to the type of `mario_domain`, without what only the trace records, such as its policy.
    pub fn descriptor(&self) -> Application {
        Application {
            id: self.id.clone(),
            owner: self.owner.clone(),
            hardware: self.hardware,
            max_rate: self.max_rate,
            max_latency: self.max_latency,
            flavours: self.flavours.clone(),
            sleep: self.sleep,
        }
    }

    /// The index of the flavour with this id; `None` if the application does not have it.
    pub fn find_flavour(&self, id: &Id) -> Option<u32> {
        self.flavours.iter().position(|flavour| flavour.id.id() == id).map(|place| place as u32)
    }

    /// The hardware that one instance in this flavour needs while it is awake.
    pub fn needed_in(&self, flavour: u32) -> Hardware {
        self.flavours.get(flavour as usize).map_or(self.hardware, |flavour| flavour.hardware)
    }

    /// The hardware that one instance in this flavour holds, awake or asleep.
    pub fn held_in(&self, flavour: u32, is_asleep: bool) -> Hardware {
        if is_asleep { self.sleep.unwrap_or_default().keeps } else { self.needed_in(flavour) }
    }
}

impl Header {
    /// Whether any application has flavours.
    pub fn has_flavours(&self) -> bool {
        self.applications.iter().any(|application| !application.flavours.is_empty())
    }

    /// Whether the instances of any application can sleep.
    pub fn has_sleep(&self) -> bool {
        self.applications.iter().any(|application| application.sleep.is_some())
    }

    /// The first fault that makes the header unusable, such as an index out of range; `None` if there is none.
    pub(super) fn fault(&self) -> Option<String> {
        let (nodes, applications, policies) = (self.nodes.len(), self.applications.len(), self.policies.len());
        for table in [nodes, applications, policies, self.users.len()] {
            if u32::try_from(table).is_err() {
                return Some("a table has more than 2^32 entries".to_owned());
            }
        }
        if let Some(live) = &self.live {
            let named = live.silent.iter().chain(&live.acceptances).chain(&live.facts_changed);
            if let Some(node) = named.copied().find(|node| *node as usize >= nodes) {
                return Some(format!("`live` names the node {node}, and there are {nodes} nodes"));
            }
        }
        for (place, node) in self.nodes.iter().enumerate() {
            for neighbour in &node.neighbours {
                if *neighbour as usize >= nodes {
                    return Some(format!(
                        "node {} has the neighbour {neighbour}, and there are {nodes} nodes",
                        node.id
                    ));
                }
                if *neighbour as usize == place {
                    return Some(format!("node {} is its own neighbour", node.id));
                }
            }
            let acceptances = self.acceptances.len();
            if let Some(lost) = node.acceptance.filter(|acceptance| *acceptance as usize >= acceptances) {
                return Some(format!(
                    "node {} has the policy {lost} of managers, and there are {acceptances} of them",
                    node.id
                ));
            }
        }
        let lost = self.applications.iter().find(|application| application.policy as usize >= policies);
        if let Some(lost) = lost {
            return Some(format!(
                "application {} has the policy {}, and there are {policies} policies",
                lost.id, lost.policy
            ));
        }
        let lost = self.users.iter().find(|user| user.application as usize >= applications);
        if let Some(lost) = lost {
            return Some(format!(
                "user {} uses the application {}, and there are {applications} applications",
                lost.id, lost.application
            ));
        }
        let named = self.calls.iter().flat_map(|call| [call.caller, call.application]);
        if let Some(lost) = named.into_iter().find(|place| *place as usize >= applications) {
            return Some(format!("a call names the application {lost}, and there are {applications} applications"));
        }
        if let Some(fault) = self.models.as_ref().and_then(Models::fault) {
            return Some(fault.to_owned());
        }
        if self.memory == Memory::Periodic && self.forgets_every.is_none_or(|every| every == 0) {
            return Some("with a periodic memory, `forgets_every` is at least 1".to_owned());
        }
        if let Some(empty) = self.policies.iter().chain(&self.acceptances).find(|policy| policy.files.is_empty()) {
            return Some(format!("policy {} has no text", empty.name));
        }
        None
    }
}
