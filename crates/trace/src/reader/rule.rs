//! The rules that inhibit requests, as tables and pages name them.

use mario_domain::Rule;
use serde::Deserialize;
use serde::de::{self, Deserializer};

/// The names of the rules that inhibit requests in simulated runs.
pub const SIMULATED_RULES: [&str; 11] = [
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

/// The name of a rule in a trace of counts, one of [`SIMULATED_RULES`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RuleName(&'static str);

impl RuleName {
    /// The name.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl<'de> Deserialize<'de> for RuleName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RuleName, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = SIMULATED_RULES.into_iter().find(|known| *known == word);
        known.map(RuleName).ok_or_else(|| de::Error::custom(format_args!("`{word}` is not a rule")))
    }
}

/// A rule in words, for a place where the node that inhibited the request is already named.
pub fn rule_text(rule: &Rule) -> String {
    let fixed = match rule {
        Rule::Capacity { needed, free } => return format!("{free} is free, and {needed} is needed"),
        Rule::Neighbourhood { target } => return format!("{target} is not a valid target"),
        Rule::Acceptance { reason } => return format!("it does not accept it: {reason}"),
        Rule::AcceptanceFailed { cause } => return format!("its policy gave no answer: {cause}"),
        Rule::Flavour { flavour } => return format!("it cannot adapt to {flavour}"),
        Rule::NotStarted { cause } => return format!("the copy did not start: {cause}"),
        Rule::Descriptor { cause } => return format!("it cannot use the description of the application: {cause}"),
        Rule::Leaving => "it is about to leave",
        Rule::Down => "it is down",
        Rule::Asleep => "the instance sleeps already",
        Rule::Awake => "the instance is awake already",
        Rule::Sleepless => "its application does not say how it sleeps",
        Rule::Anchor => "the instance is an anchor, which does not undeploy itself",
        Rule::Pinned => "an operator pinned the instance",
        Rule::Budget => "its replications are used up",
        Rule::OpenGrant => "it waits to hear how its last replication to this target ended",
        Rule::Busy => "it has too many transfers open",
        Rule::Recovering => "it has just restarted",
        Rule::Unconfirmed => "it has restarted, and no neighbour has confirmed its journal yet",
        Rule::Unanswered => "it did not take the instance in time",
        Rule::Oversized { .. } => "the agent's memory is too large",
    };
    fixed.to_owned()
}
