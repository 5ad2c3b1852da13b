//! What nodes told, put together.
//!
//! A [`Picture`] takes in answers and events, one at a time and with the time at which they came, and returns snapshots as JSON. It
//! asks nobody and knows no clock.
//!
//! **Invariant:** its memory is bounded, whatever nodes tell.

mod happening;
mod history;
mod problems;
mod shown;
mod source;

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

pub use happening::Happening;
pub use problems::{Part, Problem, Severity};
pub use source::{Answer, Topic};

use history::History;
use source::Source;

/// What happened, the last of it.
const HAPPENINGS_MAX: usize = 2_000;
/// Instances that are remembered to have gone to nodes that are not asked.
const ELSEWHERE_MAX: usize = 1_000;
/// Nodes whose verdicts are kept, and verdicts of each.
const JUDGES_MAX: usize = 1_000;
const VERDICTS_MAX: usize = 40;
/// The rule that inhibits what does not fit.
const ROOM: &str = "capacity";
/// The longest text of a node that is kept.
const TEXT_CHARS_MAX: usize = 600;

/// What some nodes told of a colony.
#[derive(Debug)]
pub struct Picture {
    sources: Vec<Source>,
    /// Instances that went to nodes that are not asked, by what the node that they left told.
    elsewhere: BTreeMap<String, Elsewhere>,
    /// What the managers of nodes said, the last first to go.
    verdicts: BTreeMap<String, VecDeque<Judged>>,
    happenings: VecDeque<Happening>,
    next_number: u64,
    history: History,
    extra: Value,
}

#[derive(Clone, Debug)]
struct Elsewhere {
    node: String,
    application: String,
    told_by: String,
}

/// What the manager of a node said to a request.
#[derive(Clone, Debug)]
struct Judged {
    time_ms: u64,
    is_accepted: bool,
    /// Whether it was inhibited for lack of hardware.
    is_for_room: bool,
    text: String,
}

impl Picture {
    /// Of nodes at these addresses, which have not told anything yet.
    pub fn new(addresses: Vec<String>) -> Picture {
        Picture {
            sources: addresses.into_iter().map(Source::new).collect(),
            elsewhere: BTreeMap::new(),
            verdicts: BTreeMap::new(),
            happenings: VecDeque::new(),
            next_number: 1,
            history: History::default(),
            extra: Value::Null,
        }
    }

    /// A node is now asked at another address.
    pub fn moved(&mut self, source: usize, address: &str) {
        if let Some(source) = self.sources.get_mut(source) {
            address.clone_into(&mut source.address);
        }
    }

    /// A node answered.
    pub fn answered(&mut self, source: usize, now_ms: u64, answer: Answer) {
        let Some(source) = self.sources.get_mut(source) else { return };
        source.answered(now_ms, answer);
        // What is on a node that is asked is known from there.
        self.elsewhere.retain(|instance, _| !source.instances.contains_key(instance));
    }

    /// A node did not answer.
    pub fn silent(&mut self, source: usize, now_ms: u64, cause: &str) {
        if let Some(source) = self.sources.get_mut(source) {
            source.silent(now_ms, clipped(cause));
        }
    }

    /// Sets what only a testbed knows; see [`Dashboard`](crate::Dashboard).
    pub fn set_extra(&mut self, extra: Value) {
        self.extra = extra;
    }

    /// Takes in an event of a node; `None` when it was taken in before.
    pub fn happened(&mut self, source: usize, now_ms: u64, event: &Value) -> Option<Happening> {
        let origin = self.sources.get_mut(source)?;
        if !origin.is_new(event) {
            return None;
        }
        let node = origin.name();
        let application = |instance: &str| self.application_of(instance);
        let mut happening = Happening::read(event, &node, application);
        happening.number = self.next_number;
        happening.is_fresh = now_ms.saturating_sub(happening.time_ms) < happening::FRESH_MS;
        self.next_number += 1;
        self.judged(event, &happening);
        self.went(&happening);
        self.remember(happening.clone());
        Some(happening)
    }

    /// Keeps it, in the order of time: nodes tell of the past when they are first asked.
    fn remember(&mut self, happening: Happening) {
        let place = self.happenings.partition_point(|kept| kept.time_ms <= happening.time_ms);
        self.happenings.insert(place, happening);
        if self.happenings.len() > HAPPENINGS_MAX {
            self.happenings.pop_front();
        }
    }

    /// Notes what a manager said.
    fn judged(&mut self, event: &Value, happening: &Happening) {
        let report = &event["report"];
        if report["kind"] != "judged" {
            return;
        }
        let is_accepted = report["is_accepted"] == true;
        let judge = match text(&report["inhibited_by"]) {
            Some(node) => Some(node),
            None => happening.to.clone().or_else(|| happening.from.clone()),
        };
        let Some(judge) = judge else { return };
        if self.verdicts.len() >= JUDGES_MAX && !self.verdicts.contains_key(&judge) {
            return;
        }
        let verdicts = self.verdicts.entry(judge).or_default();
        let is_for_room = report["rule"] == ROOM;
        let judged = Judged { time_ms: happening.time_ms, is_accepted, is_for_room, text: happening.text.clone() };
        let place = verdicts.partition_point(|kept| kept.time_ms <= judged.time_ms);
        verdicts.insert(place, judged);
        if verdicts.len() > VERDICTS_MAX {
            verdicts.pop_front();
        }
    }

    /// Remembers where an instance went, when that node is not asked.
    fn went(&mut self, happening: &Happening) {
        let (Some(instance), Some(to)) = (&happening.instance, &happening.to) else { return };
        if happening.kind != "migrate" || self.sources.iter().any(|source| source.id.as_ref() == Some(to)) {
            return;
        }
        let Some(application) = happening.application.clone() else { return };
        if self.elsewhere.len() >= ELSEWHERE_MAX {
            self.elsewhere.pop_first();
        }
        let told = Elsewhere { node: to.clone(), application, told_by: happening.node.clone() };
        self.elsewhere.insert(instance.clone(), told);
    }

    fn application_of(&self, instance: &str) -> Option<String> {
        let here = self.sources.iter().find_map(|source| source.instances.get(instance));
        let here = here.and_then(|instance| text(&instance["application"]));
        here.or_else(|| self.elsewhere.get(instance).map(|elsewhere| elsewhere.application.clone()))
    }

    /// What happened, oldest first; after a number, or all that is kept.
    pub fn happenings(&self, after: Option<u64>) -> impl Iterator<Item = &Happening> {
        self.happenings.iter().filter(move |happening| happening.number > after.unwrap_or(0))
    }

    /// Adds a point to what is shown over time, and returns it.
    pub fn sample(&mut self, now_ms: u64) -> Value {
        let applications = self.applications();
        self.history.sample(now_ms, applications)
    }

    /// What is shown over time.
    pub fn history(&self) -> Value {
        self.history.shown()
    }

    /// What is wrong, the worst first.
    pub fn problems(&self, now_ms: u64) -> Vec<Problem> {
        problems::find(self, now_ms)
    }

    /// Everything that is known, for programs: what [`snapshot`](Picture::snapshot) has, with all of each node and what happened.
    pub fn everything(&self, now_ms: u64) -> Value {
        let mut shown = self.snapshot(now_ms);
        shown["details"] = self.sources.iter().filter_map(|source| self.node_details(source.id.as_deref()?)).collect();
        shown["happenings"] = json!(self.happenings);
        shown["history"] = self.history();
        shown
    }
}

/// The text of an id, which may be a number.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(clipped(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A text of a node, no longer than is kept.
fn clipped(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
