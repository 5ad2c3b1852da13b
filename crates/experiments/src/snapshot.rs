//! The state of a colony at a given time, as a scenario. It is for runs that cannot be simulated again, such as those
//! of live nodes.
//!
//! The state consists of the placement, the last observations of agents, and the nodes, applications and policies.
//! [`ColonySnapshot::scenario`] turns it into a scenario that starts from this state: the instances are deployed, and
//! stationary users send the client requests that agents observed. [`ColonySnapshot::left_out`] describes what the
//! scenario lacks or only approximates.

mod of_nodes;
mod of_trace;

use std::collections::BTreeMap;

use mario_domain::{ApplicationId, Capacity, Duration, Fact, Flavour, Hardware, NodeId, Quantity, Sleep};
use mario_policy::PolicyText;
use mario_scenario::topology::{ExportError, write_graphml};
use mario_scenario::{NodeDescription, NodeIndex, TopologyBuilder, TopologyError};
use serde_json::{Map, Value, json};

pub use of_nodes::{NodeInstance, NodeState};

/// The latency of all links if none is known, in milliseconds. Otherwise links of unknown latency get the mean of the
/// known ones.
const LATENCY_UNKNOWN: f64 = 1.0;

/// The duration that the scenario sets, in evaluation periods.
const EVALUATIONS: f64 = 60.0;

/// The state of a colony at a given time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ColonySnapshot {
    /// The name of the colony.
    pub name: String,
    /// The time between two evaluations of an agent, in milliseconds.
    pub evaluation_period: f64,
    /// The nodes.
    pub nodes: Vec<SnapshotNode>,
    /// The links between nodes, by node indices with the smaller first, with their latency in milliseconds if known.
    pub links: BTreeMap<(usize, usize), Option<f64>>,
    /// The applications.
    pub applications: Vec<SnapshotApplication>,
    /// The instances, as indices of application and node.
    pub instances: Vec<(usize, usize)>,
    /// Client requests per evaluation period: the index of the application, the index of the node before their last hop
    /// or of the instance's own node, and their number.
    pub demand: Vec<(usize, usize, f64)>,
    /// Descriptions for users of what the scenario lacks or only approximates.
    pub left_out: Vec<String>,
}

/// A node.
#[derive(Clone, PartialEq, Debug)]
pub struct SnapshotNode {
    /// The node.
    pub id: NodeId,
    /// The hardware of the node.
    pub capacity: Capacity,
    /// The index of its tier, from 0 at the top.
    pub tier: u16,
    /// Further facts about the node.
    pub facts: Vec<Fact>,
}

/// An application.
#[derive(Clone, PartialEq, Debug)]
pub struct SnapshotApplication {
    /// The application.
    pub id: ApplicationId,
    /// The group that it belongs to in figures.
    pub kind: String,
    /// The hardware that one instance needs.
    pub hardware: Hardware,
    /// The client requests that one instance handles per evaluation period.
    pub max_rate: Quantity,
    /// The latency that a client request tolerates, in milliseconds.
    pub max_latency: Quantity,
    /// The flavours; empty if there are none.
    pub flavours: Vec<Flavour>,
    /// The sleep settings; `None` if instances cannot sleep.
    pub sleep: Option<Sleep>,
    /// Further facts about the application.
    pub facts: Vec<Fact>,
    /// The policy of its agents.
    pub policy: PolicyText,
}

/// Why there is no snapshot, or no scenario of it.
#[derive(Debug)]
pub enum SnapshotError {
    /// The trace cannot be read.
    Read(mario_trace::reader::ReadError),
    /// The trace has only counts, no placement.
    OnlyCounts,
    /// No instance is deployed at that time.
    Empty,
    /// The trace ends before that time.
    Outside {
        /// When the trace ends.
        end: f64,
    },
    /// The nodes do not form a valid infrastructure.
    Topology(TopologyError),
    /// The infrastructure cannot be exported.
    Export(ExportError),
}

