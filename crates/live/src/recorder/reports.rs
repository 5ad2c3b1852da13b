//! Converts what a node reports, once: to a record of the node's part of the trace, and to the report for operators.
//!
//! The two have different forms, because the report has what only operators need, such as who asked for an operation,
//! and its JSON is that of the operators' interface.

use std::sync::Arc;

use mario_colony::{Availability, Descriptor, FactsAndDecision, FirstSolution, TraceEvent, TransferId, WorkloadId};
use mario_domain::{AgentOperation, Hardware, InstanceId, NodeId, Request, Target, Verdict};
use mario_trace::live::{LiveEvent, PartEvaluation, PartFacts, PartLine, ReservedState};
use mario_trace::{Neighbour, Outcome, OwnerAct, OwnerActKind, Proposal, RequestFact, Solution};

use super::Recorder;
use super::lines::transfer_text;
use crate::api::NodeReport;
use crate::daemon::workload_text;

/// What becomes of an event: its line in the trace, if the trace has events of its kind and no record of the journal
/// with the same content; and the report for operators, if they get events of its kind.
pub(super) struct Converted {
    pub(super) line: Option<PartLine>,
    pub(super) report: Option<NodeReport>,
}

fn traced(event: LiveEvent<NodeId>) -> Converted {
    Converted { line: Some(PartLine::Event(event)), report: None }
}

fn told(report: NodeReport) -> Converted {
    Converted { line: None, report: Some(report) }
}

fn both(line: PartLine, report: NodeReport) -> Converted {
    Converted { line: Some(line), report: Some(report) }
}

impl Recorder {
    /// Converts an event, and applies it to the state that is not in the journal.
    pub(super) fn convert(&mut self, event: &TraceEvent) -> Converted {
        match event {
            TraceEvent::Evaluated { instance, proposal, has_failed, seen } => {
                both(self.evaluation(instance, seen), NodeReport::evaluated(instance, proposal.as_ref(), *has_failed))
            }
            TraceEvent::Judged { request, verdict, created } => Converted {
                line: judged(request, verdict),
                report: Some(NodeReport::judged(request, verdict, created.as_ref())),
            },
            TraceEvent::Woken { instance, verdict } => Converted {
                line: verdict.inhibition().map(|inhibition| {
                    let (instance, inhibition) = (instance.clone(), inhibition.clone());
                    PartLine::Event(LiveEvent::WakeRefused { instance, inhibition })
                }),
                report: Some(NodeReport::woken(instance, verdict)),
            },
            TraceEvent::Evicted { instance, reason, is_pinned } => both(
                owner_act(instance, OwnerActKind::Evicted, reason),
                NodeReport::Evicted { instance: instance.clone(), reason: reason.clone(), pinned: *is_pinned },
            ),
            TraceEvent::Shrunk { instance, flavour, reason } => both(
                owner_act(instance, OwnerActKind::Shrunk(u32::from(flavour.0)), reason),
                NodeReport::Shrunk { instance: instance.clone(), reason: reason.clone() },
            ),
            TraceEvent::Announced { instance, evaluations, reason } => both(
                owner_act(instance, OwnerActKind::Announced(u64::from(*evaluations)), reason),
                NodeReport::Leave { instance: instance.clone(), evaluations: *evaluations, reason: reason.clone() },
            ),
            TraceEvent::Neighbours { up, introduced } => {
                traced(LiveEvent::Neighbours { up: up.clone(), told: introduced.clone() })
            }
            TraceEvent::Availability(availability) => {
                traced(LiveEvent::Draining { is_draining: *availability != Availability::Up })
            }
            TraceEvent::Undeploying(instance) => traced(LiveEvent::Undeploying { instance: instance.clone() }),
            TraceEvent::Preparing { transfer, instance, kind, target } => {
                traced(self.preparing(*transfer, instance, kind.operation(), target))
            }
            TraceEvent::Aborted { transfer } => traced(self.aborted(*transfer)),
            TraceEvent::Reserved { transfer, instance, workload, descriptor, needed, .. } => {
                traced(self.reserved(*transfer, instance, *workload, (descriptor, *needed)))
            }
            TraceEvent::Released { transfer, workload, is_started } => {
                traced(self.released(*transfer, *workload, *is_started))
            }
            TraceEvent::Freed(workload) => traced(self.freed(*workload)),
            TraceEvent::Arrived { instance, epoch, from, .. } => {
                told(NodeReport::Arrived { instance: instance.clone(), epoch: u64::from(epoch.0), from: from.clone() })
            }
            TraceEvent::Updated { instance, from, to, refused } => {
                told(NodeReport::updated(instance, *from, *to, refused.as_ref()))
            }
            TraceEvent::Undeployed(instance) => told(NodeReport::Undeployed { instance: instance.clone() }),
            TraceEvent::LivesOn { instance, node } => {
                told(NodeReport::LivesOn { instance: instance.clone(), node: node.clone() })
            }
            TraceEvent::AcceptanceFailed { request, failure } => {
                told(NodeReport::AcceptanceFailed { request: request.into(), cause: failure.0.cause.clone() })
            }
            TraceEvent::InitiativeFailed { failure } => {
                told(NodeReport::InitiativeFailed { cause: failure.0.cause.clone() })
            }
            TraceEvent::RefusedPeer(node) => told(NodeReport::RefusedPeer { node: node.clone() }),
            TraceEvent::Confirmed { by } => told(NodeReport::Confirmed { by: by.clone() }),
            TraceEvent::Outdated(outdated) => {
                told(NodeReport::Outdated { by: outdated.by.clone(), cause: outdated.to_string() })
            }
        }
    }

