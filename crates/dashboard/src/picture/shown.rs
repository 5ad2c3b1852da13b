//! Snapshots for the page.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::history::ApplicationNow;
use super::source::{Reach, Source};
use super::{Picture, text};

/// How many nodes and instances are shown.
const NODES_MAX: usize = 2_000;
const INSTANCES_MAX: usize = 10_000;

/// An instance, and the node that reports it.
struct Placed<'a> {
    source: &'a Source,
    told: &'a Value,
}

/// A link, as reported by the ends that answer.
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
        json!({
            "time_ms": now_ms,
            "watched": self.sources.len(),
            "answering": self.sources.iter().filter(|source| source.answers()).count(),
            "nodes": self.shown_nodes(),
            "links": self.shown_links(),
            "instances": self.shown_instances(),
            "applications": self.shown_applications(),
            "problems": self.problems(now_ms),
            "title": self.extra["title"],
            "facts": self.extra["facts"],
            "faults": self.extra["faults"],
        })
    }

    /// Polled nodes, and those that others name.
    fn shown_nodes(&self) -> Vec<Value> {
        let mut nodes: BTreeMap<String, Value> = BTreeMap::new();
        for source in &self.sources {
            let name = source.name();
            let shown = shown_node(source);
            // One node may be polled at two addresses: the one that answers is shown.
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
            nodes.entry(id.clone()).or_insert_with(|| json!({ "id": id, "reach": "unwatched" }));
        }
        for (id, node) in &mut nodes {
            let told = &self.extra["nodes"][id.as_str()];
            for key in ["tier", "tier_name", "users"] {
                if !told[key].is_null() {
                    node[key] = told[key].clone();
                }
            }
        }
        nodes.into_values().take(NODES_MAX).collect()
    }

    /// Each link once. A link is up only if no end that answers reports it as down.
    fn shown_links(&self) -> Vec<Value> {
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
        let shown = links.into_iter().map(|((one, other), LinkNow { is_up, has_data, round_trip_ms })| {
            json!({ "ends": [one, other], "is_up": is_up, "has_data": has_data, "round_trip_ms": round_trip_ms })
        });
        shown.collect()
    }

    /// Each instance once, on the node that owns it rather than on one that has it in custody.
    fn placed(&self) -> BTreeMap<&str, Placed<'_>> {
        let mut placed: BTreeMap<&str, Placed<'_>> = BTreeMap::new();
        for source in &self.sources {
            for (id, told) in &source.instances {
                // Current answers of other nodes take precedence over the last answer of a silent node.
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

    fn shown_instances(&self) -> Vec<Value> {
        let placed = self.placed();
        let mut shown: Vec<Value> = placed.iter().map(|(id, placed)| shown_instance(id, placed)).collect();
        for (id, elsewhere) in &self.elsewhere {
            if !placed.contains_key(id.as_str()) {
                shown.push(json!({
                    "id": id, "application": elsewhere.application, "node": elsewhere.node, "told_by": elsewhere.told_by,
                    "state": "elsewhere",
                }));
            }
        }
        shown.truncate(INSTANCES_MAX);
        shown
    }

    /// All applications that have instances, routes or measurements.
    pub(super) fn applications(&self) -> BTreeMap<String, ApplicationNow> {
        let mut applications: BTreeMap<String, ApplicationNow> = BTreeMap::new();
        for placed in self.placed().values() {
            let Some(application) = text(&placed.told["application"]) else { continue };
            let now = applications.entry(application).or_default();
            now.instances += 1;
            if let Some(rate) = placed.source.requests_per_s(placed.told) {
                *now.requests_per_s.get_or_insert(0.0) += rate;
            }
        }
        for elsewhere in self.elsewhere.values() {
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

    fn shown_applications(&self) -> Vec<Value> {
        let shown = self.applications().into_iter().map(|(id, now)| {
            json!({
                "id": id, "instances": now.instances, "requests_per_s": now.requests_per_s, "responses": now.responses,
            })
        });
        shown.collect()
    }

    /// Everything known about a node; `None` if it is unknown.
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
            let is_named = self.shown_nodes().iter().any(|node| node["id"] == id);
            return is_named.then(|| json!({ "id": id, "reach": "unwatched", "verdicts": verdicts }));
        };
        let mut shown = shown_node(source);
        shown["status"] = source.status.clone();
        shown["links"] = json!(source.links);
        shown["routes"] = source.routes.clone();
        shown["journal"] = source.journal.clone();
        shown["instances"] = source.instances.values().cloned().collect();
        shown["verdicts"] = json!(verdicts);
        Some(shown)
    }

    /// Everything known about an instance; `None` if it is unknown.
    pub fn instance_details(&self, id: &str) -> Option<Value> {
        let placed = self.placed();
        if let Some(placed) = placed.get(id) {
            let mut shown = shown_instance(id, placed);
            shown["told"] = placed.told.clone();
            shown["evaluation_ms"] = placed.source.status["evaluation_ms"].clone();
            return Some(shown);
        }
        let elsewhere = self.elsewhere.get(id)?;
        Some(json!({
            "id": id, "application": elsewhere.application, "node": elsewhere.node, "told_by": elsewhere.told_by,
            "state": "elsewhere",
        }))
    }

    /// The index of the source of the node that an instance is on.
    pub(crate) fn source_of(&self, instance: &str) -> Option<usize> {
        let placed = self.placed();
        let source = placed.get(instance)?.source;
        self.sources.iter().position(|other| std::ptr::eq(other, source))
    }
}

fn shown_node(source: &Source) -> Value {
    let (reach, cause) = match &source.reach {
        Reach::Unknown => ("unknown", None),
        Reach::Answers => ("answers", None),
        Reach::Silent { cause, .. } => ("silent", Some(cause)),
    };
    let rate = |name: &str| source.rates.get(&format!("mario_requests_{name}_total")).copied();
    json!({
        "id": source.name(),
        "address": source.address,
        "reach": reach,
        "cause": cause,
        "capacity": source.status["capacity"],
        "free": source.status["free"],
        "unreserved": source.status["unreserved"],
        "reservations": source.reservations(),
        "is_draining": source.status["is_draining"],
        "journal_fault": source.status["journal_fault"],
        "requests_per_s": rate("ingress"),
        "answered_per_s": rate("answered_here"),
        "failed_per_s": rate("failed"),
    })
}

fn shown_instance(id: &str, placed: &Placed<'_>) -> Value {
    let Placed { source, told } = placed;
    let is_owned = told["state"] == "owned";
    let state = if is_owned { told["copy"]["state"].clone() } else { told["state"].clone() };
    json!({
        "id": id,
        "application": text(&told["application"]),
        "node": source.name(),
        "state": state,
        "is_silent": !source.answers(),
        "is_pinned": told["is_pinned"],
        "is_asleep": told["is_asleep"],
        "is_moving": told["is_transferring"] == true || !is_owned,
        "target": text(&told["target"]),
        "hardware": told["hardware"],
        "requests_per_s": source.requests_per_s(told),
        "has_no_answer": Source::has_no_answer(told),
    })
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().map(|map| map.keys().take(NODES_MAX).cloned().collect()).unwrap_or_default()
}
