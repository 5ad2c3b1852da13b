//! The data of the replay: the events of a run, and the facts and decisions of each agent.

mod records;

use std::collections::BTreeMap;

use mario_domain::InstanceId;
use mario_trace::reader::{Evaluation, RequestFact};
use mario_trace::{Body, Instance, InstanceRef, State};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::json;

use crate::columns::Columns;
use crate::compact::Compact;
use crate::explanations::{self, Case, Explained, Explanations};
use crate::recorded::VisibleHistory;
use records::{EventColumns, SeenFacts, free_units};

pub(crate) use records::{Decision, Event};

/// The maximum number of instances in the replay of a run, including those that disappear again. For a run with more,
/// the page shows no single instances, only their numbers by area; see `areas`.
const INSTANCES_MAX: usize = 6_000;
/// The maximum number of events. A run with more has no replay either, and is shown by area.
const EVENTS_MAX: usize = 60_000;
/// The maximum number of decisions. Consecutive decisions of an agent from the same knowledge count once. If there are
/// more, the replay has events, but no decisions.
const DECISIONS_MAX: usize = 60_000;

/// Whether decisions are explained.
pub(crate) enum Explain<'a> {
    /// With at most about this many inferences. The callback receives the number of cases explained so far, and the number of cases to
    /// explain.
    Within(u64, &'a mut dyn FnMut(usize, usize)),
    No,
}

/// The events and decisions of a run while its trace is read. Becomes empty when the run proves too large.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    moments: Vec<Compact>,
    events: Vec<(u32, Event)>,
    decisions: BTreeMap<u32, Vec<Decision>>,
    decision_count: usize,
    cases: Vec<Case>,
    case_places: FxHashMap<String, u32>,
    reasons: Vec<(String, String, String)>,
    reason_places: BTreeMap<(String, String), u32>,
    is_too_large: bool,
}

impl Decision {
    /// Counts a further evaluation with the same facts and decision.
    fn repeat(&mut self, time: f64) {
        self.last = Compact(time);
        self.count += 1;
    }
}

impl Recording {
    /// Discards the recording if `count`, the number of instances that have appeared so far, exceeds [`INSTANCES_MAX`].
    pub(crate) fn instances(&mut self, count: usize) {
        if count > INSTANCES_MAX && !self.is_too_large {
            self.forget();
        }
    }

    /// Adds an event. Discards the recording if there are more than [`EVENTS_MAX`].
    pub(crate) fn push(&mut self, time: f64, event: Event) {
        if self.is_too_large {
            return;
        }
        if self.moments.last() != Some(&Compact(time)) {
            self.moments.push(Compact(time));
        }
        self.events.push((self.moments.len() as u32 - 1, event));
        if self.events.len() > EVENTS_MAX {
            self.forget();
        }
    }

    /// Adds a time, even if no event follows at that time.
    pub(crate) fn moment(&mut self, time: f64) {
        if !self.is_too_large && self.moments.last() != Some(&Compact(time)) {
            self.moments.push(Compact(time));
        }
    }

    /// Returns the index of a reason, and adds the reason if it is new. Returns 0 if the recording was discarded.
    pub(crate) fn reason(&mut self, node: &str, rule: &str, text: String) -> u32 {
        if self.is_too_large {
            return 0;
        }
        let next = self.reasons.len() as u32;
        let place = *self.reason_places.entry((node.to_owned(), text.clone())).or_insert(next);
        if place == next {
            self.reasons.push((node.to_owned(), rule.to_owned(), text));
        }
        place
    }

