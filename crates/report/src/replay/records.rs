//! The events and decisions of a replay as stored in the page.

use mario_domain::{Capacity, Quantity};
use mario_trace::reader::{self, Neighbour, Target};
use serde::Serialize;
use serde_json::{Value, json};

use crate::columns::Columns;
use crate::compact::Compact;

/// Only the first solutions of a decision are stored, at most this number. A policy can have very many, because it
/// yields the same solution once for each way to derive it.
const SOLUTIONS_MAX: usize = 4;

/// An event. Instances, nodes, users, applications, flavours and reasons are indices.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "EventOfKind"))]
pub(crate) enum Event {
    Deployed {
        instance: u32,
        node: u32,
    },
    Handover {
        user: u32,
        /// `None` if the user left.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        to: Option<u32>,
    },
    Migrate {
        instance: u32,
        node: u32,
        /// The instance that it became, if it got another id.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        renamed: Option<u32>,
    },
    Replicate {
        instance: u32,
        node: u32,
        replica: u32,
    },
    Adapt {
        instance: u32,
        flavour: u32,
    },
    Undeploy {
        instance: u32,
    },
    Inhibited {
        instance: u32,
        /// The index of the operation in the table `OPERATIONS` of the page.
        operation: u8,
        /// `None` if the target is not a node.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        target: Option<u32>,
        reason: u32,
    },
    DeployInhibited {
        application: u32,
        node: u32,
        reason: u32,
    },
    NodeDown {
        node: u32,
        instances: Vec<u32>,
    },
    NodeUp {
        node: u32,
    },
    NodeLeaving {
        node: u32,
    },
    LinkDown {
        nodes: [u32; 2],
    },
    LinkUp {
        nodes: [u32; 2],
    },
    Evicted {
        instance: u32,
        reason: u32,
    },
    Shrunk {
        instance: u32,
        flavour: u32,
        reason: u32,
    },
    Announced {
        instance: u32,
        evaluations: u64,
        reason: u32,
    },
    Sleep {
        instance: u32,
    },
    Wake {
        instance: u32,
    },
    Woken {
        instance: u32,
    },
    NotWoken {
        instance: u32,
        reason: u32,
    },
}

/// Events as columns, with a table for each kind, because kinds have different fields.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct EventColumns {
    /// For each event, the index of its time among the moments of the replay.
    moment: Vec<u32>,
    /// For each event, the index of its kind in `kinds`. The nth event of a kind is the nth row of its table.
    kind: Vec<usize>,
    kinds: Vec<EventsOfKind>,
}

/// The events of one kind.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct EventsOfKind {
    kind: String,
    #[cfg_attr(test, ts(type = "Columns<object>"))]
    events: Columns<Value>,
}

impl EventColumns {
    pub(super) fn new(events: &[(u32, Event)]) -> EventColumns {
        let mut columns = EventColumns { moment: Vec::new(), kind: Vec::new(), kinds: Vec::new() };
        for (moment, event) in events {
            let mut fields = json!(event);
            let kind = match fields["kind"].take() {
                Value::String(kind) => kind,
                other => other.to_string(),
            };
            if let Value::Object(fields) = &mut fields {
                fields.shift_remove("kind");
            }
            let index = columns.kinds.iter().position(|known| known.kind == kind).unwrap_or_else(|| {
                columns.kinds.push(EventsOfKind { kind, events: Columns(Vec::new()) });
                columns.kinds.len() - 1
            });
            columns.kinds[index].events.0.push(fields);
            columns.kind.push(index);
            columns.moment.push(*moment);
        }
        columns
    }
}

/// The facts and the decision of an agent, at one evaluation or at several consecutive ones with the same knowledge.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Decision {
    pub(super) instance: u32,
    /// The times of the first and of the last evaluation.
    pub(super) first: Compact,
    pub(super) last: Compact,
    /// The number of evaluations.
    pub(super) count: u32,
    pub(super) node: u32,
    /// The free units of the node; `None` if it has no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub(super) free: Option<u64>,
    #[serde(flatten)]
    pub(super) seen: SeenFacts,
    /// The index of the case, and of its explanation if the case is explained. Decisions of one agent with the same
    /// knowledge share a case.
    pub(super) explanation: u32,
    /// The index of the policy.
    pub(super) policy: u32,
}

