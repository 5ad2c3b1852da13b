//! The data of the replay: all events, and the facts and decisions of each agent.
//!
//! Events and decisions are arrays of numbers in the page. An event is `[moment, code, …]`; see [`Event`].

use std::collections::BTreeMap;

use mario_audit::Recalled;
use mario_audit::reader::{Evaluation, Header, Neighbour, Proposal, RequestFact, Seen, Solution, Target};
use mario_domain::{AgentOperation, Capacity, InstanceId};
use mario_prolog::Allowance;
use rustc_hash::FxHashMap;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::codes::EventCode;
use super::compact::Compact;
use super::explanations::{self, Case, Explanations};
use super::placement::{Placed, Placement};

/// The maximum number of instances to show individually; more are shown by area.
const INSTANCES_MAX: usize = 6_000;
/// The maximum number of events to show individually.
const EVENTS_MAX: usize = 60_000;
/// The maximum number of decisions; if there are more, none are shown.
const DECISIONS_MAX: usize = 60_000;

/// Whether decisions are explained, which takes longer than reading the rest of the trace.
pub(crate) enum Explain<'a> {
    /// Within the allowance; the callback receives the number of explained decisions, and the total.
    Within(&'a Allowance, &'a mut dyn FnMut(usize, usize)),
    No,
}

/// The events of a run.
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

/// An event; instances, nodes and users are numbers.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Event {
    Deployed { instance: u32, node: u32 },
    Handover { user: u32, to: Option<u32> },
    Migrate { instance: u32, node: u32, renamed: Option<u32> },
    Replicate { instance: u32, node: u32, replica: u32 },
    Adapt { instance: u32, flavour: u32 },
    Undeploy { instance: u32 },
    Inhibited { instance: u32, operation: AgentOperation, target: Option<u32>, reason: u32 },
    DeployInhibited { application: u32, node: u32, reason: u32 },
    NodeDown { node: u32, instances: Vec<u32> },
    NodeUp { node: u32 },
    NodeLeaving { node: u32 },
    LinkDown { nodes: [u32; 2] },
    LinkUp { nodes: [u32; 2] },
    Evicted { instance: u32, reason: u32 },
    Shrunk { instance: u32, flavour: u32, reason: u32 },
    Announced { instance: u32, evaluations: u64, reason: u32 },
    Sleep { instance: u32 },
    Wake { instance: u32 },
    Woken { instance: u32 },
    NotWoken { instance: u32, reason: u32 },
}

/// The facts and decision of an agent, at one evaluation or at several consecutive ones.
#[derive(Clone, Debug)]
struct Decision {
    first: f64,
    last: f64,
    count: u32,
    node: u32,
    free: Capacity,
    seen: Value,
    /// The index of the facts; decisions on the same facts share it.
    case: u32,
    /// The index of the policy.
    policy: u32,
}

impl Decision {
    /// Adds an evaluation with the same decision.
    fn repeat(&mut self, time: f64) {
        self.last = time;
        self.count += 1;
    }
}

impl Recording {
    /// Discards the recording if there are more instances than can be shown individually.
    pub(crate) fn instances(&mut self, count: usize) {
        if count > INSTANCES_MAX && !self.is_too_large {
            self.forget();
        }
    }

    /// Adds an event.
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

    /// Adds a time, possibly without events.
    pub(crate) fn moment(&mut self, time: f64) {
        if !self.is_too_large && self.moments.last() != Some(&Compact(time)) {
            self.moments.push(Compact(time));
        }
    }

    /// Returns the index of a reason, and adds the reason if it is new.
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

