//! Reads the records of versions 1 to 3 of the format of parts, in which evaluations, inhibitions and acts of owners had
//! forms of their own.

use mario_domain::{AgentOperation, Capacity, Id, Inhibition, InstanceId, NodeId, Target};
use serde::Deserialize;

use super::LiveEvent;
use super::part::{PartApplication, PartEvaluation, PartLine, PartRecord, Stamp};
use crate::record::{
    FactsAndDecision, Neighbour, Outcome, OwnerAct, OwnerActKind, Proposal, RequestFact, Solution, Verdict,
};

/// See [`PartRecord`].
#[derive(Deserialize)]
pub(super) struct OlderRecord(Stamp, Option<u64>, OlderLine);

/// See [`PartLine`].
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OlderLine {
    Application(Box<PartApplication>),
    Evaluation(Box<OlderEvaluation>),
    Inhibited(Box<OlderInhibited>),
    Owner(Box<OlderOwnerAct>),
    #[serde(untagged)]
    Event(LiveEvent<NodeId>),
}

/// A target: `None` for `self`. A flavour was written as the id of a node, so that of a flavour named `self` is `None`.
#[derive(Deserialize)]
struct OlderTarget(Option<NodeId>);

#[derive(Deserialize)]
struct OlderEvaluation {
    instance: InstanceId,
    application: u32,
    free: Capacity,
    /// The last hop (`None` for clients on the node itself), the rate and the latency.
    requests: Vec<(Option<NodeId>, f64, f64)>,
    inhibited: Vec<(AgentOperation, OlderTarget)>,
    #[serde(default)]
    solution: Option<OlderSolution>,
    #[serde(default)]
    ending: Option<String>,
    #[serde(default)]
    random: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OlderSolution {
    Proposal(AgentOperation, OlderTarget, u64),
    Invalid(String, u64),
}

#[derive(Deserialize)]
struct OlderInhibited {
    instance: InstanceId,
    operation: AgentOperation,
    target: OlderTarget,
    inhibition: Inhibition,
}

#[derive(Deserialize)]
struct OlderOwnerAct {
    instance: InstanceId,
    act: OlderOwnerActKind,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OlderOwnerActKind {
    Evicted,
    Shrunk(u32),
    Leave(u64),
}

impl OlderTarget {
    /// The operation towards this target.
    fn of(self, operation: AgentOperation) -> Proposal<Target> {
        let written = self.0.map_or_else(|| Target::Own.id(), Id::from);
        Proposal { operation, target: operation.target(written) }
    }
}

impl From<OlderRecord> for PartRecord {
    fn from(OlderRecord(stamp, number, line): OlderRecord) -> PartRecord {
        PartRecord(stamp, number, line.into())
    }
}

impl From<OlderLine> for PartLine {
    fn from(line: OlderLine) -> PartLine {
        match line {
            OlderLine::Application(application) => PartLine::Application(application),
            OlderLine::Evaluation(evaluation) => PartLine::Evaluation(Box::new((*evaluation).into())),
            OlderLine::Inhibited(inhibited) => {
                let OlderInhibited { instance, operation, target, inhibition } = *inhibited;
                let (proposal, verdict) = (target.of(operation), Verdict::Inhibited(inhibition));
                PartLine::Cycle(vec![Outcome::Judged { instance, proposal, verdict }])
            }
            OlderLine::Owner(act) => {
                let OlderOwnerAct { instance, act, reason } = *act;
                let kind = match act {
                    OlderOwnerActKind::Evicted => OwnerActKind::Evicted,
                    OlderOwnerActKind::Shrunk(flavour) => OwnerActKind::Shrunk(flavour),
                    OlderOwnerActKind::Leave(evaluations) => OwnerActKind::Announced(evaluations),
                };
                PartLine::Owner(vec![OwnerAct { instance, kind, reason }])
            }
            OlderLine::Event(event) => PartLine::Event(event),
        }
    }
}

impl From<OlderEvaluation> for PartEvaluation {
    fn from(of: OlderEvaluation) -> PartEvaluation {
        let request = |(hop, rate, latency): (Option<NodeId>, f64, f64)| {
            RequestFact::new(hop.map_or(Neighbour::Own, Neighbour::Node), rate, latency)
        };
        let solution = of.solution.map(|solution| match solution {
            OlderSolution::Proposal(operation, target, clause) => {
                Solution::Proposal { proposal: target.of(operation), clause }
            }
            OlderSolution::Invalid(why, clause) => Solution::Invalid { why, clause },
        });
        let seen = FactsAndDecision {
            requests: of.requests.into_iter().map(request).collect(),
            inhibited: of.inhibited.into_iter().map(|(operation, target)| target.of(operation)).collect(),
            solutions: solution.into_iter().collect(),
            ending: of.ending,
            random: of.random,
        };
        PartEvaluation { instance: of.instance, application: of.application, free: of.free, seen }
    }
}
