//! Verdicts of managers on requests.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Capacity, FlavourId, Hardware, HardwareKind, NodeId};

/// The verdict of the managers on a request.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// Every manager concerned accepts it.
    Accepted,
    /// The request is inhibited, for this reason. It changes nothing except the memory of the agent that asked.
    Inhibited(Inhibition),
}

/// The reason why a request was inhibited.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Inhibition {
    /// The node whose manager inhibited it; for [`Rule::Unanswered`], the target.
    pub node: NodeId,
    /// The rule that it violates.
    #[serde(flatten)]
    pub rule: Rule,
}

/// A rule that a request can violate.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Rule {
    /// The node has too little free hardware.
    Capacity {
        /// The hardware that the request needs on the node.
        needed: Hardware,
        /// The hardware of the node that was neither used nor reserved when the request was judged.
        free: Capacity,
    },
    /// The target must be a direct neighbour or, for a replication only, the instance's own node.
    Neighbourhood {
        /// The requested target.
        target: NodeId,
    },
    /// The node is about to leave and accepts nothing new.
    Leaving,
    /// The node is down, or no longer has the instance.
    Down,
    /// The node's acceptance policy rejects the request.
    Acceptance {
        /// The reason that `reject/2` gave, or a note that no clause of `accept/1` holds.
        reason: String,
    },
    /// The node's acceptance policy failed: for example, it raised an exception or exhausted its budget.
    AcceptanceFailed {
        /// The cause of the failure.
        cause: String,
    },
    /// The application does not have the flavour, or the instance runs in it already.
    Flavour {
        /// The requested flavour.
        flavour: FlavourId,
    },
    /// The instance sleeps already.
    Asleep,
    /// The instance is awake already.
    Awake,
    /// The descriptor of the application does not say how its instances sleep, so they cannot.
    Sleepless,
    /// An operator pinned the instance: its agent can neither undeploy nor move it.
    Pinned,
    /// The instance is an anchor, which an operator deployed: its agent cannot undeploy it.
    Anchor,
    /// The instance has used up its share of the replication budget that the owner of the application set.
    Budget,
    /// The node has already offered a replica of this application to the same target and does not know the outcome yet.
    OpenGrant,
    /// The node has reached a limit on open transfers.
    Busy,
    /// The node has just restarted and does not know yet which instances still run on it.
    Recovering,
    /// The node has restarted, and no neighbour has confirmed its journal yet.
    Unconfirmed,
    /// The target node is unknown, was declared lost or is rejected, already has the instance, was not ready in time,
    /// or did not take the instance; or the copy of an exclusive application did not stop in time for a migration.
    Unanswered,
    /// The copy did not start on the target.
    NotStarted {
        /// The cause of the failure.
        cause: String,
    },
    /// The agent's memory and history are too large to be transferred.
    Oversized {
        /// The approximate size of both, in bytes.
        bytes: u64,
        /// The maximum size that the target accepts, in bytes.
        bytes_max: u64,
    },
    /// The description of the application is unusable: for example, its policy is invalid.
    Descriptor {
        /// What is wrong with it.
        cause: String,
    },
}

impl Rule {
    /// The name of [`Rule::Capacity`].
    pub const CAPACITY: &'static str = "capacity";

    /// The name of the rule in traces and tables.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Rule::Capacity { .. } => Rule::CAPACITY,
            Rule::Neighbourhood { .. } => "neighbourhood",
            Rule::Leaving => "leaving",
            Rule::Down => "down",
            Rule::Acceptance { .. } => "acceptance",
            Rule::AcceptanceFailed { .. } => "acceptance-failed",
            Rule::Flavour { .. } => "flavour",
            Rule::Asleep => "asleep",
            Rule::Awake => "awake",
            Rule::Sleepless => "sleepless",
            Rule::Pinned => "pinned",
            Rule::Anchor => "anchor",
            Rule::Budget => "budget",
            Rule::OpenGrant => "open-grant",
            Rule::Busy => "busy",
            Rule::Recovering => "recovering",
            Rule::Unconfirmed => "unconfirmed",
            Rule::Unanswered => "unanswered",
            Rule::NotStarted { .. } => "not-started",
            Rule::Oversized { .. } => "oversized",
            Rule::Descriptor { .. } => "descriptor",
        }
    }
}

impl Verdict {
    /// Why the request was inhibited; `None` if it was accepted.
    pub fn inhibition(&self) -> Option<&Inhibition> {
        match self {
            Verdict::Accepted => None,
            Verdict::Inhibited(inhibition) => Some(inhibition),
        }
    }
}

impl Inhibition {
    /// An inhibition because of too little free hardware on `node`.
    pub fn capacity(node: NodeId, needed: Hardware, free: Capacity) -> Inhibition {
        Inhibition { node, rule: Rule::Capacity { needed, free } }
    }
}

