//! Findings of an audit.

use std::fmt;

use serde::Serialize;

/// A contradiction in a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    /// The violated rule.
    pub kind: FindingKind,
    /// The file beside the trace; `None` for the trace itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the trace, or of that file, from 1.
    pub line: u64,
    /// The time of the record there.
    pub time: f64,
    /// The subject.
    pub who: String,
    /// The expected content.
    pub expected: String,
    /// The found content.
    pub found: String,
}

/// Declares the kinds with their words and the rule that each violates, so that the documentation can be checked
/// against them.
macro_rules! kinds {
    ($($name:ident, $word:literal, $meaning:literal;)*) => {
        /// The rule that a [`Finding`] violates.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum FindingKind {
            $(#[doc = $meaning] $name,)*
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &[FindingKind] = &[$(FindingKind::$name),*];

            /// The word in JSON.
            pub const fn as_str(self) -> &'static str {
                match self { $(FindingKind::$name => $word,)* }
            }

            /// The violated rule, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(FindingKind::$name => $meaning,)* }
            }
        }
    };
}

kinds! {
    Capacity, "capacity", "Hardware used and promised on a node never exceeds its capacity.";
    Instance, "instance", "Instances appear by deploy and replicate only, and go by undeploy, by eviction or with their node only.";
    IdReused, "id-reused", "An id is never given to two instances.";
    Place, "place", "An instance is on one node, where the operations before left it.";
    Target, "target", "A target is the own node, to replicate only, or a direct neighbour that is there.";
    Twice, "twice", "An agent has one operation in a cycle.";
    Proposal, "proposal", "What is judged is what the agent proposed at its last evaluation, and all of it is judged.";
    Verdict, "verdict", "What is inhibited goes against a rule.";
    Reason, "reason", "The reason of an inhibition is true.";
    Memory, "memory", "What an agent remembers is what happened, for as long as its strategy and its policy say.";
    Free, "free", "The free hardware that an agent sees is the free hardware of its node.";
    Requests, "requests", "Client requests come through neighbours, one fact for each and its latency, in standard order.";
    Decision, "decision", "A decision follows from the policy and the facts that are recorded with it.";
    Policy, "policy", "The texts in the header are policies.";
    Header, "header", "The header does not contradict itself.";
    Schedule, "schedule", "An agent evaluates once in every evaluation period, for the first time one period after it appeared.";
    Step, "step", "Users move, and response times are told, at steps of mobility; users also when nodes or links change.";
    Handover, "handover", "A user moves from where the user was to an access point that is up.";
    Sleep, "sleep", "A client request wakes an instance that sleeps, and its manager is asked once between two evaluations.";
    Owner, "owner", "Owners act after a cycle, as their policies say; who was told to leave is evicted after the last evaluation, and nobody else.";
    Down, "down", "Nothing happens on a node that is down, and nothing comes to one that leaves.";
    Context, "context", "What goes was there, and what comes was not.";
    Regret, "regret", "The placement is compared at each activation of the managers and counted as it is; the best is worth no less.";
    Time, "time", "Times do not decrease, the run ends when the header says, and nothing follows the end.";
    Totals, "totals", "What is summed up is what was recorded, in whatever way it is summed up.";
    Calls, "calls", "Applications call each other as the header says: what was served had all its calls answered, and no more was seen or answered than was sent.";
    Ownership, "ownership", "A live instance has one owner at a time, is never lost on the way, and is never owned again after its end.";
    Epoch, "epoch", "The epochs of a live instance grow with each owner, and who keeps it in custody has an epoch of its own.";
    Transfer, "transfer", "What arrives has left, what is said to be taken has arrived, and an agent has one transfer open.";
    Journal, "journal", "The trace of a live node tells every record of its journal, and what the node has follows from them.";
    Summary, "summary", "`summary.json`, `measures.json` and `run.json` beside the trace say what follows from it.";
    Table, "table", "The tables beside the trace say what follows from it.";
}

impl fmt::Display for FindingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kind, file, line, time, who, expected, found } = self;
        if let Some(file) = file {
            return write!(formatter, "{file}, line {line}, {who}: {kind}: expected {expected}; found {found}");
        }
        write!(formatter, "line {line}, time {time}, {who}: {kind}: expected {expected}; found {found}")
    }
}
