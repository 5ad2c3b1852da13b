//! The nodes' answers, merged.
//!
//! A [`Picture`] takes one answer or event at a time, together with its time of arrival, and returns snapshots as JSON.
//! It does no I/O and reads no clock.
//!
//! **Invariant:** memory is bounded if the size of an answer is, because only the last answer of a node to each topic
//! is kept, and lists of events and verdicts have limits.

mod charts;
mod event;
mod history;
mod problems;
mod shown;
mod source;

use std::collections::{BTreeMap, VecDeque};

use mario_live::api::{Event, Happening, NodeEvent, NodeReport, Received, Report, TestbedData};
use serde::Serialize;
use serde_json::{Value, json};

pub use event::ColonyEvent;
pub use problems::{Part, Problem, Severity};
pub use source::{Answer, Topic};

use history::{History, Point};
use shown::{NodeDetails, Snapshot};
use source::Source;

/// The maximum number of events that are kept: the latest.
const EVENTS_MAX: usize = 2_000;
/// The maximum number of instances that migrated to unpolled nodes and are kept. A further one replaces the one whose
/// id is first in order.
const ELSEWHERE_MAX: usize = 1_000;
/// The maximum number of nodes whose verdicts are kept.
const JUDGES_MAX: usize = 1_000;
/// The maximum number of verdicts of one node that are kept: the latest.
const VERDICTS_MAX: usize = 40;
/// The name, in reports, of the rule that inhibits operations for lack of hardware.
const ROOM: &str = "capacity";
/// The maximum length of an id, a cause or the description of an event, in characters; longer ones are truncated.
const TEXT_CHARS_MAX: usize = 600;

/// The known state of a colony.
#[derive(Debug)]
pub struct Picture {
    sources: Vec<Source>,
    /// Instances that migrated to nodes that are not polled, as reported by the nodes that they left.
    elsewhere: BTreeMap<String, Elsewhere>,
    /// The verdicts of managers by node, oldest first.
    verdicts: BTreeMap<String, VecDeque<Judged>>,
    events: VecDeque<ColonyEvent>,
    next_number: u64,
    history: History,
    extra: TestbedData,
    /// When the testbed announced the end of the run. From then on, nothing changes.
    over_at_ms: Option<u64>,
}

/// All that is known, for programs.
#[derive(Debug, Serialize)]
struct Everything<'a> {
    #[serde(flatten)]
    snapshot: Snapshot,
    details: Vec<NodeDetails>,
    happenings: &'a VecDeque<ColonyEvent>,
    history: &'a VecDeque<Point>,
}

#[derive(Clone, Debug)]
struct Elsewhere {
    node: String,
    application: String,
    told_by: String,
}

/// The verdict of a node's manager on a request.
#[derive(Clone, Debug)]
struct Judged {
    time_ms: u64,
    is_accepted: bool,
    /// Whether the request was inhibited for lack of hardware.
    is_for_room: bool,
    text: String,
}

impl Picture {
    /// Creates a picture of nodes at these addresses, which have not answered yet.
    pub fn new(addresses: Vec<String>) -> Picture {
        Picture {
            sources: addresses.into_iter().map(Source::new).collect(),
            elsewhere: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            events: VecDeque::new(),
            next_number: 1,
            history: History::default(),
            extra: TestbedData::default(),
            over_at_ms: None,
        }
    }

    /// Records the address at which a node is now polled.
    pub fn moved(&mut self, source: usize, address: &str) {
        if let Some(source) = self.sources.get_mut(source) {
            address.clone_into(&mut source.address);
        }
    }

    /// Stores an answer of a node.
    pub fn answered(&mut self, source: usize, now_ms: u64, answer: Answer) {
        if self.is_over() {
            return;
        }
        let Some(source) = self.sources.get_mut(source) else { return };
        let before = source.name();
        source.answered(now_ms, answer);
        let name = source.name();
        if name != before {
            // The id is known now. Events that were heard before have the address in its place.
            self.events.iter_mut().filter(|kept| kept.node == before).for_each(|kept| kept.node.clone_from(&name));
        }
        // The answer of a polled node takes precedence.
        self.elsewhere.retain(|instance, _| !source.instances.contains_key(instance));
    }

    /// Records that a node did not answer.
    pub fn silent(&mut self, source: usize, now_ms: u64, cause: &str) {
        if self.is_over() {
            return;
        }
        if let Some(source) = self.sources.get_mut(source) {
            source.silent(now_ms, clipped(cause));
        }
    }

    /// Sets the data that only a testbed knows; see [`Dashboard`](crate::Dashboard).
    pub fn set_extra(&mut self, extra: TestbedData, now_ms: u64) {
        if self.is_over() {
            return;
        }
        if extra.outcome.is_some() {
            self.over_at_ms = Some(now_ms);
        }
        self.extra = extra;
    }

    /// Whether the testbed announced the end of the run.
    pub fn is_over(&self) -> bool {
        self.over_at_ms.is_some()
    }

    /// Whether a node has told its id.
    pub(crate) fn knows_id(&self, source: usize) -> bool {
        self.sources.get(source).is_some_and(|source| source.id.is_some())
    }

