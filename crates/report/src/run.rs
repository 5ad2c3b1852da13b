//! The data of one run, for the page and its drawings. Fields that are not serialised are only for drawings and tables.

use std::collections::BTreeMap;

use mario_domain::Capacity;
use mario_trace::reader::{Arbitration, Detail, Header, Memory, TracedApplication, TracedNode};
use serde::Serialize;

use crate::areas::{Areas, has_map};
use crate::compact::Compact;
use crate::figures::ShownFigures;
use crate::policies::PolicyText;
use crate::regret::ShownRegret;
use crate::replay::Replay;
use crate::series::{Bars, Samples};
use mario_experiments::figures::{Measurements, ResponseTimes};

/// The data of one run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Run {
    /// The name of the run on the page.
    pub label: String,
    pub(crate) about: About,
    pub(crate) policies: Vec<PolicyText>,
    pub(crate) applications: Vec<ApplicationRow>,
    pub(crate) groups: Vec<String>,
    /// The names of the tiers, from the top down.
    pub(crate) tier_names: Vec<String>,
    pub(crate) nodes: Option<Nodes>,
    #[cfg_attr(test, ts(type = "[id: string, application: number][]"))]
    pub(crate) users: Vec<(String, u32)>,
    /// For each of the first users, up to a limit: the index of the user, and the access points that the user visited,
    /// in order. Empty if the run is shown by area.
    #[serde(skip)]
    pub(crate) tracks: Vec<(u32, Vec<u32>)>,
    pub(crate) figures: Vec<ShownFigures>,
    #[serde(skip)]
    pub(crate) bars: Bars,
    /// The number of instances of each application over time.
    #[serde(skip)]
    pub(crate) instances: Samples<Vec<u64>>,
    /// The number of sleeping instances of each application over time; `None` if no application can sleep, or if the
    /// trace has only counts.
    #[serde(skip)]
    pub(crate) asleep: Option<Samples<Vec<u64>>>,
    /// The cumulative numbers of evictions and of shrinks by owners of nodes over time; `None` if there were none.
    #[serde(skip)]
    pub(crate) owners: Option<Samples<[u64; 2]>>,
    /// The number of instances in each tier over time.
    #[serde(skip)]
    pub(crate) tiers: Samples<Vec<u64>>,
    #[serde(skip)]
    pub(crate) responses: Vec<ResponseRow>,
    #[serde(skip)]
    pub(crate) inhibited: Inhibited,
    pub(crate) regret: Option<ShownRegret>,
    pub(crate) replay: Option<Replay>,
    pub(crate) areas: Option<Areas>,
    /// How often the acceptance policy of a node gave a reason, by node and reason.
    #[serde(skip)]
    pub(crate) reasons: BTreeMap<(String, String), u64>,
    /// The optional measures; `None` unless the header of the trace has measures of applications, models or calls.
    #[serde(skip)]
    pub(crate) measured: Option<Measurements>,
}

/// The origin, the settings and the totals of a run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct About {
    pub(crate) program: String,
    pub(crate) scenario: String,
    pub(crate) seed: u64,
    pub(crate) duration: Compact,
    pub(crate) step: Compact,
    pub(crate) evaluation_period: Compact,
    pub(crate) detail: &'static str,
    pub(crate) observation: String,
    pub(crate) routing: String,
    pub(crate) arbitration: &'static str,
    pub(crate) memory: &'static str,
    pub(crate) node_count: usize,
    pub(crate) user_count: usize,
    /// Whether the trace is complete.
    pub(crate) is_complete: bool,
    /// The time of the last record.
    pub(crate) until: Compact,
    pub(crate) evaluations: u64,
    pub(crate) instances_at_most: u64,
    pub(crate) served: u64,
    pub(crate) lost: u64,
    /// Whether live nodes recorded the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub(crate) is_live: bool,
    /// Whether the trace has neither users nor client requests, because only nodes recorded it: then it has no seed,
    /// either.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub(crate) has_no_clients: bool,
}

