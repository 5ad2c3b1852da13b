//! The first line of a trace: what was run, where, by whom, and by which rules.

use mario_domain::{
    Application, ApplicationId, Capacity, Fact, Flavour, Hardware, Id, Models, NodeId, OwnerId, Quantity, Sleep,
};
use serde::{Deserialize, Serialize};

use super::calls::{TracedCall, TrafficKind};
use super::live::TracedLive;
use super::record::{Record, Target};

/// The newest version of the format that is read here; all before it are read, too.
pub const FORMAT: u64 = 7;

/// What was run, where, by whom, and by which rules.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub mario_trace: u64,
    /// What wrote the trace.
    pub program: String,
    /// The name of the scenario.
    pub scenario: String,
    /// The seed of the run.
    pub seed: u64,
    /// When the run ends.
    pub duration: f64,
    /// The time between two steps of mobility.
    pub step: f64,
    /// The time between two evaluations of one agent.
    pub evaluation_period: f64,
    /// The budget of one decision, in inferences, if that is not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision_budget: Option<u64>,
    /// How much is recorded.
    pub detail: Detail,
    /// How agents see their clients' requests, by name.
    pub observation: String,
    /// How client requests find an instance, by name.
    pub routing: String,
    /// How requests to manage are judged.
    pub arbitration: Arbitration,
    /// How long agents remember inhibitions.
    pub memory: Memory,
    /// With a periodic memory: it is cleared every this many evaluations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgets_every: Option<u64>,
    /// If owners of nodes have initiative: how many evaluations an agent has left when its eviction is announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<u64>,
    /// What is run.
    pub applications: Vec<TracedApplication>,
    /// What applications call, application by application in the order of stages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<TracedCall>,
    /// Where applications call others: how client requests travelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficKind>,
    /// What the tiers are called, from the top down; empty when they have no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<String>,
    /// Whether the trace records for each application which requests were late and how long they took.
    #[serde(default, skip_serializing_if = "is_false")]
    pub measures: bool,
    /// The models of energy, money and carbon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Models>,
    /// Data of live nodes only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<TracedLive>,
    /// Where.
    pub nodes: Vec<TracedNode>,
    /// What else is known.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// What agents decide by.
    pub policies: Vec<TracedPolicy>,
    /// What node managers decide by.
    #[serde(default)]
    pub acceptances: Vec<TracedPolicy>,
    /// Who uses it.
    #[serde(default)]
    pub users: Vec<TracedUser>,
}

/// How much a trace records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Everything.
    Full,
    /// Everything but evaluations.
    Operations,
    /// Counts, and neither instances nor users one by one.
    Summary,
}

impl Detail {
    /// Whether a trace of this level has records of this kind.
    pub fn has(self, record: &Record) -> bool {
        match record {
            Record::Evaluation(_) => self == Detail::Full,
            Record::Handover(_)
            | Record::Cycle(_)
            | Record::NodeDown(_)
            | Record::NodeLeaving(_)
            | Record::NodeUp(_)
            | Record::LinkDown(_)
            | Record::LinkUp(_)
            | Record::Owner(_)
            | Record::Woken(_)
            | Record::Client(_) => self != Detail::Summary,
            Record::Handovers(_)
            | Record::Counts(_)
            | Record::Gone(_)
            | Record::Owners(_)
            | Record::Wakings(_)
            | Record::Clients(_) => self == Detail::Summary,
            Record::Deployed(_)
            | Record::Update(_)
            | Record::Regret(_)
            | Record::Responses(_)
            | Record::Usage(_)
            | Record::Latency(_)
            | Record::Traffic(_)
            | Record::Calls(_)
            | Record::Live(_)
            | Record::End(_) => true,
        }
    }
}

/// How requests to manage are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arbitration {
    /// By the managers of all nodes concerned; all accepted operations are enacted together.
    Managers,
    /// Each is enacted before the next is judged, by free hardware alone.
    Sequential,
    /// The plan of a central planner is enacted step by step.
    Central,
}

/// How long agents remember inhibitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// For as many of their last evaluations as their policy says.
    Sliding,
    /// The memory is cleared periodically.
    Periodic,
}

/// An application in a header.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TracedApplication {
    /// Which application.
    pub id: ApplicationId,
    /// Who runs it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<OwnerId>,
    /// What one instance needs of its node.
    pub hardware: Hardware,
    /// The client requests that one instance handles in one evaluation period.
    pub max_rate: Quantity,
    /// The latency that a client request tolerates.
    pub max_latency: Quantity,
    /// The ways to run it, the default first; empty if there is one only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flavours: Vec<Flavour>,
    /// How its instances sleep, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep: Option<Sleep>,
    /// The group that it belongs to in figures.
    #[serde(default)]
    pub kind: String,
    /// The place of the policy of its agents.
    pub policy: u32,
}

/// A node in a header.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TracedNode {
    /// Which node.
    pub id: NodeId,
    /// All the hardware it has.
    pub capacity: Capacity,
    /// How far it is from the top.
    #[serde(default)]
    pub tier: u32,
    /// The places of the nodes that it has a link to.
    pub neighbours: Vec<u32>,
    /// Latitude and longitude.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 2]>,
    /// Whether users can be connected to it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub access_point: bool,
    /// The place of its manager's own policy in `acceptances`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<u32>,
}

/// A policy in a header.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracedPolicy {
    /// What people call it.
    pub name: String,
    /// For how many of its last evaluations an agent remembers what was inhibited.
    #[serde(default)]
    pub memory: u64,
    /// Name and text of the policy, then of what it loads.
    pub files: Vec<(String, String)>,
}

/// A user in a header.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracedUser {
    /// Which user.
    pub id: Id,
    /// The place of the application used.
    pub application: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

impl TracedApplication {
    /// Its descriptor in the words of the domain.
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

    /// The place of the flavour that a target names, if it names one.
    pub fn find_flavour(&self, target: &Target) -> Option<u32> {
        let Target::Flavour(id) = target else { return None };
        self.flavours.iter().position(|flavour| flavour.id.id() == id).map(|place| place as u32)
    }

    /// What one instance in the flavour at this place needs of its node.
    pub fn needed_in(&self, flavour: u32) -> Hardware {
        self.flavours.get(flavour as usize).map_or(self.hardware, |flavour| flavour.hardware)
    }

    /// What one instance in the flavour at this place holds of its node, awake or asleep.
    pub fn held_in(&self, flavour: u32, is_asleep: bool) -> Hardware {
        if is_asleep { self.sleep.unwrap_or_default().keeps } else { self.needed_in(flavour) }
    }
}

impl Header {
    /// Whether any application has flavours.
    pub fn has_flavours(&self) -> bool {
        self.applications.iter().any(|application| !application.flavours.is_empty())
    }

    /// Whether any application sleeps.
    pub fn has_sleep(&self) -> bool {
        self.applications.iter().any(|application| application.sleep.is_some())
    }

    /// What is wrong with the indices in the header, if anything.
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
