//! Snapshots for the page.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::charts::Colours;
use super::history::ApplicationNow;
use super::problems::Problem;
use super::source::{Reach, Source};
use super::{Elsewhere, Picture, text};

/// The maximum number of nodes, and of instances, in a snapshot.
const NODES_MAX: usize = 2_000;
const INSTANCES_MAX: usize = 10_000;

/// The overview that the page draws. Fields of type [`Value`] are as a node or the testbed reported them, and may have
/// any shape.
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
    #[cfg_attr(test, ts(type = "unknown"))]
    title: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    facts: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    faults: Value,
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
    #[cfg_attr(test, ts(type = "unknown"))]
    capacity: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    free: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    unreserved: Value,
    reservations: Option<f64>,
    #[cfg_attr(test, ts(type = "unknown"))]
    is_draining: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    journal_fault: Value,
    requests_per_s: Option<f64>,
    answered_per_s: Option<f64>,
    failed_per_s: Option<f64>,
    /// The tier, its name and the number of users, if a testbed provides them.
    #[cfg_attr(test, ts(type = "unknown"))]
    tier: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    tier_name: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    users: Value,
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
    /// The state of its copy, or `in-custody` on a node that handed it over, or `elsewhere` on a node that is not
    /// polled.
    #[cfg_attr(test, ts(type = "unknown"))]
    state: Value,
    is_silent: bool,
    #[cfg_attr(test, ts(type = "unknown"))]
    is_pinned: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    is_anchor: Value,
    #[cfg_attr(test, ts(type = "unknown"))]
    is_asleep: Value,
    is_moving: bool,
    target: Option<String>,
    #[cfg_attr(test, ts(type = "unknown"))]
    hardware: Value,
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
    #[cfg_attr(test, ts(type = "unknown"))]
    responses: Value,
}

