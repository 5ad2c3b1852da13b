//! Snapshots for the page.

use std::collections::{BTreeMap, BTreeSet};

use mario_live::api::{Capacity, Hardware, Instance, JournalStatus, Link, Routes, Status, TestbedApplication};
use serde::Serialize;
use serde_json::{Value, json};

use super::charts::Colours;
use super::history::ApplicationNow;
use super::problems::Problem;
use super::source::{Reach, Source};
use super::{Elsewhere, Picture, clipped, named};

/// The maximum number of nodes, and of instances, in a snapshot.
const NODES_MAX: usize = 2_000;
const INSTANCES_MAX: usize = 10_000;

/// The overview that the page draws.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Snapshot {
    /// The time of the snapshot, or of the end of the run.
    time_ms: u64,
    /// How the run ended; null while it goes, or if there is no testbed.
    outcome: Option<String>,
    /// How many nodes are polled, and how many of them answer.
    watched: usize,
    answering: usize,
    nodes: Vec<ShownNode>,
    links: Vec<ShownLink>,
    instances: Vec<ShownInstance>,
    applications: Vec<ShownApplication>,
    problems: Vec<Problem>,
    title: Option<String>,
    facts: BTreeMap<String, String>,
    faults: Vec<String>,
}

/// A node that is polled, or that a polled node or the testbed names.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ShownNode {
    id: String,
    address: Option<String>,
    /// `unknown`, `answers`, `silent` or `unwatched`.
    reach: &'static str,
    cause: Option<String>,
    #[cfg_attr(test, ts(type = "Operators.Capacity | null"))]
    capacity: Option<Capacity>,
    #[cfg_attr(test, ts(type = "Operators.Capacity | null"))]
    free: Option<Capacity>,
    #[cfg_attr(test, ts(type = "Operators.Capacity | null"))]
    unreserved: Option<Capacity>,
    reservations: Option<f64>,
    is_draining: Option<bool>,
    journal_fault: Option<String>,
    requests_per_s: Option<f64>,
    answered_per_s: Option<f64>,
    failed_per_s: Option<f64>,
    /// The tier, its name and the number of users, if a testbed provides them.
    tier: Option<usize>,
    tier_name: Option<String>,
    users: Option<u64>,
}

/// A link. `is_up` and `has_data` are true if all ends that answer report so, and `None` if no end answers.
/// `round_trip_ms` is the value that one of these ends reports; `None` if no end does.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ShownLink {
    ends: [String; 2],
    is_up: Option<bool>,
    has_data: Option<bool>,
    round_trip_ms: Option<f64>,
}

/// An instance: on the node that reports it, or on the unpolled node that it migrated to.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ShownInstance {
    id: String,
    application: Option<String>,
    node: String,
    /// The state of its copy; null if it has none; or `in-custody` on a node that handed it over, or `elsewhere` on a node that is not
    /// polled.
    state: Option<String>,
    is_silent: bool,
    is_pinned: Option<bool>,
    is_anchor: Option<bool>,
    is_asleep: Option<bool>,
    is_moving: bool,
    target: Option<String>,
    #[cfg_attr(test, ts(type = "Operators.Hardware | null"))]
    hardware: Option<Hardware>,
    requests_per_s: Option<f64>,
    has_no_answer: bool,
    /// The node that reported the migration, if the instance is `elsewhere`.
    told_by: Option<String>,
}

/// The current state of an application.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct ShownApplication {
    id: String,
    /// The index of its colour in the palette.
    colour: usize,
    instances: usize,
    requests_per_s: Option<f64>,
    /// The testbed's data on the application, such as response times at clients; null if there is none.
    #[cfg_attr(test, ts(type = "Operators.TestbedApplication | null"))]
    responses: Option<TestbedApplication>,
}

/// A node with its last answers, if it is polled, and the verdicts of its manager.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct NodeDetails {
    #[serde(flatten)]
    node: ShownNode,
    #[cfg_attr(test, ts(type = "Operators.Status | null"))]
    status: Option<Box<Status>>,
    #[cfg_attr(test, ts(type = "Operators.Link[]"))]
    links: Vec<Link>,
    #[cfg_attr(test, ts(type = "Operators.Routes | null"))]
    routes: Option<Routes>,
    #[cfg_attr(test, ts(type = "Operators.JournalStatus | null"))]
    journal: Option<JournalStatus>,
    #[cfg_attr(test, ts(type = "Operators.Instance[]"))]
    instances: Vec<Instance>,
    /// Newest first; null if there are none.
    verdicts: Option<Vec<ShownVerdict>>,
    /// What the node reports that only newer versions know.
    unknown: Vec<String>,
}

