//! Records of sums: over a whole run, or instead of many records of a more detailed trace.

use serde::Deserialize;
use serde::de::{self, Deserializer};

use super::record::TraceRecord;
use super::rule::Rule;

/// See [`TraceRecord::Usage`](super::TraceRecord::Usage).
#[derive(Clone, PartialEq, Debug)]
pub struct Usage {
    /// The end of the run.
    pub time: f64,
    /// The application.
    pub application: u32,
    /// The number of evaluations of its agents.
    pub evaluations: u64,
    /// The sum, over all evaluations, of the rate that the agent saw divided by the maximum rate of the instance.
    pub sum: f64,
}

/// See [`TraceRecord::Client`](super::TraceRecord::Client).
#[derive(Clone, PartialEq, Debug)]
pub struct Client {
    /// The end of the run.
    pub time: f64,
    /// The user.
    pub user: u32,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// The sum of the response times.
    pub sum: f64,
}

/// See [`TraceRecord::Clients`](super::TraceRecord::Clients).
#[derive(Clone, PartialEq, Debug)]
pub struct Clients {
    /// The end of the run.
    pub time: f64,
    /// The application.
    pub application: u32,
    /// The number of the application's users who were served at least once.
    pub users: u64,
    /// Client requests served.
    pub served: u64,
    /// Client requests lost.
    pub lost: u64,
    /// The sum, over the users in `users`, of each user's mean response time.
    pub sum: f64,
}

/// See [`TraceRecord::Handovers`](super::TraceRecord::Handovers).
#[derive(Clone, PartialEq, Debug)]
pub struct Handovers {
    /// The time of the handovers.
    pub time: f64,
    /// Pairs of an application and the number of handovers of its users.
    pub moves: Vec<(u32, u64)>,
}

/// See [`TraceRecord::Counts`](super::TraceRecord::Counts).
#[derive(Clone, PartialEq, Debug)]
pub struct Counted {
    /// The time of the cycle.
    pub time: f64,
    /// The outcomes of each application that has any.
    pub outcomes: Vec<OutcomeCounts>,
    /// The number of inhibitions by each rule.
    pub rules: Vec<(RuleName, u64)>,
    /// The placement after the cycle.
    pub placed: Vec<Placed>,
}

/// See [`TraceRecord::Gone`](super::TraceRecord::Gone).
#[derive(Clone, PartialEq, Debug)]
pub struct Gone {
    /// The time of the event.
    pub time: f64,
    /// The lost instances.
    pub placed: Vec<Placed>,
}

/// The numbers of outcomes of an application in a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct OutcomeCounts {
    /// The application.
    pub application: u32,
    /// Agents that proposed nothing.
    pub nop: u64,
    /// Accepted undeploys.
    pub undeploy: u64,
    /// Accepted migrations.
    pub migrate: u64,
    /// Accepted replications.
    pub replicate: u64,
    /// Inhibited proposals of agents.
    pub inhibited: u64,
    /// Accepted deployments of operators.
    pub deployed: u64,
    /// Inhibited deployments of operators.
    pub not_deployed: u64,
    /// Accepted adapts; `None` in a trace without this column.
    #[serde(default)]
    pub adapt: Option<u64>,
    /// Accepted sleeps; `None` in a trace without this column.
    #[serde(default)]
    pub sleep: Option<u64>,
    /// Accepted wakes; `None` in a trace without this column.
    #[serde(default)]
    pub wake: Option<u64>,
}

impl OutcomeCounts {
    /// The accepted operations by name.
    pub fn accepted(&self) -> [(&'static str, u64); 7] {
        [
            ("undeploy", self.undeploy),
            ("migrate", self.migrate),
            ("replicate", self.replicate),
            ("deploy", self.deployed),
            ("adapt", self.adapt.unwrap_or(0)),
            ("sleep", self.sleep.unwrap_or(0)),
            ("wake", self.wake.unwrap_or(0)),
        ]
    }
}

/// The number of instances of an application in a tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub struct Placed {
    /// The application.
    pub application: u32,
    /// The tier.
    pub tier: u32,
    /// The number of instances.
    pub instances: u64,
}

/// The indices of the applications in a record `usage`, `clients`, `wakings`, `handovers`, `counts` or `gone`; empty
/// for other records.
pub(super) fn applications(record: &TraceRecord) -> Vec<u32> {
    match record {
        TraceRecord::Usage(record) => vec![record.application],
        TraceRecord::Clients(record) => vec![record.application],
        TraceRecord::Wakings(record) => vec![record.application],
        TraceRecord::Handovers(record) => record.moves.iter().map(|(application, _)| *application).collect(),
        TraceRecord::Counts(record) => {
            let judged = record.outcomes.iter().map(|counts| counts.application);
            judged.chain(record.placed.iter().map(|placed| placed.application)).collect()
        }
        TraceRecord::Gone(record) => record.placed.iter().map(|placed| placed.application).collect(),
        _ => Vec::new(),
    }
}

/// The word for a rule in a trace of counts, one of [`Rule::WORDS`].
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