/// What an agent saw, and the solutions of its policy.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SeenFacts {
    requests: Vec<SeenRequests>,
    /// The operations that it remembers as inhibited.
    inhibited: Vec<Wanted>,
    solutions: Vec<Solved>,
    /// Why the evaluation ended early; `None` if it was complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    ending: Option<String>,
    /// The random number drawn for the evaluation; `None` if the policy uses none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    random: Option<u32>,
}

/// Client requests as an agent sees them.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SeenRequests {
    /// The last hop; `None` for clients on the agent's own node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    neighbour: Option<u32>,
    #[cfg_attr(test, ts(type = "number"))]
    rate: Quantity,
    #[cfg_attr(test, ts(type = "number"))]
    latency: Quantity,
}

/// An operation and its target.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Wanted {
    /// The index of the operation in the table `OPERATIONS` of the page.
    operation: u8,
    /// `None` for the agent's own node.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    target: Option<WantedTarget>,
}

/// The target of an operation.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum WantedTarget {
    /// The index of a node.
    Node(u32),
    /// A flavour, or a name that no node has.
    Name(String),
}

/// A solution of a policy: an operation, or an invalid answer.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Solved {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    operation: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    target: Option<WantedTarget>,
    /// Why the answer is invalid; `None` for an operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    invalid: Option<String>,
    /// The index of the clause of `operation/3` that gave the solution.
    clause: u64,
}

/// The free units of a node; `None` if it has no bound.
pub(super) fn free_units(free: Capacity) -> Option<u64> {
    match free {
        Capacity::Unbounded => None,
        Capacity::Bounded(units) => Some(units.as_units()),
    }
}

impl SeenFacts {
    pub(super) fn new(seen: &reader::FactsAndDecision) -> SeenFacts {
        let requests = seen.requests.iter().map(|fact| SeenRequests {
            neighbour: match fact.neighbour {
                Neighbour::Own => None,
                Neighbour::Node(node) => Some(node),
            },
            rate: fact.rate,
            latency: fact.latency,
        });
        let solutions = seen.solutions.iter().map(|solution| match solution {
            reader::Solution::Proposal { proposal, clause } => {
                let Wanted { operation, target } = Wanted::new(proposal);
                Solved { operation: Some(operation), target, invalid: None, clause: *clause }
            }
            reader::Solution::Invalid { why, clause } => {
                Solved { operation: None, target: None, invalid: Some(why.clone()), clause: *clause }
            }
        });
        SeenFacts {
            requests: requests.collect(),
            inhibited: seen.inhibited.iter().map(Wanted::new).collect(),
            solutions: solutions.take(SOLUTIONS_MAX).collect(),
            ending: seen.ending.clone(),
            random: seen.random,
        }
    }
}

impl Wanted {
    fn new(proposal: &reader::Proposal) -> Wanted {
        let target = match &proposal.target {
            Target::Own => None,
            Target::Node(node) => Some(WantedTarget::Node(*node)),
            Target::Unknown(id) | Target::Flavour(id) => Some(WantedTarget::Name(id.to_string())),
        };
        Wanted { operation: proposal.operation.code(), target }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_columns_of_their_kinds() {
        let events = [
            (0, Event::Deployed { instance: 0, node: 4 }),
            (1, Event::Migrate { instance: 0, node: 5, renamed: None }),
            (1, Event::NodeDown { node: 4, instances: vec![1, 2] }),
            (2, Event::Migrate { instance: 0, node: 6, renamed: Some(3) }),
            (2, Event::Inhibited { instance: 3, operation: 1, target: None, reason: 0 }),
        ];
        let table = |length: usize, columns: Value| json!({ "length": length, "columns": columns });
        let migrations = json!({ "instance": [0, 0], "node": [5, 6], "renamed": [null, 3] });
        let inhibited = json!({ "instance": [3], "operation": [1], "reason": [0] });
        let written = json!({
            "moment": [0, 1, 1, 2, 2],
            "kind": [0, 1, 2, 1, 3],
            "kinds": [
                { "kind": "deployed", "events": table(1, json!({ "instance": [0], "node": [4] })) },
                { "kind": "migrate", "events": table(2, migrations) },
                { "kind": "nodeDown", "events": table(1, json!({ "node": [4], "instances": [[1, 2]] })) },
                { "kind": "inhibited", "events": table(1, inhibited) },
            ],
        });
        assert_eq!(json!(EventColumns::new(&events)), written);
    }
}