/// A verdict of a manager.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Verdict"))]
pub(super) struct ShownVerdict {
    time_ms: u64,
    is_accepted: bool,
    text: String,
}

/// An instance as in the overview and, unless it is on a node that is not polled, as its node reports it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct InstanceDetails {
    #[serde(flatten)]
    instance: ShownInstance,
    #[cfg_attr(test, ts(type = "Operators.Instance | null"))]
    told: Option<Instance>,
    evaluation_ms: Option<u64>,
}

/// An instance, and the node that reports it.
struct Placed<'a> {
    source: &'a Source,
    told: &'a Instance,
}

/// The state of a link, as reported by the ends that answer; see [`ShownLink`].
#[derive(Default)]
struct LinkNow {
    is_up: Option<bool>,
    has_data: Option<bool>,
    round_trip_ms: Option<f64>,
}

impl Picture {
    /// The overview: nodes, links, instances, applications and problems. Details are in
    /// [`node_details`](Picture::node_details) and [`instance_details`](Picture::instance_details).
    pub fn snapshot(&self, now_ms: u64) -> Value {
        json!(self.shown(now_ms))
    }

    /// The overview; see [`snapshot`](Picture::snapshot).
    pub(super) fn shown(&self, now_ms: u64) -> Snapshot {
        Snapshot {
            time_ms: self.over_at_ms.unwrap_or(now_ms),
            outcome: self.extra.outcome.as_deref().map(clipped),
            watched: self.sources.len(),
            answering: self.sources.iter().filter(|source| source.answers()).count(),
            nodes: self.shown_nodes(),
            links: self.shown_links(),
            instances: self.shown_instances(),
            applications: self.shown_applications(),
            problems: self.problems(now_ms),
            title: self.extra.title.clone(),
            facts: self.extra.facts.clone(),
            faults: self.extra.faults.clone(),
        }
    }

    /// The polled nodes, and the nodes that they or the testbed name.
    fn shown_nodes(&self) -> Vec<ShownNode> {
        let mut nodes: BTreeMap<String, ShownNode> = BTreeMap::new();
        for source in &self.sources {
            let name = source.name();
            let shown = shown_node(source);
            // A node may be polled at two addresses. The address that answers is shown.
            if source.answers() || !nodes.contains_key(&name) {
                nodes.insert(name, shown);
            }
        }
        let neighbours = self.sources.iter().flat_map(|source| &source.links);
        let linked = neighbours.map(|link| named(&link.neighbour));
        let elsewhere = self.elsewhere.values().map(|elsewhere| elsewhere.node.clone());
        let in_testbed = self.extra.nodes.keys().cloned();
        for id in linked.chain(elsewhere).chain(in_testbed) {
            nodes.entry(id.clone()).or_insert_with(|| ShownNode::unwatched(id));
        }
        for (id, node) in &mut nodes {
            if let Some(told) = self.extra.nodes.get(id) {
                node.tier = told.tier;
                node.tier_name.clone_from(&told.tier_name);
                node.users = told.users;
            }
        }
        nodes.into_values().take(NODES_MAX).collect()
    }

    /// Each link once. It is up if every end that answers reports it as up; unknown if no end answers.
    fn shown_links(&self) -> Vec<ShownLink> {
        let mut links: BTreeMap<(String, String), LinkNow> = BTreeMap::new();
        for source in &self.sources {
            let name = source.name();
            for link in &source.links {
                let neighbour = named(&link.neighbour);
                let pair = if name < neighbour { (name.clone(), neighbour) } else { (neighbour, name.clone()) };
                let now = links.entry(pair).or_default();
                if source.answers() {
                    now.is_up = Some(now.is_up.unwrap_or(true) && link.is_up);
                    now.has_data = Some(now.has_data.unwrap_or(true) && link.has_data);
                    now.round_trip_ms = link.round_trip_ms.or(now.round_trip_ms);
                }
            }
        }
        let shown = links.into_iter().map(|((one, other), LinkNow { is_up, has_data, round_trip_ms })| ShownLink {
            ends: [one, other],
            is_up,
            has_data,
            round_trip_ms,
        });
        shown.collect()
    }