/// An application.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ApplicationRow {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) hardware: u64,
    pub(crate) max_rate: Compact,
    pub(crate) max_latency: Compact,
    /// The names of its flavours, and the hardware that each needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, type = "[name: string, hardware: number][]"))]
    pub(crate) flavours: Vec<(String, u64)>,
    /// The units of hardware that a sleeping instance keeps; `None` if the application cannot sleep.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) keeps: Option<u64>,
    /// The first description of the same application, if this is a later one: a live trace has each of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(crate) first_description: Option<u32>,
}

/// The nodes, with one column for each property.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Nodes {
    pub(crate) ids: Vec<String>,
    /// Units; -1 if unbounded.
    pub(crate) capacities: Vec<i64>,
    pub(crate) tiers: Vec<u32>,
    /// For each node, the index of its parent; -1 if it has none.
    pub(crate) parents: Vec<i64>,
    pub(crate) is_access_point: Vec<u8>,
    /// Longitude and latitude, if all nodes have them.
    pub(crate) positions: Option<Vec<[f64; 2]>>,
    /// The links that do not connect a node with its parent.
    pub(crate) other_links: Vec<[u32; 2]>,
}

/// The response times of an application.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseRow {
    pub(crate) served: u64,
    pub(crate) lost: u64,
    pub(crate) sum: f64,
    /// Bucket `k` and the number of response times in [2^(k/4), 2^((k+1)/4)) milliseconds; `None` for those of 0.
    pub(crate) histogram: Vec<(Option<i64>, u64)>,
    /// The same response times, in the finest bins of the trace; `None` if none was served.
    pub(crate) times: Option<ResponseTimes>,
}

/// The inhibitions by node and rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inhibited {
    pub(crate) rules: Vec<&'static str>,
    /// The nodes with the most inhibitions: id, tier, and the count for each rule. The tier is `None` if the id is not
    /// that of a node.
    pub(crate) nodes: Vec<(String, Option<u32>, Vec<u64>)>,
    /// The number of other nodes with inhibitions.
    pub(crate) other_nodes: usize,
    /// The inhibitions of the other nodes, for each rule.
    pub(crate) others: Vec<u64>,
}

/// The maximum number of nodes that are drawn individually.
const NODES_MAX: usize = 1_500;

impl Nodes {
    /// The nodes of a header, unless there are too many to draw.
    pub(crate) fn new(header: &Header) -> Option<Nodes> {
        if header.nodes.len() > NODES_MAX {
            return None;
        }
        let parents = parents(header);
        let is_up =
            |node: usize, other: u32| parents[node] == Some(other) || parents[other as usize] == Some(node as u32);
        let links = header.nodes.iter().enumerate().flat_map(|(place, node)| {
            let other = node.neighbours.iter().copied();
            other.filter(move |other| place < *other as usize).map(move |other| (place, other))
        });
        let round = |degrees: f64| (degrees * 1e6).round() / 1e6;
        let positions = header.nodes.iter().filter_map(|node| node.position);
        Some(Nodes {
            ids: header.nodes.iter().map(|node| node.id.to_string()).collect(),
            capacities: header.nodes.iter().map(|node| units(node.capacity)).collect(),
            tiers: header.nodes.iter().map(|node| node.tier).collect(),
            is_access_point: header.nodes.iter().map(|node| u8::from(node.access_point)).collect(),
            positions: has_map(header)
                .then(|| positions.map(|[latitude, longitude]| [round(longitude), round(latitude)]).collect()),
            other_links: links
                .filter(|(place, other)| !is_up(*place, *other))
                .map(|(place, other)| [place as u32, other])
                .collect(),
            parents: parents.iter().map(|parent| parent.map_or(-1, i64::from)).collect(),
        })
    }
}

fn units(capacity: Capacity) -> i64 {
    match capacity {
        Capacity::Unbounded => -1,
        Capacity::Bounded(units) => units.as_units() as i64,
    }
}

impl ApplicationRow {
    pub(crate) fn all(header: &Header) -> Vec<ApplicationRow> {
        let row = |(index, application): (usize, &TracedApplication)| ApplicationRow {
            first_description: Some(first_description(header, index)).filter(|first| *first != index as u32),
            id: application.id.to_string(),
            kind: application.kind.clone(),
            hardware: application.hardware.as_units(),
            max_rate: Compact(application.max_rate.value()),
            max_latency: Compact(application.max_latency.value()),
            flavours: (application.flavours.iter())
                .map(|flavour| (flavour.id.to_string(), flavour.hardware.as_units()))
                .collect(),
            keeps: application.sleep.map(|sleep| sleep.keeps.as_units()),
        };
        header.applications.iter().enumerate().map(row).collect()
    }
}

