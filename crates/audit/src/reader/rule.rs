//! The rules that can inhibit a request, as a trace names them.

use std::fmt;

use mario_domain::{Capacity, Hardware, Id};

use super::live::LiveRule;

/// A rule that can inhibit a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Too little free hardware.
    Capacity {
        /// The needed hardware.
        needed: Hardware,
        /// The free hardware.
        free: Capacity,
    },
    /// The target is neither a reachable neighbour nor, for a replicate, the agent's own node. With other arbitration
    /// than by managers, the target is not a node that is up.
    Neighbourhood {
        /// The id of the target.
        target: Id,
    },
    /// The node is about to leave.
    Leaving,
    /// The node is down.
    Down,
    /// The node's acceptance policy rejects the request.
    Acceptance {
        /// The reason that the policy gives.
        reason: String,
    },
    /// The node's acceptance policy failed.
    AcceptanceFailed {
        /// The cause of the failure.
        cause: String,
    },
    /// The application does not have the flavour, or the instance already runs in it.
    Flavour {
        /// The flavour.
        flavour: Id,
    },
    /// The instance is already asleep.
    Asleep,
    /// The instance is already awake.
    Awake,
    /// The application has no sleep settings.
    Sleepless,
    /// The instance is an anchor, and would undeploy itself.
    Anchor,
    /// A rule of live nodes only.
    Live(LiveRule),
}

impl Rule {
    /// The words of all rules except those of live nodes.
    pub const WORDS: [&'static str; 11] = [
        "capacity",
        "neighbourhood",
        "leaving",
        "down",
        "acceptance",
        "acceptance-failed",
        "flavour",
        "asleep",
        "awake",
        "sleepless",
        "anchor",
    ];

    /// The word for the rule in a trace.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Rule::Capacity { .. } => "capacity",
            Rule::Neighbourhood { .. } => "neighbourhood",
            Rule::Leaving => "leaving",
            Rule::Down => "down",
            Rule::Acceptance { .. } => "acceptance",
            Rule::AcceptanceFailed { .. } => "acceptance-failed",
            Rule::Flavour { .. } => "flavour",
            Rule::Asleep => "asleep",
            Rule::Awake => "awake",
            Rule::Sleepless => "sleepless",
            Rule::Anchor => "anchor",
            Rule::Live(rule) => rule.word,
        }
    }
}

impl Rule {
    fn live_text(&self) -> &'static str {
        match self {
            Rule::Live(rule) => rule.text(),
            _ => "",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Capacity { needed, free } => write!(formatter, "{free} is free, and {needed} is needed"),
            Rule::Neighbourhood { target } => write!(formatter, "{target} is not a valid target"),
            Rule::Leaving => formatter.write_str("it is about to leave"),
            Rule::Down => formatter.write_str("it is down"),
            Rule::Acceptance { reason } => write!(formatter, "it does not accept it: {reason}"),
            Rule::AcceptanceFailed { cause } => write!(formatter, "its policy gave no answer: {cause}"),
            Rule::Flavour { flavour } => write!(formatter, "it cannot adapt to {flavour}"),
            Rule::Asleep => formatter.write_str("the instance sleeps already"),
            Rule::Awake => formatter.write_str("the instance is awake already"),
            Rule::Sleepless => formatter.write_str("its application does not say how it sleeps"),
            Rule::Anchor => formatter.write_str("the instance is an anchor, which does not undeploy itself"),
            Rule::Live(LiveRule { detail: None, .. }) => formatter.write_str(self.live_text()),
            Rule::Live(LiveRule { detail: Some(detail), .. }) => write!(formatter, "{}: {detail}", self.live_text()),
        }
    }
}