    /// Adds an evaluation, or counts it as a repetition of the last one if the agent had the same knowledge. Does
    /// nothing after the recording or its decisions were discarded. `unreached` are the unreachable neighbours of the
    /// agent's node.
    pub(crate) fn evaluation(
        &mut self,
        (instance, placed): (InstanceRef, &Instance),
        record: &Evaluation,
        visible_history: &VisibleHistory,
        unreached: Vec<u32>,
    ) {
        if self.is_too_large || self.decision_count > DECISIONS_MAX {
            return;
        }
        let (instance, policy) = (instance.0, placed.policy);
        let Body { flavour, is_asleep, .. } = placed.body;
        let last = self.decisions.get_mut(&instance).and_then(|of_instance| of_instance.last_mut());
        let seen = match (&record.seen, last) {
            (Some(seen), _) => seen.clone(),
            (None, Some(last)) => {
                let case = &self.cases[last.explanation as usize];
                let is_there = (case.node, case.free, case.flavour, case.is_asleep, case.policy, &case.unreached)
                    == (record.node, record.free, flavour, is_asleep, policy, &unreached);
                if is_there && case.visible_history == *visible_history {
                    last.repeat(record.time);
                    return;
                }
                case.seen.clone()
            }
            // A repetition without a previous evaluation is ignored here; the auditor reports it.
            (None, None) => return,
        };
        let facts = SeenFacts::new(&seen);
        let (node, free) = (record.node, record.free);
        let visible_history = visible_history.clone();
        let case = Case { instance, node, free, flavour, is_asleep, policy, seen, visible_history, unreached };
        let explanation = self.case(&facts, case);
        let of_instance = self.decisions.entry(instance).or_default();
        if let Some(last) = of_instance.last_mut()
            && last.explanation == explanation
        {
            last.repeat(record.time);
            return;
        }
        let (first, last) = (Compact(record.time), Compact(record.time));
        let free = free_units(free);
        of_instance.push(Decision { instance, first, last, count: 1, node, free, seen: facts, explanation, policy });
        self.decision_count += 1;
        if self.decision_count > DECISIONS_MAX {
            self.decisions.clear();
            self.cases.clear();
            self.case_places.clear();
        }
    }

    /// Returns the index of a case, and adds the case if it is new.
    fn case(&mut self, facts: &SeenFacts, case: Case) -> u32 {
        let Case { instance, node, free, flavour, is_asleep, policy, visible_history, unreached, .. } = &case;
        let body = format!("{flavour} {is_asleep}");
        let (facts, past) = (json!(facts), told_apart(visible_history));
        let key = format!("{instance} {node} {free} {body} {policy} {unreached:?} {facts}{past}");
        let next = self.cases.len() as u32;
        let place = *self.case_places.entry(key).or_insert(next);
        if place == next {
            self.cases.push(case);
        }
        place
    }

    fn forget(&mut self) {
        *self = Recording { is_too_large: true, ..Recording::default() };
    }

    /// The replay for the page; `None` if the recording was discarded.
    pub(crate) fn finish(self, state: &State, explain: Explain<'_>) -> Option<Replay> {
        if self.is_too_large {
            return None;
        }
        let explanations = match explain {
            Explain::No => None,
            Explain::Within(inferences, progress) => {
                Some(explanations::explain(state, &self.cases, inferences, progress))
            }
        };
        let instances = state.instances().iter();
        Some(Replay {
            instances: instances.map(|one| (one.id.clone(), one.application)).collect(),
            moments: self.moments,
            events: EventColumns::new(&self.events),
            decisions: Columns(self.decisions.into_values().flatten().collect()),
            has_all_decisions: self.decision_count <= DECISIONS_MAX,
            explanations,
            reasons: self.reasons,
        })
    }
}

/// Returns a text that identifies the history: different histories have different texts. Empty if there is no history.
fn told_apart(visible_history: &VisibleHistory) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let fact = |fact: &RequestFact| format!("{:?}{},{};", fact.neighbour, fact.rate, fact.latency);
    for requests in &visible_history.earlier {
        text.push('|');
        text.extend(requests.iter().map(fact));
    }
    for (ago, proposal) in &visible_history.done {
        write!(text, "/{ago}{proposal:?}").expect("a string takes everything");
    }
    if let Some(age) = visible_history.age {
        write!(text, "#{age}").expect("a string takes everything");
    }
    if let Some(leave) = visible_history.leave {
        write!(text, "!{leave}").expect("a string takes everything");
    }
    text
}

/// A recording as stored in the page.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Replay {
    /// Id and application.
    #[cfg_attr(test, ts(type = "[id: number | string, application: number][]"))]
    instances: Vec<(InstanceId, u32)>,
    moments: Vec<Compact>,
    events: EventColumns,
    /// Sorted by instance, then by time.
    #[cfg_attr(test, ts(type = "Columns<Decision>"))]
    decisions: Columns<Decision>,
    has_all_decisions: bool,
    /// Explanations of the first cases; `None` if decisions are not explained.
    explanations: Option<Explanations>,
    /// The distinct reasons of inhibitions and of acts of owners, to which events refer by index. Each has the id of the
    /// node, the rule or `owner`, and a text.
    #[cfg_attr(test, ts(type = "[node: string, rule: string, text: string][]"))]
    reasons: Vec<(String, String, String)>,
}

impl Replay {
    /// How many decisions are explained; `None` if explanations were not wanted.
    pub(crate) fn explained(&self) -> Option<Explained> {
        self.explanations.as_ref().map(|explanations| explanations.extent)
    }
}
