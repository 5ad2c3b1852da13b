//! The answers of one node.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::text;

/// The maximum number of instances of one node that are kept.
const INSTANCES_MAX: usize = 2_000;
/// The maximum number of links of one node that are kept.
const LINKS_MAX: usize = 1_000;

/// A topic that a node is polled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    /// The node itself.
    Status,
    /// The instances on it.
    Instances,
    /// Its links.
    Links,
    /// Its routes for client requests.
    Routes,
    /// Its journal.
    Journal,
    /// Its metrics.
    Metrics,
}

impl Topic {
    /// Its path in the operators' interface.
    pub const fn path(self) -> &'static str {
        match self {
            Topic::Status => "/v1/status",
            Topic::Instances => "/v1/instances",
            Topic::Links => "/v1/links",
            Topic::Routes => "/v1/routes",
            Topic::Journal => "/v1/journal",
            Topic::Metrics => "/metrics",
        }
    }
}

/// An answer of a node.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer(Content);

#[derive(Clone, PartialEq, Debug)]
enum Content {
    Json(Topic, Value),
    /// Metrics without labels, by name.
    Metrics(BTreeMap<String, f64>),
}

impl Answer {
    /// An answer in JSON.
    pub fn json(topic: Topic, value: Value) -> Answer {
        Answer(Content::Json(topic, value))
    }

    /// An answer in the text format of Prometheus. Only metrics of mario without labels are kept.
    pub fn metrics(text: &str) -> Answer {
        let lines = text.lines().filter(|line| line.starts_with("mario_") && !line.contains('{'));
        let values = lines.filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        Answer(Content::Metrics(values.collect()))
    }
}

/// Whether a node answers.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Reach {
    /// No poll has succeeded or failed yet.
    Unknown,
    Answers,
    /// It does not answer, since this time and for this reason.
    Silent {
        since_ms: u64,
        cause: String,
    },
}

/// The answers of one node.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) address: String,
    /// Its id, once known.
    pub(super) id: Option<String>,
    pub(super) reach: Reach,
    pub(super) status: Value,
    /// The instances by id.
    pub(super) instances: BTreeMap<String, Value>,
    pub(super) links: Vec<Value>,
    pub(super) routes: Value,
    pub(super) journal: Value,
    pub(super) metrics: BTreeMap<String, f64>,
    /// The increase per second of each counter (a metric whose name ends in `_total`) between the last two answers, by
    /// name.
    pub(super) rates: BTreeMap<String, f64>,
    metrics_at_ms: Option<u64>,
    /// Number and time of the last event.
    last_event: (u64, u64),
}

impl Source {
    pub(super) fn new(address: String) -> Source {
        Source {
            address,
            id: None,
            reach: Reach::Unknown,
            status: Value::Null,
            instances: BTreeMap::new(),
            links: Vec::new(),
            routes: Value::Null,
            journal: Value::Null,
            metrics: BTreeMap::new(),
            rates: BTreeMap::new(),
            metrics_at_ms: None,
            last_event: (0, 0),
        }
    }

    /// Its id, or its address until the id is known.
    pub(super) fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| self.address.clone())
    }

    pub(super) fn answers(&self) -> bool {
        self.reach == Reach::Answers
    }

    pub(super) fn answered(&mut self, now_ms: u64, answer: Answer) {
        self.reach = Reach::Answers;
        let (topic, mut value) = match answer.0 {
            Content::Metrics(values) => return self.counted(now_ms, values),
            Content::Json(topic, value) => (topic, value),
        };
        match topic {
            Topic::Status => {
                self.id = text(&value["node"]).or(self.id.take());
                self.status = value;
            }
            Topic::Instances => {
                let instances = list(&mut value, "instances").into_iter().take(INSTANCES_MAX);
                self.instances = instances.filter_map(|one| Some((text(&one["instance"])?, one))).collect();
            }
            Topic::Links => {
                self.links = list(&mut value, "links");
                self.links.truncate(LINKS_MAX);
            }
            Topic::Routes => self.routes = value,
            Topic::Journal => self.journal = value,
            Topic::Metrics => {}
        }
    }

    /// Stores metrics, and computes the rates of counters. A counter that decreased was reset, and has no rate.
    fn counted(&mut self, now_ms: u64, values: BTreeMap<String, f64>) {
        if let Some(before_ms) = self.metrics_at_ms {
            let seconds = now_ms.saturating_sub(before_ms) as f64 / 1_000.0;
            // An answer soon after the last one is ignored: over a very short interval, even one request would be a
            // high rate.
            if seconds < 0.5 {
                return;
            }
            self.rates = values
                .iter()
                .filter(|(name, _)| name.ends_with("_total"))
                .filter_map(|(name, value)| {
                    let grown = value - self.metrics.get(name)?;
                    (grown >= 0.0).then(|| (name.clone(), grown / seconds))
                })
                .collect();
        }
        self.metrics_at_ms = Some(now_ms);
        self.metrics = values;
    }

    /// Records that the node does not answer. Its last answers are kept, but its rates are dropped.
    pub(super) fn silent(&mut self, now_ms: u64, cause: String) {
        let since_ms = match self.reach {
            Reach::Silent { since_ms, .. } => since_ms,
            _ => now_ms,
        };
        self.reach = Reach::Silent { since_ms, cause };
        self.rates.clear();
        self.metrics_at_ms = None;
    }

    /// Whether an event is new; if so, it is recorded as the last one. A restarted daemon numbers events from 1 again,
    /// but at later times.
    pub(super) fn is_new(&mut self, event: &Value) -> bool {
        let number = event["number"].as_u64().unwrap_or(0);
        let time_ms = event["time_ms"].as_u64().unwrap_or(0);
        let (last_number, last_time_ms) = self.last_event;
        if number <= last_number && time_ms <= last_time_ms {
            return false;
        }
        self.last_event = (number, time_ms);
        true
    }

    /// The client requests per second that reached an instance in its last evaluation period; `None` if the node did
    /// not report them.
    pub(super) fn requests_per_s(&self, instance: &Value) -> Option<f64> {
        let window_s = self.status["evaluation_ms"].as_f64()? / 1_000.0;
        let requests = instance["facts"]["requests"].as_array()?;
        let count: f64 = requests.iter().filter_map(|request| request["rate"].as_f64()).sum();
        (window_s > 0.0).then(|| count / window_s)
    }

    /// The number of reservations for instances that have not arrived yet; `None` if the node did not report it.
    pub(super) fn reservations(&self) -> Option<f64> {
        self.metrics.get("mario_reservations").copied()
    }

    /// Whether the last evaluation of an instance had no valid answer.
    pub(super) fn has_no_answer(instance: &Value) -> bool {
        let decisions = instance["decisions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let last = decisions.iter().rev().find(|decision| decision["kind"] == "evaluated");
        last.is_some_and(|decision| decision["has_failed"] == true)
    }
}

fn list(value: &mut Value, key: &str) -> Vec<Value> {
    let found = value.as_object_mut().and_then(|map: &mut Map<String, Value>| map.remove(key));
    match found {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}
