//! A summary of a scenario.

use std::collections::BTreeMap;
use std::fmt;

use mario_domain::Capacity;
use mario_settings::shown;
use serde::Serialize;

use crate::Scenario;
use crate::index::ApplicationIndex;

/// A summary of a scenario.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Overview {
    /// The name of the scenario.
    pub name: String,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of links.
    pub links: usize,
    /// The least and the largest latency of a link, in milliseconds; `None` without links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<[f64; 2]>,
    /// The least and the largest bandwidth of a link, in size units per millisecond; `None` if no link has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<[f64; 2]>,
    /// The number of links with unlimited bandwidth.
    pub unlimited_links: usize,
    /// The nodes of each tier, from the cloud down.
    pub tiers: Vec<Tier>,
    /// The applications.
    pub applications: Vec<ApplicationOverview>,
    /// The number of users.
    pub users: usize,
    /// The number of handovers.
    pub handovers: u64,
    /// The number of arrivals after the first step. A user who leaves and comes back counts again.
    pub late_arrivals: u64,
    /// The number of mobility steps.
    pub steps: usize,
    /// The number of deployments by operators, including the initial ones.
    pub deploys: usize,
    /// The number of disturbance events, such as crashes, notices and repairs.
    pub disturbances: usize,
}

/// The nodes of one tier.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Tier {
    /// The number of the tier; 0 is the cloud.
    pub tier: u16,
    /// The number of nodes.
    pub nodes: usize,
    /// The number of access points among them.
    pub access_points: usize,
    /// The total hardware of these nodes; unbounded if one of them is unbounded or the sum overflows.
    pub hardware: Capacity,
}

/// One application.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ApplicationOverview {
    /// The id of the application.
    pub id: String,
    /// The group of the application in figures.
    pub kind: String,
    /// The policy of its agents.
    pub policy: String,
    /// The number of evaluations for which agents remember inhibitions, if the memory strategy is `sliding`.
    pub memory: u32,
    /// The number of users.
    pub users: usize,
    /// The ids of the called applications, in the order of calls, each with the number of requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(String, u32)>,
}

impl Scenario {
    /// Summarises the scenario.
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
        let links = || self.topology.nodes().flat_map(|(node, _)| self.topology.links_from(node)).map(|(_, link)| link);
        Overview {
            name: self.name.clone(),
            nodes: self.topology.node_count(),
            links: self.topology.link_count() / 2,
            latency_ms: range(links().map(|link| link.latency.units())),
            bandwidth: range(links().filter_map(|link| link.bandwidth)),
            // Every link has two directions.
            unlimited_links: links().filter(|link| link.bandwidth.is_none()).count() / 2,
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

/// The least and the largest of these numbers.
fn range(numbers: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    numbers.fold(None, |range: Option<[f64; 2]>, number| {
        let [least, largest] = range.unwrap_or([number, number]);
        Some([least.min(number), largest.max(number)])
    })
}

/// A number with the singular or plural of a noun.
fn count(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// A range for users; a single number if its ends are equal.
fn written([least, largest]: [f64; 2]) -> String {
    let [least, largest] = [least, largest].map(shown);
    if least == largest { least } else { format!("{least} to {largest}") }
}

impl fmt::Display for Overview {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = count(self.nodes as u64, "node", "nodes");
        writeln!(formatter, "{}: {nodes}, {}", self.name, count(self.links as u64, "link", "links"))?;
        if let Some(latencies) = self.latency_ms {
            let bandwidth = match (self.bandwidth, self.unlimited_links) {
                (None, _) => "unlimited bandwidth".to_owned(),
                (Some(range), 0) => format!("bandwidth {} size units per ms", written(range)),
                (Some(range), unlimited) => {
                    format!("bandwidth {} size units per ms, {unlimited} unlimited", written(range))
                }
            };
            writeln!(formatter, "  links: latency {} ms, {bandwidth}", written(latencies))?;
        }
        for tier in &self.tiers {
            let access_points = match tier.access_points {
                0 => String::new(),
                access_points => format!(", {}", count(access_points as u64, "access point", "access points")),
            };
            let nodes = count(tier.nodes as u64, "node", "nodes");
            let hardware = match tier.hardware {
                Capacity::Unbounded => "unbounded hardware".to_owned(),
                Capacity::Bounded(hardware) if hardware.has_further() => hardware.to_string(),
                Capacity::Bounded(hardware) => count(hardware.as_units(), "unit of hardware", "units of hardware"),
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
