//! Records that sum up: a whole run, or what would be many records in a trace with more detail.

use serde::Deserialize;
use serde::de::{self, Deserializer};

use super::record::Record;
use super::rule::Rule;

/// See [`Record::Usage`](super::Record::Usage).
#[derive(Clone, PartialEq, Debug)]
pub struct Usage {
    /// When.
    pub time: f64,
    /// Of which application.
    pub application: u32,
    /// How often its agents evaluated.
    pub evaluations: u64,
    /// The sum over these evaluations of the rate seen over what an instance handles.
    pub sum: f64,
}

/// See [`Record::Client`](super::Record::Client).
#[derive(Clone, PartialEq, Debug)]
pub struct Client {
    /// When.
    pub time: f64,
    /// Which user.
    pub user: u32,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// The sum of the response times.
    pub sum: f64,
}

/// See [`Record::Clients`](super::Record::Clients).
#[derive(Clone, PartialEq, Debug)]
pub struct Clients {
    /// When.
    pub time: f64,
    /// Of which application.
    pub application: u32,
    /// How many of its users were served at least once.
    pub users: u64,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// The sum over these users of their mean response times.
    pub sum: f64,
}

/// See [`Record::Handovers`](super::Record::Handovers).
#[derive(Clone, PartialEq, Debug)]
pub struct Handovers {
    /// When.
    pub time: f64,
    /// Applications, and how often users of each moved.
    pub moves: Vec<(u32, u64)>,
}

/// See [`Record::Counts`](super::Record::Counts).
#[derive(Clone, PartialEq, Debug)]
pub struct Counted {
    /// When.
    pub time: f64,
    /// What became of the agents, for each application that has any.
    pub outcomes: Vec<OutcomeCounts>,
    /// Rules, and how often something was inhibited by each.
    pub rules: Vec<(RuleName, u64)>,
    /// Where instances are afterwards.
    pub placed: Vec<Placed>,
}

/// See [`Record::Gone`](super::Record::Gone).
#[derive(Clone, PartialEq, Debug)]
pub struct Gone {
    /// When.
    pub time: f64,
    /// Where they were.
    pub placed: Vec<Placed>,
}

/// The outcomes of the agents of an application in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct OutcomeCounts {
    /// Which application.
    pub application: u32,
    /// Agents that proposed nothing.
    pub nop: u64,
    /// Accepted undeploys.
    pub undeploy: u64,
    /// Accepted migrations.
    pub migrate: u64,
    /// Accepted replications.
    pub replicate: u64,
    /// Other proposals of agents: inhibited.
    pub inhibited: u64,
    /// What operators deployed.
    pub deployed: u64,
    /// Inhibited deployments of operators.
    pub not_deployed: u64,
    /// Accepted adapts; `None` where there is no such column.
    #[serde(default)]
    pub adapt: Option<u64>,
    /// Accepted sleeps; `None` where there is no such column.
    #[serde(default)]
    pub sleep: Option<u64>,
    /// Accepted wakes; `None` where there is no such column.
    #[serde(default)]
    pub wake: Option<u64>,
}

/// The number of instances of an application in a tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct Placed {
    /// Which application.
    pub application: u32,
    /// Which tier.
    pub tier: u32,
    /// How many.
    pub instances: u64,
}

/// The applications that a record of this file names.
pub(super) fn applications(record: &Record) -> Vec<u32> {
    match record {
        Record::Usage(record) => vec![record.application],
        Record::Clients(record) => vec![record.application],
        Record::Wakings(record) => vec![record.application],
        Record::Handovers(record) => record.moves.iter().map(|(application, _)| *application).collect(),
        Record::Counts(record) => {
            let judged = record.outcomes.iter().map(|counts| counts.application);
            judged.chain(record.placed.iter().map(|placed| placed.application)).collect()
        }
        Record::Gone(record) => record.placed.iter().map(|placed| placed.application).collect(),
        _ => Vec::new(),
    }
}

/// The word for a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RuleName(&'static str);

impl RuleName {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl<'de> Deserialize<'de> for RuleName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RuleName, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known = Rule::WORDS.into_iter().find(|known| *known == word);
        known.map(RuleName).ok_or_else(|| de::Error::custom(format_args!("`{word}` is not a rule")))
    }
}