    /// Adds an event of a node, and returns it as the page shows it; `None` for a duplicate, for an unknown
    /// source, and after the end of the run.
    pub fn happened(&mut self, source: usize, now_ms: u64, event: &Received<Event>) -> Option<ColonyEvent> {
        if self.is_over() {
            return None;
        }
        let origin = self.sources.get_mut(source)?;
        if !origin.is_new(event) {
            return None;
        }
        let node = origin.name();
        let application = |instance: &str| self.application_of(instance);
        let mut colony_event = ColonyEvent::read(&event.known, &node, application);
        colony_event.number = self.next_number;
        colony_event.is_fresh = now_ms.saturating_sub(colony_event.time_ms) < event::FRESH_MS;
        self.next_number += 1;
        self.judged(&event.known, &colony_event);
        self.went(&colony_event);
        self.remember(colony_event.clone());
        Some(colony_event)
    }

    /// Stores an event in time order, because nodes also report past events when they are first polled. The oldest
    /// event is dropped if there are too many.
    fn remember(&mut self, colony_event: ColonyEvent) {
        let place = self.events.partition_point(|kept| kept.time_ms <= colony_event.time_ms);
        self.events.insert(place, colony_event);
        if self.events.len() > EVENTS_MAX {
            self.events.pop_front();
        }
    }

    /// If the event is a verdict, records it for the node that inhibited the request or, if the request was accepted,
    /// for its target; without a target, for the node of the agent.
    fn judged(&mut self, event: &Event, colony_event: &ColonyEvent) {
        let Happening::Known(NodeEvent::Report { report: Report::Known(report) }) = &event.event else { return };
        let NodeReport::Judged { is_accepted, inhibited_by, rule, .. } = report else { return };
        // Its own node keeps an anchor, and has refused nobody.
        if report.keeps_an_anchor() {
            return;
        }
        let judge = match inhibited_by {
            Some(node) => Some(named(node)),
            None => colony_event.to.clone().or_else(|| colony_event.from.clone()),
        };
        let Some(judge) = judge else { return };
        if self.verdicts.len() >= JUDGES_MAX && !self.verdicts.contains_key(&judge) {
            return;
        }
        let verdicts = self.verdicts.entry(judge).or_default();
        let is_for_room = rule.as_deref() == Some(ROOM);
        let judged = Judged {
            time_ms: colony_event.time_ms,
            is_accepted: *is_accepted,
            is_for_room,
            text: colony_event.text.clone(),
        };
        let place = verdicts.partition_point(|kept| kept.time_ms <= judged.time_ms);
        verdicts.insert(place, judged);
        if verdicts.len() > VERDICTS_MAX {
            verdicts.pop_front();
        }
    }

    /// Records the node that an instance migrated to, if that node is not polled.
    fn went(&mut self, colony_event: &ColonyEvent) {
        let (Some(instance), Some(to)) = (&colony_event.instance, &colony_event.to) else { return };
        if colony_event.kind != "migrate" || self.sources.iter().any(|source| source.id.as_ref() == Some(to)) {
            return;
        }
        let Some(application) = colony_event.application.clone() else { return };
        if self.elsewhere.len() >= ELSEWHERE_MAX {
            self.elsewhere.pop_first();
        }
        let told = Elsewhere { node: to.clone(), application, told_by: colony_event.node.clone() };
        self.elsewhere.insert(instance.clone(), told);
    }

    fn application_of(&self, instance: &str) -> Option<String> {
        let here = self.sources.iter().find_map(|source| source.instances.get(instance));
        let here = here.and_then(|instance| instance.application().map(named));
        here.or_else(|| self.elsewhere.get(instance).map(|elsewhere| elsewhere.application.clone()))
    }

    /// Returns the kept events with a number above `after`, or all of them for `None`, oldest first.
    pub fn events(&self, after: Option<u64>) -> impl Iterator<Item = &ColonyEvent> {
        self.events.iter().filter(move |colony_event| colony_event.number > after.unwrap_or(0))
    }

    /// Adds a point to the time series.
    pub fn sample(&mut self, now_ms: u64) {
        let applications = self.applications();
        self.history.sample(now_ms, applications);
    }

    /// The time series of all applications as JSON, oldest point first.
    pub fn history(&self) -> Value {
        json!(self.history.points())
    }

    /// The charts of the last five minutes of the time series, drawn for a width in pixels. Charts without data are
    /// omitted; without two points, all are.
    pub fn charts(&self, width: f64) -> Value {
        json!(charts::charts(&self.history, &self.colours(), width))
    }

    /// The data of a chart as CSV; `None` if there is no chart of that name.
    pub fn chart_csv(&self, name: &str) -> Option<String> {
        charts::csv(&self.history, name).map(|csv| csv.as_str().to_owned())
    }

    /// The problems, worst first; after the end of the run, those at its end.
    pub fn problems(&self, now_ms: u64) -> Vec<Problem> {
        problems::find(self, self.over_at_ms.unwrap_or(now_ms))
    }

    /// All known data, for programs: the [`snapshot`](Picture::snapshot), the details of each polled node whose id is
    /// known, the events and the time series.
    pub fn everything(&self, now_ms: u64) -> Value {
        json!(Everything {
            snapshot: self.shown(now_ms),
            details: self.sources.iter().filter_map(|source| self.details_of(source.id.as_deref()?)).collect(),
            happenings: &self.events,
            history: self.history.points(),
        })
    }
}

/// An id as text, truncated.
fn named(id: &impl ToString) -> String {
    clipped(&id.to_string())
}

/// The text, truncated to [`TEXT_CHARS_MAX`] characters.
fn clipped(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod types;