    /// Adds an evaluation; `unreached` are the unreachable neighbours of its node.
    pub(crate) fn evaluation(
        &mut self,
        (instance, placed): (u32, &Placed),
        record: &Evaluation,
        recalled: &Recalled,
        unreached: Vec<u32>,
    ) {
        if self.is_too_large || self.decision_count > DECISIONS_MAX {
            return;
        }
        let Placed { flavour, is_asleep, policy, .. } = *placed;
        let last = self.decisions.get_mut(&instance).and_then(|of_instance| of_instance.last_mut());
        let seen = match (&record.seen, last) {
            (Some(seen), _) => seen.clone(),
            (None, Some(last)) => {
                let case = &self.cases[last.case as usize];
                let is_there = (case.node, case.free, case.flavour, case.is_asleep, case.policy, &case.unreached)
                    == (record.node, record.free, flavour, is_asleep, policy, &unreached);
                if is_there && case.recalled == *recalled {
                    last.repeat(record.time);
                    return;
                }
                case.seen.clone()
            }
            // A repetition without a previous evaluation is ignored here; the auditor reports it.
            (None, None) => return,
        };
        let compact = compact(&seen);
        let (node, free) = (record.node, record.free);
        let recalled = recalled.clone();
        let case =
            self.case(&compact, Case { instance, node, free, flavour, is_asleep, policy, seen, recalled, unreached });
        let of_instance = self.decisions.entry(instance).or_default();
        if let Some(last) = of_instance.last_mut()
            && last.case == case
        {
            last.repeat(record.time);
            return;
        }
        let (first, last) = (record.time, record.time);
        of_instance.push(Decision { first, last, count: 1, node, free, seen: compact, case, policy });
        self.decision_count += 1;
        if self.decision_count > DECISIONS_MAX {
            self.decisions.clear();
            self.cases.clear();
            self.case_places.clear();
        }
    }

    /// Returns the index of a case, and adds the case if it is new.
    fn case(&mut self, seen: &Value, case: Case) -> u32 {
        let Case { instance, node, free, flavour, is_asleep, policy, recalled, unreached, .. } = &case;
        let body = format!("{flavour} {is_asleep}");
        let key = format!("{instance} {node} {free} {body} {policy} {unreached:?} {seen}{}", told_apart(recalled));
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

    /// The replay for the page; `None` if it is too large to show individually.
    pub(crate) fn finish(self, header: &Header, placement: &Placement, explain: Explain<'_>) -> Option<Replay> {
        if self.is_too_large {
            return None;
        }
        let explanations = match explain {
            Explain::No => None,
            Explain::Within(allowance, progress) => {
                Some(explanations::explain(header, placement, &self.cases, allowance, progress))
            }
        };
        let instances = placement.instances.iter();
        Some(Replay {
            instances: instances.map(|one| (one.id.clone(), one.application)).collect(),
            moments: self.moments,
            events: self.events.into_iter().map(|(moment, event)| Line(moment, event)).collect(),
            decisions: self.decisions,
            has_all_decisions: self.decision_count <= DECISIONS_MAX,
            explanations,
            reasons: self.reasons,
        })
    }
}

/// Returns a text that distinguishes the histories of agents; empty if there is no history.
fn told_apart(recalled: &Recalled) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let fact = |fact: &RequestFact| format!("{:?}{},{};", fact.neighbour, fact.rate, fact.latency);
    for requests in &recalled.earlier {
        text.push('|');
        text.extend(requests.iter().map(fact));
    }
    for (ago, proposal) in &recalled.done {
        write!(text, "/{ago}{proposal:?}").expect("a string takes everything");
    }
    if let Some(age) = recalled.age {
        write!(text, "#{age}").expect("a string takes everything");
    }
    if let Some(leave) = recalled.leave {
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
    #[cfg_attr(test, ts(type = "ReplayEvent[]"))]
    events: Vec<Line>,
    #[cfg_attr(test, ts(type = "Record<number, Decision[]>"))]
    decisions: BTreeMap<u32, Vec<Decision>>,
    has_all_decisions: bool,
    /// Explanations of the cases of decisions, in order; possibly only of the first ones.
    explanations: Option<Explanations>,
    /// The id of a node, a rule, and a description of the rule.
    #[cfg_attr(test, ts(type = "[node: string, rule: string, text: string][]"))]
    reasons: Vec<(String, String, String)>,
}

/// An event with the index of its time.
#[derive(Debug)]
struct Line(u32, Event);

impl Serialize for Line {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = |place: &Option<u32>| place.map_or(-1, i64::from);
        let Line(moment, event) = self;
        let numbers: Vec<i64> = match event {
            Event::Deployed { instance, node } => {
                vec![EventCode::Deployed.number(), (*instance).into(), (*node).into()]
            }
            Event::Handover { user, to } => vec![EventCode::Handover.number(), (*user).into(), place(to)],
            Event::Migrate { instance, node, renamed } => {
                vec![EventCode::Migrate.number(), (*instance).into(), (*node).into(), place(renamed)]
            }
            Event::Replicate { instance, node, replica } => {
                vec![EventCode::Replicate.number(), (*instance).into(), (*node).into(), (*replica).into()]
            }
            Event::Adapt { instance, flavour } => {
                vec![EventCode::Adapt.number(), (*instance).into(), (*flavour).into()]
            }
            Event::Undeploy { instance } => vec![EventCode::Undeploy.number(), (*instance).into()],
            Event::Inhibited { instance, operation, target, reason } => {
                vec![
                    EventCode::Inhibited.number(),
                    (*instance).into(),
                    operation.code().into(),
                    place(target),
                    (*reason).into(),
                ]
            }
            Event::DeployInhibited { application, node, reason } => {
                vec![EventCode::DeployInhibited.number(), (*application).into(), (*node).into(), (*reason).into()]
            }
            Event::NodeDown { node, instances } => [EventCode::NodeDown.number(), (*node).into()]
                .into_iter()
                .chain(instances.iter().map(|one| i64::from(*one)))
                .collect(),
            Event::NodeUp { node } => vec![EventCode::NodeUp.number(), (*node).into()],
            Event::NodeLeaving { node } => vec![EventCode::NodeLeaving.number(), (*node).into()],
            Event::LinkDown { nodes: [one, other] } => {
                vec![EventCode::LinkDown.number(), (*one).into(), (*other).into()]
            }
            Event::LinkUp { nodes: [one, other] } => vec![EventCode::LinkUp.number(), (*one).into(), (*other).into()],
            Event::Evicted { instance, reason } => {
                vec![EventCode::Evicted.number(), (*instance).into(), (*reason).into()]
            }
            Event::Shrunk { instance, flavour, reason } => {
                vec![EventCode::Shrunk.number(), (*instance).into(), (*flavour).into(), (*reason).into()]
            }
            Event::Announced { instance, evaluations, reason } => {
                let evaluations = i64::try_from(*evaluations).unwrap_or(i64::MAX);
                vec![EventCode::Announced.number(), (*instance).into(), evaluations, (*reason).into()]
            }
            Event::Sleep { instance } => vec![EventCode::Sleep.number(), (*instance).into()],
            Event::Wake { instance } => vec![EventCode::Wake.number(), (*instance).into()],
            Event::Woken { instance } => vec![EventCode::Woken.number(), (*instance).into()],
            Event::NotWoken { instance, reason } => {
                vec![EventCode::NotWoken.number(), (*instance).into(), (*reason).into()]
            }
        };
        let mut sequence = serializer.serialize_seq(Some(numbers.len() + 1))?;
        sequence.serialize_element(moment)?;
        numbers.iter().try_for_each(|number| sequence.serialize_element(number))?;
        sequence.end()
    }
}

