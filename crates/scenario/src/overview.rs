//! A scenario at a glance.

use std::collections::BTreeMap;
use std::fmt;

use mario_domain::Capacity;
use serde::Serialize;

use crate::Scenario;
use crate::index::ApplicationIndex;

/// A scenario at a glance.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Overview {
    /// What people call it.
    pub name: String,
    /// How many nodes there are.
    pub nodes: usize,
    /// How many links there are.
    pub links: usize,
    /// The nodes by their distance from the cloud.
    pub tiers: Vec<Tier>,
    /// The applications.
    pub applications: Vec<ApplicationOverview>,
    /// How many users there are.
    pub users: usize,
    /// How often a user moves from one access point to another.
    pub handovers: u64,
    /// How many users arrive after the start.
    pub late_arrivals: u64,
    /// How many steps of mobility there are.
    pub steps: usize,
    /// How many instances operators deploy.
    pub deploys: usize,
    /// The number of disturbances, including repairs.
    pub disturbances: usize,
}

/// The nodes of one tier.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tier {
    /// The distance from the cloud.
    pub tier: u16,
    /// How many nodes there are.
    pub nodes: usize,
    /// How many of them are access points.
    pub access_points: usize,
    /// The hardware of all of them.
    pub hardware: Capacity,
}

/// One application.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ApplicationOverview {
    /// Which.
    pub id: String,
    /// The group that it belongs to.
    pub kind: String,
    /// The policy of its agents.
    pub policy: String,
    /// For how many evaluations they remember inhibitions.
    pub memory: u32,
    /// How many users it has.
    pub users: usize,
    /// Which applications it calls, in order, with how many requests each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(String, u32)>,
}

impl Scenario {
    /// The scenario at a glance.
    pub fn overview(&self) -> Overview {
        let mut tiers: BTreeMap<u16, Tier> = BTreeMap::new();
        for (_, node) in self.topology.nodes() {
            let empty = Tier { tier: node.tier, nodes: 0, access_points: 0, hardware: Capacity::units(0) };
            let tier = tiers.entry(node.tier).or_insert(empty);
            tier.nodes += 1;
            tier.access_points += usize::from(node.is_access_point);
            tier.hardware = match (tier.hardware, node.capacity) {
                (Capacity::Bounded(sum), Capacity::Bounded(more)) => {
                    sum.checked_add(more).map_or(Capacity::Unbounded, Capacity::Bounded)
                }
                _ => Capacity::Unbounded,
            };
        }
        let users_of =
            |position: usize| self.users.iter().filter(|user| user.application.position() == position).count();
        let id_of = |index: ApplicationIndex| self.applications[index.position()].application.id.to_string();
        let applications = self.applications.iter().enumerate().map(|(position, plan)| {
            let policy = &self.policies[plan.policy.position()];
            ApplicationOverview {
                id: plan.application.id.to_string(),
                kind: plan.kind.clone(),
                policy: policy.name.clone(),
                memory: policy.memory,
                users: users_of(position),
                calls: plan.calls().map(|call| (id_of(call.application), call.requests)).collect(),
            }
        });
        let handovers = self.attachments.handovers();
        Overview {
            name: self.name.clone(),
            nodes: self.topology.node_count(),
            links: self.topology.link_count() / 2,
            tiers: tiers.into_values().collect(),
            applications: applications.collect(),
            users: self.users.len(),
            handovers: handovers.total(),
            late_arrivals: handovers.late_arrivals(),
            steps: self.attachments.step_count(),
            deploys: self.deploys.len(),
            disturbances: self.disturbances.len(),
        }
    }
}

/// A count in words.
fn count(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

impl fmt::Display for Overview {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = count(self.nodes as u64, "node", "nodes");
        writeln!(formatter, "{}: {nodes}, {}", self.name, count(self.links as u64, "link", "links"))?;
        for tier in &self.tiers {
            let access_points = match tier.access_points {
                0 => String::new(),
                access_points => format!(", {}", count(access_points as u64, "access point", "access points")),
            };
            let nodes = count(tier.nodes as u64, "node", "nodes");
            let hardware = match tier.hardware {
                Capacity::Unbounded => "unbounded hardware".to_owned(),
                Capacity::Bounded(hardware) => format!("{hardware} units of hardware"),
            };
            writeln!(formatter, "  tier {}: {nodes}, {hardware}{access_points}", tier.tier)?;
        }
        for application in &self.applications {
            let users = count(application.users as u64, "user", "users");
            let memory = match application.memory {
                0 => String::new(),
                memory => format!(", memory {memory}"),
            };
            let ApplicationOverview { id, kind, policy, .. } = application;
            let call = |(called, requests): &(String, u32)| match requests {
                1 => called.clone(),
                requests => format!("{called} ×{requests}"),
            };
            let calls: Vec<String> = application.calls.iter().map(call).collect();
            let calls = if calls.is_empty() { String::new() } else { format!(", calls {}", calls.join(", ")) };
            writeln!(formatter, "  application {id} ({kind}): {users}, policy {policy}{memory}{calls}")?;
        }
        let late = match self.late_arrivals {
            0 => String::new(),
            late => format!(", {late} of them later"),
        };
        let handovers = count(self.handovers, "handover", "handovers");
        let steps = count(self.steps as u64, "step", "steps");
        write!(formatter, "  {}{late}, {handovers} in {steps}", count(self.users as u64, "user", "users"))?;
        match self.disturbances {
            0 => Ok(()),
            disturbances => write!(formatter, "\n  {}", count(disturbances as u64, "disturbance", "disturbances")),
        }
    }
}