impl ColonySnapshot {
    /// Returns the scenario that starts from this state, as the content of a scenario file. The topology and the
    /// policies are embedded in it. Applications without an instance are omitted.
    pub fn scenario(&self) -> Result<Value, SnapshotError> {
        if self.instances.is_empty() {
            return Err(SnapshotError::Empty);
        }
        let mut files = Map::new();
        files.insert("topology.graphml".to_owned(), json!(self.topology()?));
        let mut applications = Vec::new();
        for (place, application) in self.applications.iter().enumerate().filter(|(place, _)| self.has_instance(*place))
        {
            applications.push(Self::application(place, application, &mut files));
        }
        let deploys: Vec<Value> = self.instances.iter().map(|(application, node)| {
            json!({ "application": self.applications[*application].id, "node": self.nodes[*node].id })
        }).collect();
        let users: Vec<Value> = self
            .demand
            .iter()
            .filter(|(application, ..)| self.has_instance(*application))
            .zip(1..)
            .map(|((application, node, rate), number)| {
                json!({
                    "id": number,
                    "application": self.applications[*application].id,
                    "node": self.nodes[*node].id,
                    "period": (self.evaluation_period / rate).max(0.001),
                })
            })
            .collect();
        let period = self.evaluation_period;
        let mut scenario = json!({
            "name": self.name,
            "duration": EVALUATIONS * period,
            "topology": { "kind": "file", "file": "topology.graphml", "access_points": "all" },
            "application": applications,
            "deploy": deploys,
            "agents": { "start": 0, "period": period },
            "managers": { "period": period / 2.0 },
            "workload": { "kind": "periodic", "period": period, "phase": "spread" },
            "mobility": { "kind": "static", "users": users.len(), "step": 10.0 * period },
            "user": users,
        });
        scenario["files"] = Value::Object(files);
        Ok(scenario)
    }

    fn has_instance(&self, application: usize) -> bool {
        self.instances.iter().any(|(of, _)| *of == application)
    }

    fn application(place: usize, application: &SnapshotApplication, files: &mut Map<String, Value>) -> Value {
        let directory = format!("policies/{}", place + 1);
        for (name, text) in &application.policy.files {
            files.insert(format!("{directory}/{name}"), json!(text));
        }
        let main = application.policy.files.first().map_or("policy.pl", |(name, _)| name);
        let mut value = json!({
            "id": application.id,
            "kind": if application.kind.is_empty() { "all" } else { &application.kind },
            "hardware": application.hardware,
            "max_rate": application.max_rate,
            "max_latency": application.max_latency,
            "policy": format!("{directory}/{main}"),
            "memory": application.policy.memory,
        });
        if !application.facts.is_empty() {
            let facts = application.facts.iter().map(|fact| (fact.key.to_string(), json!(fact.value)));
            value["facts"] = Value::Object(facts.collect());
        }
        if let Some(Sleep { keeps, start }) = application.sleep {
            value["sleep"] = json!({ "keeps": keeps, "start": start });
        }
        if !application.flavours.is_empty() {
            value["flavour"] = application
                .flavours
                .iter()
                .map(|flavour| {
                    json!({
                        "id": flavour.id, "hardware": flavour.hardware, "max_rate": flavour.max_rate,
                        "max_latency": flavour.max_latency, "quality": flavour.quality,
                    })
                })
                .collect();
        }
        value
    }

    /// The nodes and links as `GraphML`.
    fn topology(&self) -> Result<String, SnapshotError> {
        let mut builder = TopologyBuilder::with_capacity(self.nodes.len(), self.links.len());
        for node in &self.nodes {
            let SnapshotNode { id, capacity, tier, facts } = node.clone();
            let described = NodeDescription { id, capacity, tier, position: None, is_access_point: true, facts };
            builder.node(described).map_err(SnapshotError::Topology)?;
        }
        let known: Vec<f64> = self.links.values().flatten().copied().collect();
        let typical = if known.is_empty() { LATENCY_UNKNOWN } else { known.iter().sum::<f64>() / known.len() as f64 };
        for ((one, other), latency) in &self.links {
            let latency = Duration::of(latency.unwrap_or(typical));
            let ends = (NodeIndex::at(*one), NodeIndex::at(*other));
            builder.link(ends.0, ends.1, latency, None).map_err(SnapshotError::Topology)?;
        }
        let topology = builder.build().map_err(SnapshotError::Topology)?;
        write_graphml(&topology).map_err(SnapshotError::Export)
    }
}

impl std::fmt::Display for SnapshotError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SnapshotError::Read(error) => error.fmt(formatter),
            SnapshotError::OnlyCounts => formatter.write_str("the trace has only counts, and no placement"),
            SnapshotError::Empty => formatter.write_str("no instance is there at that moment"),
            SnapshotError::Outside { end } => write!(formatter, "the trace ends at time {end}"),
            SnapshotError::Topology(error) => error.fmt(formatter),
            SnapshotError::Export(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for SnapshotError {}