impl Serialize for Decision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let free = match self.free {
            Capacity::Unbounded => -1,
            Capacity::Bounded(units) => units.as_units() as i64,
        };
        let Decision { first, last, count, node, seen, case, policy, .. } = self;
        (Compact(*first), Compact(*last), count, node, free, seen, case, policy).serialize(serializer)
    }
}

/// The facts and decision as `[requests, inhibited, solutions, ending, random]`, without empty elements at the end.
fn compact(seen: &Seen) -> Value {
    let requests = seen.requests.iter().map(|fact| {
        let neighbour = match fact.neighbour {
            Neighbour::Own => json!(-1),
            Neighbour::Node(node) => json!(node),
        };
        json!([neighbour, fact.rate, fact.latency])
    });
    let solutions = seen.solutions.iter().map(|solution| match solution {
        Solution::Proposal { proposal, clause } => {
            let [operation, target] = compact_proposal(proposal);
            json!([operation, target, clause])
        }
        Solution::Invalid { why, clause } => json!([why, null, clause]),
    });
    let mut parts = vec![
        requests.collect(),
        seen.inhibited.iter().map(|proposal| json!(compact_proposal(proposal))).collect(),
        // A policy may repeat a solution once for each reason; the page shows only the first few.
        solutions.take(4).collect(),
        json!(seen.ending),
        json!(seen.random),
    ];
    let is_empty = |part: &Value| part.is_null() || part.as_array().is_some_and(Vec::is_empty);
    while parts.last().is_some_and(is_empty) {
        parts.pop();
    }
    Value::Array(parts)
}

fn compact_proposal(proposal: &Proposal) -> [Value; 2] {
    let target = match &proposal.target {
        Target::Own => json!(-1),
        Target::Node(node) => json!(node),
        Target::Unknown(id) | Target::Flavour(id) => json!(id.to_string()),
    };
    [json!(proposal.operation.code()), target]
}
