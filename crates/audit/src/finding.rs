//! Findings of an audit.

use std::fmt;

use serde::Serialize;

/// A contradiction in a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    /// The violated rule.
    pub kind: FindingKind,
    /// The file beside the trace that has the contradiction; `None` for the trace itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of the trace, or of `file`, from 1.
    pub line: u64,
    /// The time of the record at `line`; 0 for the header, and for a file beside the trace.
    pub time: f64,
    /// The subject, such as an instance or a node.
    pub who: String,
    /// The expected content.
    pub expected: String,
    /// The found content.
    pub found: String,
}

/// Declares the kinds of findings, each with its word in JSON and the violated rule. The documentation is checked
/// against these.
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
    Capacity, "capacity", "Hardware used and reserved on a node never exceeds its capacity.";
    Instance, "instance", "Instances appear only by deploy and replicate, and disappear only by undeploy, by eviction or with their node.";
    IdReused, "id-reused", "An id is never given to two instances.";
    Place, "place", "An instance is on exactly one node, which follows from the earlier operations.";
    Target, "target", "A target is a direct neighbour that is up and reachable or, for a replicate only, the agent's own node.";
    Twice, "twice", "An agent has one operation in a cycle.";
    Proposal, "proposal", "An agent is judged on the proposal of its last evaluation, and every proposal is judged.";
    Verdict, "verdict", "An inhibited proposal violates a rule.";
    Reason, "reason", "The reason of an inhibition is correct.";
    Memory, "memory", "An agent remembers the inhibitions that happened, for as long as its strategy and its policy say.";
    Free, "free", "The free hardware that an agent sees is the free hardware of its node.";
    Requests, "requests", "Client requests come through neighbours, one fact for each and its latency, in standard order.";
    Decision, "decision", "A decision follows from the policy and the recorded facts.";
    Policy, "policy", "The texts in the header are valid policies.";
    Header, "header", "The header does not contradict itself.";
    Schedule, "schedule", "An agent evaluates once in every evaluation period, for the first time one period after it appeared.";
    Step, "step", "Users move, and response times are recorded, at steps of mobility; users also move when nodes or links change.";
    Handover, "handover", "A user moves from the current access point to one that is up.";
    Sleep, "sleep", "A client request wakes only a sleeping instance, and its manager is asked once between two evaluations.";
    Anchor, "anchor", "An anchor does not undeploy itself; it stays an anchor when it migrates, and a replica is none.";
    Owner, "owner", "Owners act after a cycle, as their policies say; only announced instances are evicted, after their last evaluation.";
    Down, "down", "Nothing happens on a node that is down, and nothing arrives on a leaving node.";
    Context, "context", "Only existing nodes, links and users disappear, and only absent ones appear.";
    Regret, "regret", "The placement is compared with the best one at each activation of the managers, with correct counts; the best has no lower value.";
    Time, "time", "Times do not decrease, the run ends when the header says, and nothing follows the end.";
    Totals, "totals", "Sums agree with the records that they summarise, and with each other.";
    Calls, "calls", "Applications call each other as the header says: all calls of a served request were answered, and no more requests were seen or answered than sent.";
    Ownership, "ownership", "A live instance has one owner at a time, is never lost in a transfer, and is never owned again after its end.";
    Epoch, "epoch", "The epochs of a live instance increase with each owner, and two custodians of it have different epochs.";
    Transfer, "transfer", "An arriving instance has departed, a confirmed transfer has arrived, and an agent has one open transfer.";
    Journal, "journal", "The trace of a live node has every record of its journal, and the state of the node follows from them.";
    Summary, "summary", "`summary.json`, `measures.json` and `run.json` beside the trace agree with it.";
    Table, "table", "The tables beside the trace agree with it.";
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
