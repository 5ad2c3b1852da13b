//! The first line of a trace.

use mario_domain::{Application, Capacity, Fact, Id, NodeId};
use mario_scenario::{NodeDescription, Observation, PolicyText, Routing, Scenario};
use serde::Serialize;

use super::Detail;
use mario_scenario::{Arbitration, Memory};

/// The version of the format.
const VERSION: u32 = 2;

#[derive(Serialize)]
pub(super) struct Header<'a> {
    mario_trace: u32,
    program: &'static str,
    scenario: &'a str,
    seed: u64,
    duration: f64,
    step: f64,
    evaluation_period: f64,
    detail: &'static str,
    observation: &'static str,
    routing: &'static str,
    arbitration: &'static str,
    memory: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    forgets_every: Option<u32>,
    applications: Vec<HeaderApplication<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tiers: &'a [String],
    nodes: Vec<HeaderNode<'a>>,
    facts: Vec<&'a Fact>,
    policies: Vec<HeaderPolicy<'a>>,
    acceptances: Vec<HeaderPolicy<'a>>,
    users: Vec<HeaderUser<'a>>,
}

#[derive(Serialize)]
struct HeaderApplication<'a> {
    #[serde(flatten)]
    application: &'a Application,
    kind: &'a str,
    policy: u32,
}

#[derive(Serialize)]
struct HeaderNode<'a> {
    id: &'a NodeId,
    capacity: Capacity,
    tier: u16,
    neighbours: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    access_point: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    acceptance: Option<u32>,
}

#[derive(Serialize)]
struct HeaderPolicy<'a> {
    name: &'a str,
    memory: u32,
    files: &'a [(String, String)],
}

#[derive(Serialize)]
struct HeaderUser<'a> {
    id: &'a Id,
    application: u32,
}

pub(super) fn header(scenario: &Scenario, detail: Detail) -> Header<'_> {
    let topology = &scenario.topology;
    let nodes = topology.nodes().map(|(index, node): (_, &NodeDescription)| HeaderNode {
        id: &node.id,
        capacity: node.capacity,
        tier: node.tier,
        neighbours: topology.links_from(index).map(|(_, link)| link.to.0).collect(),
        position: node.position.map(|position| [position.latitude, position.longitude]),
        access_point: node.is_access_point,
        acceptance: scenario.acceptance_of.get(index.position()).copied().flatten(),
    });
    let of_applications = scenario.applications.iter().flat_map(|plan| &plan.facts);
    let of_nodes = topology.nodes().flat_map(|(_, node)| &node.facts);
    let users = scenario.attachments.users.iter().zip(&scenario.users);
    Header {
        mario_trace: VERSION,
        program: concat!("mario ", env!("CARGO_PKG_VERSION")),
        scenario: &scenario.name,
        seed: scenario.seed,
        duration: scenario.duration,
        step: scenario.step,
        evaluation_period: scenario.agents.period,
        detail: detail.as_str(),
        observation: match scenario.observation {
            Observation::Arrivals => "arrivals",
            Observation::RouteEntries => "route-entries",
        },
        routing: match scenario.routing {
            Routing::Nearest(_) => "nearest",
            Routing::LeastUsed => "least-used",
        },
        arbitration: match scenario.arbitration {
            Arbitration::Managers => "managers",
            Arbitration::Sequential => "sequential",
            Arbitration::Central => "central",
        },
        memory: match scenario.memory {
            Memory::Sliding => "sliding",
            Memory::Periodic { .. } => "periodic",
        },
        forgets_every: match scenario.memory {
            Memory::Sliding => None,
            Memory::Periodic { every } => Some(every),
        },
        applications: (scenario.applications.iter())
            .map(|plan| HeaderApplication { application: &plan.application, kind: &plan.kind, policy: plan.policy.0 })
            .collect(),
        tiers: topology.tier_names(),
        nodes: nodes.collect(),
        facts: of_applications.chain(of_nodes).collect(),
        policies: scenario.policies.iter().map(policy).collect(),
        acceptances: scenario.acceptances.iter().map(policy).collect(),
        users: users.map(|(user, plan)| HeaderUser { id: &user.id, application: plan.application.0 }).collect(),
    }
}

fn policy(text: &PolicyText) -> HeaderPolicy<'_> {
    HeaderPolicy { name: &text.name, memory: text.memory, files: &text.files }
}
