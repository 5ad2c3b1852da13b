//! The answers of one node.

use std::collections::{BTreeMap, BTreeSet};

use mario_live::api::{
    Event, Happening, Instance, Instances, JournalStatus, Link, Links, NodeEvent, NodeReport, OwnedInstance, Received,
    Report, Routes, Status, Unknown,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{clipped, named};

/// The maximum number of instances of one node that are kept.
const INSTANCES_MAX: usize = 2_000;
/// The maximum number of links of one node that are kept.
const LINKS_MAX: usize = 1_000;
/// The maximum number of unknown parts of one node that are kept.
const UNKNOWN_MAX: usize = 20;

/// A topic that a node is polled for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
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
pub struct Answer {
    topic: Topic,
    /// The content, or why it cannot be read.
    content: Result<Content, String>,
    /// The parts that only newer versions know.
    unknown: Vec<Unknown>,
}

#[derive(Clone, PartialEq, Debug)]
enum Content {
    Status(Box<Status>),
    Instances(Instances),
    Links(Links),
    Routes(Routes),
    Journal(JournalStatus),
    /// Metrics without labels, by name.
    Metrics(BTreeMap<String, f64>),
}

impl Answer {
    /// An answer in JSON, to a topic other than metrics.
    pub fn json(topic: Topic, value: Value) -> Answer {
        match topic {
            Topic::Status => Answer::read(topic, value, |status| Content::Status(Box::new(status))),
            Topic::Instances => Answer::read(topic, value, Content::Instances),
            Topic::Links => Answer::read(topic, value, Content::Links),
            Topic::Routes => Answer::read(topic, value, Content::Routes),
            Topic::Journal => Answer::read(topic, value, Content::Journal),
            Topic::Metrics => Answer::metrics(value.as_str().unwrap_or_default()),
        }
    }

    fn read<T: DeserializeOwned + Serialize>(topic: Topic, value: Value, content: fn(T) -> Content) -> Answer {
        match Received::<T>::read(value) {
            Ok(told) => Answer { topic, unknown: told.unknown(), content: Ok(content(told.known)) },
            Err(error) => Answer { topic, unknown: Vec::new(), content: Err(error.to_string()) },
        }
    }

    /// An answer in the text format of Prometheus. Only metrics of mario without labels are kept.
    pub fn metrics(text: &str) -> Answer {
        let lines = text.lines().filter(|line| line.starts_with("mario_") && !line.contains('{'));
        let values = lines.filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        let content = Ok(Content::Metrics(values.collect()));
        Answer { topic: Topic::Metrics, content, unknown: Vec::new() }
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
    pub(super) status: Option<Box<Status>>,
    /// The instances by id.
    pub(super) instances: BTreeMap<String, Instance>,
    pub(super) links: Vec<Link>,
    pub(super) routes: Option<Routes>,
    pub(super) journal: Option<JournalStatus>,
    /// Why the last answer to a topic could not be read.
    pub(super) unreadable: BTreeMap<Topic, String>,
    /// What the last answers have that only newer versions know, by topic.
    unknown: BTreeMap<Topic, Vec<Unknown>>,
    /// The same for events: names of events and reports, and fields of known ones. At most [`UNKNOWN_MAX`].
    unknown_in_events: BTreeSet<String>,
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
            status: None,
            instances: BTreeMap::new(),
            links: Vec::new(),
            routes: None,
            journal: None,
            unreadable: BTreeMap::new(),
            unknown: BTreeMap::new(),
            unknown_in_events: BTreeSet::new(),
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
        let Answer { topic, content, unknown } = answer;
        let content = match content {
            Ok(content) => content,
            Err(cause) => {
                // The last answer that could be read is kept.
                self.unreadable.insert(topic, clipped(&cause));
                return;
            }
        };
        self.unreadable.remove(&topic);
        self.unknown.insert(topic, unknown.into_iter().take(UNKNOWN_MAX).collect());
        match content {
            Content::Status(status) => {
                self.id = Some(named(&status.node));
                self.status = Some(status);
            }
            Content::Instances(Instances { instances }) => {
                let instances = instances.into_iter().take(INSTANCES_MAX);
                self.instances = instances.map(|instance| (named(instance.id()), instance)).collect();
            }
            Content::Links(Links { mut links }) => {
                links.truncate(LINKS_MAX);
                self.links = links;
            }
            Content::Routes(routes) => self.routes = Some(routes),
            Content::Journal(journal) => self.journal = Some(journal),
            Content::Metrics(values) => self.counted(now_ms, values),
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
    pub(super) fn is_new(&mut self, event: &Received<Event>) -> bool {
        let Event { number, time_ms, .. } = event.known;
        let (last_number, last_time_ms) = self.last_event;
        if number <= last_number && time_ms <= last_time_ms {
            return false;
        }
        self.last_event = (number, time_ms);
        if self.unknown_in_events.len() < UNKNOWN_MAX {
            self.unknown_in_events.extend(unknown_in(event));
        }
        true
    }

    /// What the node reports that only newer versions know.
    pub(super) fn unknown(&self) -> Vec<String> {
        let fields = self.unknown.iter().flat_map(|(topic, unknown)| {
            unknown.iter().map(|field| format!("`{}` in {}", clipped(&field.path), topic.path()))
        });
        fields.chain(self.unknown_in_events.iter().cloned()).take(UNKNOWN_MAX).collect()
    }

    /// The client requests per second that reached an instance in its last evaluation period; `None` if the node did
    /// not report them.
    pub(super) fn requests_per_s(&self, instance: &Instance) -> Option<f64> {
        let window_s = self.status.as_ref()?.evaluation_ms? as f64 / 1_000.0;
        let requests = instance.owned()?.facts.requests.as_ref()?;
        let count: f64 = requests.iter().map(|request| request.rate).sum();
        (window_s > 0.0).then(|| count / window_s)
    }

    /// The number of reservations for instances that have not arrived yet; `None` if the node did not report it.
    pub(super) fn reservations(&self) -> Option<f64> {
        self.metrics.get("mario_reservations").copied()
    }

    /// Whether the last evaluation of an instance had no valid answer.
    pub(super) fn has_no_answer(instance: &OwnedInstance) -> bool {
        let decisions = instance.decisions.as_deref().unwrap_or_default();
        let failed = decisions.iter().rev().find_map(|decision| {
            let Report::Known(NodeReport::Evaluated { has_failed, .. }) = **decision else { return None };
            Some(has_failed)
        });
        failed.unwrap_or(false)
    }
}

/// What an event has that only newer versions know.
fn unknown_in(event: &Received<Event>) -> Vec<String> {
    match &event.known.event {
        Happening::Unknown(unknown) => vec![format!("the event `{}`", clipped(&unknown.event))],
        Happening::Known(known) => {
            let report = if let NodeEvent::Report { report: Report::Unknown(unknown) } = known {
                Some(format!("the report `{}`", clipped(&unknown.kind)))
            } else {
                None
            };
            let fields = event.unknown().into_iter();
            let fields = fields.map(|field| format!("`{}` in an event", clipped(&field.path)));
            report.into_iter().chain(fields).collect()
        }
    }
}