/// An instance, and the node that reports it.
struct Placed<'a> {
    source: &'a Source,
    told: &'a Value,
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
        json!(Snapshot {
            time_ms: self.over_at_ms.unwrap_or(now_ms),
            outcome: super::outcome(&self.extra),
            watched: self.sources.len(),
            answering: self.sources.iter().filter(|source| source.answers()).count(),
            nodes: self.shown_nodes(),
            links: self.shown_links(),
            instances: self.shown_instances(),
            applications: self.shown_applications(),
            problems: self.problems(now_ms),
            title: self.extra["title"].clone(),
            facts: self.extra["facts"].clone(),
            faults: self.extra["faults"].clone(),
        })
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
        let named = neighbours.filter_map(|link| text(&link["neighbour"]));
        let elsewhere = self.elsewhere.values().map(|elsewhere| elsewhere.node.clone());
        let extra = self.extra["nodes"].as_object();
        let in_testbed = extra.into_iter().flat_map(Map::keys).cloned();
        for id in named.chain(elsewhere).chain(in_testbed) {
            nodes.entry(id.clone()).or_insert_with(|| ShownNode::unwatched(id));
        }
        for (id, node) in &mut nodes {
            let told = &self.extra["nodes"][id.as_str()];
            node.tier = told["tier"].clone();
            node.tier_name = told["tier_name"].clone();
            node.users = told["users"].clone();
        }
        nodes.into_values().take(NODES_MAX).collect()
    }

    /// Each link once. It is up if every end that answers reports it as up; unknown if no end answers.
    fn shown_links(&self) -> Vec<ShownLink> {
        let mut links: BTreeMap<(String, String), LinkNow> = BTreeMap::new();
        for source in &self.sources {
            let name = source.name();
            for link in &source.links {
                let Some(neighbour) = text(&link["neighbour"]) else { continue };
                let pair = if name < neighbour { (name.clone(), neighbour) } else { (neighbour, name.clone()) };
                let now = links.entry(pair).or_default();
                if source.answers() {
                    now.is_up = Some(now.is_up.unwrap_or(true) && link["is_up"] == true);
                    now.has_data = Some(now.has_data.unwrap_or(true) && link["has_data"] == true);
                    now.round_trip_ms = link["round_trip_ms"].as_f64().or(now.round_trip_ms);
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
                let rank = |source: &Source, told: &Value| {
                    (source.answers(), told["state"] == "owned", told["epoch"].as_u64())
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
            let Some(application) = text(&placed.told["application"]) else { continue };
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
            self.sources.iter().flat_map(|source| keys(&source.routes["next_hops"])).collect();
        for application in routed {
            applications.entry(application).or_default();
        }
        for (application, told) in self.extra["applications"].as_object().into_iter().flatten() {
            let now = applications.entry(application.clone()).or_default();
            now.responses = told.clone();
            now.requests_per_s = told["requests_per_s"].as_f64().or(now.requests_per_s);
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
        let of_id = |source: &&Source| source.name() == id;
        let source = self.sources.iter().filter(of_id).max_by_key(|source| source.answers());
        let verdicts = self.verdicts.get(id).map(|verdicts| {
            let shown = verdicts.iter().rev().map(|verdict| {
                json!({ "time_ms": verdict.time_ms, "is_accepted": verdict.is_accepted, "text": verdict.text })
            });
            shown.collect::<Vec<_>>()
        });
        let Some(source) = source else {
            let is_named = self.shown_nodes().iter().any(|node| node.id == id);
            return is_named.then(|| json!({ "id": id, "reach": "unwatched", "verdicts": verdicts }));
        };
        let mut shown = json!(shown_node(source));
        shown["status"] = source.status.clone();
        shown["links"] = json!(source.links);
        shown["routes"] = source.routes.clone();
        shown["journal"] = source.journal.clone();
        shown["instances"] = source.instances.values().cloned().collect();
        shown["verdicts"] = json!(verdicts);
        Some(shown)
    }

    /// An instance as in the overview and, unless it is on a node that is not polled, as its node reports it. `None` if
    /// the instance is unknown.
    pub fn instance_details(&self, id: &str) -> Option<Value> {
        let placed = self.placed();
        if let Some(placed) = placed.get(id) {
            let mut shown = json!(shown_instance(id, placed));
            shown["told"] = placed.told.clone();
            shown["evaluation_ms"] = placed.source.status["evaluation_ms"].clone();
            return Some(shown);
        }
        let elsewhere = self.elsewhere.get(id)?;
        Some(json!(ShownInstance::elsewhere(id, elsewhere)))
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
            capacity: Value::Null,
            free: Value::Null,
            unreserved: Value::Null,
            reservations: None,
            is_draining: Value::Null,
            journal_fault: Value::Null,
            requests_per_s: None,
            answered_per_s: None,
            failed_per_s: None,
            tier: Value::Null,
            tier_name: Value::Null,
            users: Value::Null,
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
            state: json!("elsewhere"),
            is_silent: false,
            is_pinned: Value::Null,
            is_anchor: Value::Null,
            is_asleep: Value::Null,
            is_moving: false,
            target: None,
            hardware: Value::Null,
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
    ShownNode {
        address: Some(source.address.clone()),
        reach,
        cause,
        capacity: source.status["capacity"].clone(),
        free: source.status["free"].clone(),
        unreserved: source.status["unreserved"].clone(),
        reservations: source.reservations(),
        is_draining: source.status["is_draining"].clone(),
        journal_fault: ["outdated", "journal_fault"]
            .map(|key| source.status[key].clone())
            .into_iter()
            .find(|fault| !fault.is_null())
            .unwrap_or_default(),
        requests_per_s: rate("ingress"),
        answered_per_s: rate("answered_here"),
        failed_per_s: rate("failed"),
        ..ShownNode::unwatched(source.name())
    }
}

fn shown_instance(id: &str, placed: &Placed<'_>) -> ShownInstance {
    let Placed { source, told } = placed;
    let is_owned = told["state"] == "owned";
    let state = if is_owned { told["copy"]["state"].clone() } else { told["state"].clone() };
    ShownInstance {
        id: id.to_owned(),
        application: text(&told["application"]),
        node: source.name(),
        state,
        is_silent: !source.answers(),
        is_pinned: told["is_pinned"].clone(),
        is_anchor: told["is_anchor"].clone(),
        is_asleep: told["is_asleep"].clone(),
        is_moving: told["is_transferring"] == true || !is_owned,
        target: text(&told["target"]),
        hardware: told["hardware"].clone(),
        requests_per_s: source.requests_per_s(told),
        has_no_answer: Source::has_no_answer(told),
        told_by: None,
    }
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().map(|map| map.keys().take(NODES_MAX).cloned().collect()).unwrap_or_default()
}
