//! What the managers of the nodes concerned say to a request.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Capacity, Hardware, NodeId};

/// The answer to a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Verdict {
    /// Every manager concerned accepts it.
    Accepted,
    /// At least one does not, and this is why. The request changes nothing.
    Inhibited(Inhibition),
}

/// Why a request was inhibited.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Inhibition {
    /// The node whose manager inhibited it.
    pub node: NodeId,
    /// The rule that it goes against.
    #[serde(flatten)]
    pub rule: Rule,
}

/// A rule that a request can go against.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum Rule {
    /// The node has too little free hardware.
    Capacity {
        /// What the application needs.
        needed: Hardware,
        /// What the node had free when it was asked.
        free: Capacity,
    },
    /// A target is the own node, for a replication only, or a direct neighbour.
    Neighbourhood {
        /// The node that was asked for.
        target: NodeId,
    },
    /// The node is about to leave and takes nothing new.
    Leaving,
    /// The node is not there.
    Down,
    /// The node's own acceptance policy says no.
    Acceptance {
        /// What the policy gave as its reason, or that it gave none.
        reason: String,
    },
    /// The node's own acceptance policy gave no answer: it raised an exception or ran out of its budget.
    AcceptanceFailed {
        /// What happened to it.
        cause: String,
    },
}

impl Rule {
    /// The name of [`Rule::Capacity`].
    pub const CAPACITY: &'static str = "capacity";

    /// Its name, as in JSON.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Rule::Capacity { .. } => Rule::CAPACITY,
            Rule::Neighbourhood { .. } => "neighbourhood",
            Rule::Leaving => "leaving",
            Rule::Down => "down",
            Rule::Acceptance { .. } => "acceptance",
            Rule::AcceptanceFailed { .. } => "acceptance-failed",
        }
    }
}

impl Inhibition {
    /// Too little free hardware on `node`.
    pub fn capacity(node: NodeId, needed: Hardware, free: Capacity) -> Inhibition {
        Inhibition { node, rule: Rule::Capacity { needed, free } }
    }
}

impl fmt::Display for Inhibition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = &self.node;
        match &self.rule {
            Rule::Capacity { needed, free } => {
                write!(formatter, "node {node} has {free} free, and {needed} is needed")
            }
            Rule::Neighbourhood { target } => {
                write!(formatter, "{target} is no target for an instance on node {node}")
            }
            Rule::Leaving => write!(formatter, "node {node} is about to leave"),
            Rule::Down => write!(formatter, "node {node} is not there"),
            Rule::Acceptance { reason } => write!(formatter, "node {node} does not accept it: {reason}"),
            Rule::AcceptanceFailed { cause } => {
                write!(formatter, "the acceptance policy of node {node} gave no answer: {cause}")
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
        ] {
            let verdict: Verdict = serde_json::from_str(json).expect(json);
            assert_eq!(serde_json::to_string(&verdict).expect("plain data"), json);
            if let Verdict::Inhibited(inhibition) = verdict {
                assert!(json.contains(&format!(r#""rule":"{}""#, inhibition.rule.as_str())), "{json}");
            }
        }
    }

    #[test]
    fn says_what_was_needed_and_what_was_free() {
        let node = NodeId::name("n41").expect("a name");
        let inhibition = Inhibition::capacity(node, Hardware::units(4), Capacity::units(1));
        assert_eq!(inhibition.to_string(), "node n41 has 1 free, and 4 is needed");
    }
}