impl fmt::Display for Inhibition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = &self.node;
        match &self.rule {
            Rule::Capacity { needed, free } => match (needed.lacking(*free), free) {
                (Some(kind), Capacity::Bounded(free)) if kind != HardwareKind::Units => {
                    let (needed, free) = (needed.of(kind), free.of(kind));
                    write!(formatter, "node {node} has {free} {kind} free, and {needed} is needed")
                }
                (Some(_), Capacity::Bounded(free)) => {
                    let (needed, free) = (needed.as_units(), free.as_units());
                    write!(formatter, "node {node} has {free} free, and {needed} is needed")
                }
                _ => write!(formatter, "node {node} has {free} free, and {needed} is needed"),
            },
            Rule::Neighbourhood { target } => {
                write!(formatter, "{target} is not a valid target for an instance on node {node}")
            }
            Rule::Leaving => write!(formatter, "node {node} is about to leave"),
            Rule::Down => write!(formatter, "node {node} is not there"),
            Rule::Acceptance { reason } => write!(formatter, "node {node} does not accept it: {reason}"),
            Rule::AcceptanceFailed { cause } => {
                write!(formatter, "the acceptance policy of node {node} gave no answer: {cause}")
            }
            Rule::Flavour { flavour } => {
                write!(
                    formatter,
                    "the instance on node {node} cannot adapt to {flavour}: it runs so, or there is no such flavour"
                )
            }
            Rule::Asleep => write!(formatter, "the instance on node {node} sleeps already"),
            Rule::Awake => write!(formatter, "the instance on node {node} is awake already"),
            Rule::Sleepless => {
                write!(formatter, "the application of the instance on node {node} does not say how it sleeps")
            }
            Rule::Pinned => write!(formatter, "an operator pinned the instance to node {node}"),
            Rule::Anchor => {
                write!(formatter, "the instance on node {node} is an anchor, which does not undeploy itself")
            }
            Rule::Budget => write!(formatter, "the instance on node {node} has used up its replications"),
            Rule::OpenGrant => {
                write!(formatter, "node {node} waits to hear how its last replication to this target ended")
            }
            Rule::Busy => write!(formatter, "node {node} has too many transfers open"),
            Rule::Recovering => write!(formatter, "node {node} has just restarted"),
            Rule::Unconfirmed => {
                write!(formatter, "node {node} has restarted, and no neighbour has confirmed its journal yet")
            }
            Rule::Unanswered => write!(formatter, "node {node} did not take the instance in time"),
            Rule::NotStarted { cause } => write!(formatter, "the copy did not start on node {node}: {cause}"),
            Rule::Oversized { bytes, bytes_max } => {
                write!(formatter, "the agent's memory has {bytes} bytes, and node {node} takes {bytes_max}")
            }
            Rule::Descriptor { cause } => {
                write!(formatter, "node {node} cannot use the description of the application: {cause}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_has_this_json() {
        for json in [
            r#"{"verdict":"accepted"}"#,
            r#"{"verdict":"inhibited","node":"n41","rule":"capacity","needed":4,"free":1}"#,
            r#"{"verdict":"inhibited","node":"n41","rule":"neighbourhood","target":"n40"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"leaving"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"down"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"acceptance","reason":"not at night"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"acceptance-failed","cause":"out of inferences"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"flavour","flavour":"lite"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"asleep"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"awake"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"sleepless"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"pinned"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"anchor"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"budget"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"open-grant"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"busy"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"recovering"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"unconfirmed"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"unanswered"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"not-started","cause":"exit code 1"}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"oversized","bytes":70000,"bytes_max":65536}"#,
            r#"{"verdict":"inhibited","node":7,"rule":"descriptor","cause":"no operation/3"}"#,
        ] {
            let verdict: Verdict = serde_json::from_str(json).expect(json);
            assert_eq!(serde_json::to_string(&verdict).expect("plain data"), json);
            if let Verdict::Inhibited(inhibition) = verdict {
                assert!(json.contains(&format!(r#""rule":"{}""#, inhibition.rule.as_str())), "{json}");
            }
        }
    }

    #[test]
    fn displays_the_needed_and_the_free_hardware() {
        let node = NodeId::name("n41").expect("a name");
        let inhibition = Inhibition::capacity(node, Hardware::units(4), Capacity::units(1));
        assert_eq!(inhibition.to_string(), "node n41 has 1 free, and 4 is needed");
        let json = r#"{"node":"n41","rule":"capacity","needed":{"units":1,"gpu":2},"free":{"units":3,"gpu":1}}"#;
        let inhibition: Inhibition = serde_json::from_str(json).expect("valid");
        assert_eq!(serde_json::to_string(&inhibition).expect("plain data"), json);
        assert_eq!(inhibition.to_string(), "node n41 has 1 gpu free, and 2 is needed");
    }
}