    fn evaluation(&mut self, instance: &InstanceId, seen: &FactsAndDecision) -> PartLine {
        let request = |fact: &mario_colony::RequestFact| {
            let neighbour = match &fact.neighbour {
                Target::Node(node) => Neighbour::Node(node.clone()),
                Target::Own | Target::Flavour(_) => Neighbour::Own,
            };
            RequestFact::new(neighbour, fact.rate, fact.latency)
        };
        let solution = |solution: &FirstSolution| match solution {
            FirstSolution::Proposal { operation, target, clause } => Solution::Proposal {
                proposal: Proposal { operation: *operation, target: target.clone() },
                clause: *clause as u64,
            },
            FirstSolution::Invalid { fault, clause } => {
                Solution::Invalid { why: fault.clone(), clause: *clause as u64 }
            }
        };
        let inhibited = seen.inhibited.iter().cloned().map(|(operation, target)| Proposal { operation, target });
        PartLine::Evaluation(Box::new(PartEvaluation {
            instance: instance.clone(),
            application: self.application(&seen.descriptor),
            free: seen.free,
            seen: PartFacts {
                requests: seen.requests.iter().map(request).collect(),
                inhibited: inhibited.collect(),
                solutions: seen.solution.iter().map(solution).collect(),
                ending: seen.ending.clone(),
                random: seen.random,
            },
        }))
    }

    fn preparing(
        &mut self,
        transfer: TransferId,
        instance: &InstanceId,
        operation: AgentOperation,
        target: &NodeId,
    ) -> LiveEvent<NodeId> {
        self.reservations.preparing.insert(transfer, instance.clone());
        let (instance, target) = (instance.clone(), target.clone());
        LiveEvent::Prepare { transfer: transfer_text(transfer), instance, operation, target }
    }

    fn aborted(&mut self, transfer: TransferId) -> LiveEvent<NodeId> {
        self.reservations.preparing.remove(&transfer);
        LiveEvent::Aborted { transfer: transfer_text(transfer) }
    }

    fn reserved(
        &mut self,
        transfer: TransferId,
        instance: &InstanceId,
        workload: WorkloadId,
        (descriptor, needed): (&Arc<Descriptor>, Hardware),
    ) -> LiveEvent<NodeId> {
        let reserved = ReservedState {
            transfer: transfer_text(transfer),
            instance: instance.clone(),
            application: self.application(descriptor),
            needed,
            workload: workload_text(workload),
        };
        self.reservations.reserved.insert(transfer, (reserved.clone(), Arc::clone(descriptor)));
        LiveEvent::Reserved(reserved)
    }

    fn released(&mut self, transfer: TransferId, workload: WorkloadId, is_started: bool) -> LiveEvent<NodeId> {
        if let Some((kept, _)) = self.reservations.reserved.remove(&transfer)
            && is_started
        {
            self.reservations.released.insert(workload, kept.needed);
        }
        LiveEvent::Released { transfer: transfer_text(transfer), is_started }
    }

    fn freed(&mut self, workload: WorkloadId) -> LiveEvent<NodeId> {
        self.reservations.released.remove(&workload);
        LiveEvent::Freed { workload: workload_text(workload) }
    }
}

/// The line of an inhibited operation of an instance; `None` for accepted requests, which have records in the journal,
/// and for deploys.
fn judged(request: &Request, verdict: &Verdict) -> Option<PartLine> {
    let inhibition = verdict.inhibition()?.clone();
    let (operation, target) = request.operation().of_agent()?;
    let (instance, proposal) = (request.instance()?.clone(), Proposal { operation, target });
    let verdict = mario_trace::Verdict::Inhibited(inhibition);
    Some(PartLine::Cycle(vec![Outcome::Judged { instance, proposal, verdict }]))
}

fn owner_act(instance: &InstanceId, kind: OwnerActKind<u32>, reason: &str) -> PartLine {
    PartLine::Owner(vec![OwnerAct { instance: instance.clone(), kind, reason: reason.to_owned() }])
}