/// The index of the first description of the application with this one.
fn first_description(header: &Header, index: usize) -> u32 {
    let id = &header.applications[index].id;
    header.applications.iter().position(|other| other.id == *id).unwrap_or(index) as u32
}

/// For each description of an application, the place of the application among all, in the order of first occurrence.
pub(crate) fn distinct_applications(header: &Header) -> Vec<usize> {
    let mut ids = Vec::new();
    let mut places = Vec::new();
    for application in &header.applications {
        let known = ids.iter().position(|id| *id == &application.id);
        places.push(known.unwrap_or(ids.len()));
        if known.is_none() {
            ids.push(&application.id);
        }
    }
    places
}

impl About {
    pub(crate) fn new(header: &Header) -> About {
        About {
            program: header.program.clone(),
            scenario: header.scenario.clone(),
            seed: header.seed,
            duration: Compact(header.duration),
            step: Compact(header.step),
            evaluation_period: Compact(header.evaluation_period),
            detail: match header.detail {
                Detail::Full => "full",
                Detail::Operations => "operations",
                Detail::Summary => "summary",
            },
            observation: header.observation.clone(),
            routing: header.routing.clone(),
            arbitration: match header.arbitration {
                Arbitration::Managers => "managers",
                Arbitration::Sequential => "sequential",
                Arbitration::Central => "central",
            },
            memory: match header.memory {
                Memory::Sliding => "sliding",
                Memory::Periodic => "periodic",
            },
            node_count: header.nodes.len(),
            user_count: header.users.len(),
            is_complete: false,
            until: Compact(0.0),
            evaluations: 0,
            instances_at_most: 0,
            served: 0,
            lost: 0,
            is_live: header.live.is_some(),
            has_no_clients: header.live.is_some() && header.users.is_empty(),
        }
    }
}

/// The names of tiers: those of the scenario. A tier without one is called `access points` if all its nodes are access
/// points, `cloud` if all have unbounded capacity, and otherwise `tier N`.
pub(crate) fn tier_names(header: &Header, count: usize) -> Vec<String> {
    let mut members = vec![0_u64; count];
    let (mut access_points, mut unbounded) = (members.clone(), members.clone());
    for node in &header.nodes {
        let tier = node.tier as usize;
        if tier < count {
            members[tier] += 1;
            access_points[tier] += u64::from(node.access_point);
            unbounded[tier] += u64::from(node.capacity == Capacity::Unbounded);
        }
    }
    let name = |tier: usize| match header.tiers.get(tier) {
        Some(name) => name.clone(),
        None if members[tier] > 0 && access_points[tier] == members[tier] => "access points".to_owned(),
        None if members[tier] > 0 && unbounded[tier] == members[tier] => "cloud".to_owned(),
        None => format!("tier {tier}"),
    };
    (0..count).map(name).collect()
}

/// Names the run after the policies of its applications, each with the length of its memory if it has one. Of more than
/// two policies, only the first is named, with the number of the others. Without applications, names the run after its
/// scenario.
pub(crate) fn label(header: &Header) -> String {
    let mut names: Vec<String> = Vec::new();
    for application in &header.applications {
        let policy = &header.policies[application.policy as usize];
        let memory = if policy.memory > 0 { format!(", memory {}", policy.memory) } else { String::new() };
        let name = format!("{}{memory}", policy.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [] => header.scenario.clone(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
    }
}

/// For each node, its neighbour in the highest tier, of several the one with the lowest index; `None` if no neighbour
/// is in a higher tier than the node itself.
fn parents(header: &Header) -> Vec<Option<u32>> {
    let tier = |node: u32| header.nodes[node as usize].tier;
    let parent = |node: &TracedNode| {
        let above = node.neighbours.iter().copied().filter(|neighbour| tier(*neighbour) < node.tier);
        above.min_by_key(|neighbour| (tier(*neighbour), *neighbour))
    };
    header.nodes.iter().map(parent).collect()
}