    /// Each instance once. Of several nodes that report it, one that answers takes precedence over a silent one, then
    /// the owner over a node that has it in custody, then the higher epoch.
    fn placed(&self) -> BTreeMap<&str, Placed<'_>> {
        let mut placed: BTreeMap<&str, Placed<'_>> = BTreeMap::new();
        for source in &self.sources {
            for (id, told) in &source.instances {
                let rank = |source: &Source, told: &Instance| {
                    (source.answers(), told.owned().is_some(), told.owned().map(|owned| owned.epoch))
                };
                let is_better =
                    placed.get(id.as_str()).is_none_or(|known| rank(known.source, known.told) < rank(source, told));
                if is_better {
                    placed.insert(id, Placed { source, told });
                }
            }
        }
        placed
    }

    fn shown_instances(&self) -> Vec<ShownInstance> {
        let placed = self.placed();
        let mut shown: Vec<ShownInstance> = placed.iter().map(|(id, placed)| shown_instance(id, placed)).collect();
        for (id, elsewhere) in &self.elsewhere {
            if !placed.contains_key(id.as_str()) {
                shown.push(ShownInstance::elsewhere(id, elsewhere));
            }
        }
        shown.truncate(INSTANCES_MAX);
        shown
    }

    /// All applications with instances, with routes, or with data from the testbed.
    pub(super) fn applications(&self) -> BTreeMap<String, ApplicationNow> {
        let mut applications: BTreeMap<String, ApplicationNow> = BTreeMap::new();
        let placed = self.placed();
        for placed in placed.values() {
            let Some(application) = placed.told.application().map(named) else { continue };
            let now = applications.entry(application).or_default();
            now.instances += 1;
            if let Some(rate) = placed.source.requests_per_s(placed.told) {
                *now.requests_per_s.get_or_insert(0.0) += rate;
            }
        }
        // The last answer of the node that an instance left may still list it. Then it is already counted.
        for (_, elsewhere) in self.elsewhere.iter().filter(|(id, _)| !placed.contains_key(id.as_str())) {
            applications.entry(elsewhere.application.clone()).or_default().instances += 1;
        }
        let routed: BTreeSet<String> =
            self.sources.iter().filter_map(|source| source.routes.as_ref()).flat_map(routed_applications).collect();
        for application in routed {
            applications.entry(application).or_default();
        }
        for (application, told) in &self.extra.applications {
            let now = applications.entry(application.clone()).or_default();
            now.responses = Some(told.clone());
            now.requests_per_s = told.requests_per_s.or(now.requests_per_s);
        }
        applications
    }

    fn shown_applications(&self) -> Vec<ShownApplication> {
        let shown = |(colour, (id, now)): (usize, (String, ApplicationNow))| {
            let ApplicationNow { instances, requests_per_s, responses } = now;
            ShownApplication { id, colour, instances, requests_per_s, responses }
        };
        self.applications().into_iter().enumerate().map(shown).collect()
    }

    /// The index of each application's colour, the same on the map and in charts.
    pub(super) fn colours(&self) -> Colours {
        self.applications().into_keys().enumerate().map(|(colour, id)| (id, colour)).collect()
    }

    /// The last answers of a polled node, and the verdicts of its manager. Of a node that is named but not polled, only
    /// the verdicts. `None` if the node is neither polled nor named.
    pub fn node_details(&self, id: &str) -> Option<Value> {
        self.details_of(id).map(|details| json!(details))
    }

    /// The details of a node; see [`node_details`](Picture::node_details).
    pub(super) fn details_of(&self, id: &str) -> Option<NodeDetails> {
        let of_id = |source: &&Source| source.name() == id;
        let source = self.sources.iter().filter(of_id).max_by_key(|source| source.answers());
        let verdicts = self.verdicts.get(id).map(|verdicts| {
            let shown = verdicts.iter().rev().map(|verdict| ShownVerdict {
                time_ms: verdict.time_ms,
                is_accepted: verdict.is_accepted,
                text: verdict.text.clone(),
            });
            shown.collect::<Vec<_>>()
        });
        let Some(source) = source else {
            let node = self.shown_nodes().into_iter().find(|node| node.id == id)?;
            return Some(NodeDetails {
                node,
                status: None,
                links: Vec::new(),
                routes: None,
                journal: None,
                instances: Vec::new(),
                verdicts,
                unknown: Vec::new(),
            });
        };
        Some(NodeDetails {
            node: shown_node(source),
            status: source.status.clone(),
            links: source.links.clone(),
            routes: source.routes.clone(),
            journal: source.journal.clone(),
            instances: source.instances.values().cloned().collect(),
            verdicts,
            unknown: source.unknown(),
        })
    }

    /// An instance as in the overview and, unless it is on a node that is not polled, as its node reports it. `None` if
    /// the instance is unknown.
    pub fn instance_details(&self, id: &str) -> Option<Value> {
        let placed = self.placed();
        let details = match placed.get(id) {
            Some(placed) => InstanceDetails {
                instance: shown_instance(id, placed),
                told: Some(placed.told.clone()),
                evaluation_ms: placed.source.status.as_ref().and_then(|status| status.evaluation_ms),
            },
            None => {
                let instance = ShownInstance::elsewhere(id, self.elsewhere.get(id)?);
                InstanceDetails { instance, told: None, evaluation_ms: None }
            }
        };
        Some(json!(details))
    }

    /// The index of the source that reports the instance; `None` if no source does.
    pub(crate) fn source_of(&self, instance: &str) -> Option<usize> {
        let placed = self.placed();
        let source = placed.get(instance)?.source;
        self.sources.iter().position(|other| std::ptr::eq(other, source))
    }
}

impl ShownNode {
    /// A node that is not polled.
    fn unwatched(id: String) -> ShownNode {
        ShownNode {
            id,
            address: None,
            reach: "unwatched",
            cause: None,
            capacity: None,
            free: None,
            unreserved: None,
            reservations: None,
            is_draining: None,
            journal_fault: None,
            requests_per_s: None,
            answered_per_s: None,
            failed_per_s: None,
            tier: None,
            tier_name: None,
            users: None,
        }
    }
}

impl ShownInstance {
    /// An instance that migrated to a node that is not polled.
    fn elsewhere(id: &str, elsewhere: &Elsewhere) -> ShownInstance {
        ShownInstance {
            id: id.to_owned(),
            application: Some(elsewhere.application.clone()),
            node: elsewhere.node.clone(),
            state: Some("elsewhere".to_owned()),
            is_silent: false,
            is_pinned: None,
            is_anchor: None,
            is_asleep: None,
            is_moving: false,
            target: None,
            hardware: None,
            requests_per_s: None,
            has_no_answer: false,
            told_by: Some(elsewhere.told_by.clone()),
        }
    }
}

fn shown_node(source: &Source) -> ShownNode {
    let (reach, cause) = match &source.reach {
        Reach::Unknown => ("unknown", None),
        Reach::Answers => ("answers", None),
        Reach::Silent { cause, .. } => ("silent", Some(cause.clone())),
    };
    let rate = |name: &str| source.rates.get(&format!("mario_requests_{name}_total")).copied();
    let status = source.status.as_deref();
    let fault = status.and_then(|status| status.outdated.as_deref().or(status.journal_fault.as_deref()));
    ShownNode {
        address: Some(source.address.clone()),
        reach,
        cause,
        capacity: status.and_then(|status| status.capacity.clone()),
        free: status.and_then(|status| status.free.clone()),
        unreserved: status.and_then(|status| status.unreserved.clone()),
        reservations: source.reservations(),
        is_draining: status.map(|status| status.is_draining),
        journal_fault: fault.map(clipped),
        requests_per_s: rate("ingress"),
        answered_per_s: rate("answered_here"),
        failed_per_s: rate("failed"),
        ..ShownNode::unwatched(source.name())
    }
}

fn shown_instance(id: &str, placed: &Placed<'_>) -> ShownInstance {
    let Placed { source, told } = placed;
    let owned = told.owned();
    let (state, target) = match told {
        Instance::Owned(owned) => (owned.copy_state().map(named), None),
        Instance::InCustody(custody) => (Some("in-custody".to_owned()), custody.target.as_ref().map(named)),
        Instance::Other(other) => (Some(clipped(&other.state)), None),
    };
    let is_anchor = match told {
        Instance::Owned(owned) => Some(owned.is_anchor),
        Instance::InCustody(custody) => Some(custody.is_anchor),
        Instance::Other(_) => None,
    };
    ShownInstance {
        id: id.to_owned(),
        application: told.application().map(named),
        node: source.name(),
        state,
        is_silent: !source.answers(),
        is_pinned: owned.map(|owned| owned.is_pinned),
        is_anchor,
        is_asleep: owned.map(|owned| owned.is_asleep),
        is_moving: owned.is_none_or(|owned| owned.is_transferring),
        target,
        hardware: owned.and_then(|owned| owned.hardware.clone()),
        requests_per_s: source.requests_per_s(told),
        has_no_answer: owned.is_some_and(Source::has_no_answer),
        told_by: None,
    }
}

/// The applications that a node has routes to.
fn routed_applications(routes: &Routes) -> impl Iterator<Item = String> {
    routes.next_hops.keys().take(NODES_MAX).map(named)
}
