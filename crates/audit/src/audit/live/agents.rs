//! Checks what agents on live nodes saw, decided and proposed, and the outcomes.

use mario_domain::{AgentOperation, InstanceId};

use super::super::instance_text;
use super::{Expected, LiveWorld};
use crate::finding::FindingKind;
use crate::reader::{
    Cycle, Evaluation, FactsAndDecision, Neighbour, Outcome, Proposal, Rule, Solution, Target, TraceRecord, Verdict,
};
use crate::report::Counts;
use crate::texts::proposal_text;

impl LiveWorld {
    /// Checks an evaluation: the node owns the instance, the agent has no transfer in preparation, it sees the free
    /// hardware of its node, the client requests that it sees are possible, and its decision is the recomputed one.
    pub(super) fn evaluation(&mut self, record: &Evaluation) {
        self.counts.evaluations += 1;
        let (node, instance) = (record.node, &record.instance);
        let who = instance_text(instance);
        let state = &self.nodes[node as usize];
        let Some(owned) = state.owned.get(instance).cloned() else {
            let found = format!("its agent on {}", self.node_text(node));
            return self.find(FindingKind::Ownership, who, "the agent of its owner evaluates", found);
        };
        let is_frozen = state.preparing.values().any(|frozen| frozen == instance);
        let free = state.free();
        let Some(seen) = &record.seen else {
            return self.find(FindingKind::Decision, who, "facts and a decision", "none");
        };
        if is_frozen {
            let found = "an evaluation while its transfer is open";
            self.find(FindingKind::Transfer, &who, "no evaluation before the transfer has ended", found);
        }
        if free != record.free {
            let expected = format!("{free} free on {}", self.node_text(node));
            self.find(FindingKind::Free, &who, expected, record.free.to_string());
        }
        self.check_requests(node, &who, seen);
        let rate: f64 = seen.requests.iter().map(|fact| fact.rate.value()).sum();
        let usage = &mut self.usage[owned.application as usize];
        (usage.0, usage.1) = (usage.0 + 1, usage.1 + rate);
        let proposal = match seen.solutions.first() {
            Some(Solution::Proposal { proposal, .. }) => Some(proposal.clone()),
            _ => None,
        };
        self.proposals.insert(instance.clone(), proposal);
        if let Some(mut decisions) = self.decisions.take() {
            let mismatch =
                decisions.mismatch(&self.header, &self.nodes[node as usize], node, owned.application, record);
            self.decisions = Some(decisions);
            if let Some((expected, found)) = mismatch {
                self.find(FindingKind::Decision, who, expected, found);
            }
        }
        if let Some(notice) = self.nodes[node as usize].notices.get_mut(instance) {
            notice.left = notice.left.saturating_sub(1);
        }
    }

    /// Checks that client requests come from the node itself or through a neighbour, with one fact for each neighbour
    /// and latency.
    fn check_requests(&mut self, node: u32, who: &str, seen: &FactsAndDecision) {
        let links = &self.header.nodes[node as usize].neighbours;
        let stranger = seen.requests.iter().find_map(|fact| match fact.neighbour {
            Neighbour::Node(other) if !links.contains(&other) => Some(other),
            _ => None,
        });
        let key = |fact: &crate::reader::RequestFact| (fact.neighbour, fact.latency.value().to_bits());
        let is_twice = seen
            .requests
            .iter()
            .enumerate()
            .any(|(place, fact)| seen.requests[..place].iter().any(|before| key(before) == key(fact)));
        if let Some(stranger) = stranger {
            let found = format!("requests through {}", self.node_text(stranger));
            self.find(FindingKind::Requests, who, "requests through self or a neighbour", found);
        }
        if is_twice {
            self.find(FindingKind::Requests, who, "one fact for each neighbour and latency", "two");
        }
    }

    /// Checks that a request to `target` is the agent's last proposal. Not checked on a node that was ever drained,
    /// because draining sends requests without proposals, nor on a node with incomplete records.
    pub(super) fn require_proposed(
        &mut self,
        node: u32,
        instance: &InstanceId,
        operation: AgentOperation,
        target: u32,
    ) {
        self.require_last_proposal(node, instance, &Proposal { operation, target: Target::Node(target) });
    }

    fn require_last_proposal(&mut self, node: u32, instance: &InstanceId, proposal: &Proposal) {
        let state = &self.nodes[node as usize];
        if state.was_drained || state.is_partial {
            return;
        }
        let proposed = self.proposals.get(instance).cloned().flatten();
        if proposed.as_ref() != Some(proposal) {
            let text = |proposal: &Proposal| proposal_text(&self.header, proposal);
            let expected = proposed.as_ref().map_or("nothing: it proposed nothing".to_owned(), text);
            let found = text(proposal);
            self.find(FindingKind::Proposal, instance_text(instance), expected, found);
        }
    }

    /// Checks that the accepted outcomes of a cycle are those that earlier records of live nodes imply, in order, and
    /// that the inhibited ones are the agents' last proposals. Reports any other outcome: one of an agent that proposed
    /// nothing, and an inhibited deployment.
    pub(super) fn cycle(&mut self, cycle: &Cycle) {
        for outcome in &cycle.outcomes {
            let recorded = match outcome {
                Outcome::Judged { instance, proposal, verdict: Verdict::Inhibited(reason) } => {
                    self.counts.inhibited += 1;
                    self.inhibited(instance, proposal);
                    if reason.rule == Rule::Anchor {
                        self.require_anchor(instance);
                    }
                    continue;
                }
                Outcome::Judged { instance, proposal, verdict: Verdict::Accepted(new) } => {
                    accepted(instance, proposal, new.as_ref())
                }
                Outcome::Deploy { node, application, verdict: Verdict::Accepted(Some(instance)), .. } => {
                    let (node, application, instance) = (*node, *application, instance.clone());
                    Some(Expected::Deploy { node, application, instance })
                }
                Outcome::Nop(_) | Outcome::Deploy { .. } => None,
            };
            self.counts.operations += 1;
            let expected = self.expected.pop_front();
            if expected.is_none() || recorded != expected {
                let expected = expected.map_or("no outcome".to_owned(), |expected| format!("{expected:?}"));
                self.find(FindingKind::Place, "the cycle", expected, format!("{outcome:?}"));
            }
        }
    }

    /// Checks that an inhibited proposal is the agent's last one, with the exceptions of
    /// [`LiveWorld::require_proposed`]. If no node owns the instance now, only checks that one ever did.
    fn inhibited(&mut self, instance: &InstanceId, proposal: &Proposal) {
        let owner = (0..).zip(&self.nodes).find(|(_, node)| node.owned.contains_key(instance)).map(|(place, _)| place);
        match owner {
            Some(owner) => self.require_last_proposal(owner, instance, proposal),
            // The instance may have ended or left before its agent received the verdict.
            None if self.lives.contains_key(instance) => {}
            None => self.find(FindingKind::Instance, instance_text(instance), "an instance that existed", "none"),
        }
    }

    /// Updates the counts of the report: the maximum number of instances, and the outcomes of a cycle.
    pub(super) fn count(&self, record: &TraceRecord, counts: &mut Counts) {
        counts.instances_max = counts.instances_max.max(self.placed.len() as u64);
        let TraceRecord::Cycle(cycle) = record else { return };
        for outcome in &cycle.outcomes {
            match outcome {
                Outcome::Judged { proposal, verdict: Verdict::Accepted(_), .. } => {
                    *counts.operations.entry(proposal.operation.as_str()).or_default() += 1;
                }
                Outcome::Judged { verdict: Verdict::Inhibited(reason), .. }
                | Outcome::Deploy { verdict: Verdict::Inhibited(reason), .. } => {
                    *counts.inhibited.entry(reason.rule.as_str()).or_default() += 1;
                }
                Outcome::Deploy { verdict: Verdict::Accepted(_), .. } => {
                    *counts.operations.entry("deploy").or_default() += 1;
                }
                Outcome::Nop(_) => counts.nops += 1,
            }
        }
    }
}

/// The accepted proposal in the form of [`Expected`], for comparison; `None` if it has no such form.
fn accepted(instance: &InstanceId, proposal: &Proposal, new: Option<&InstanceId>) -> Option<Expected> {
    match (proposal.operation, &proposal.target, new) {
        (AgentOperation::Undeploy, ..) => Some(Expected::Undeploy { instance: instance.clone() }),
        (AgentOperation::Migrate, Target::Node(node), None) => {
            Some(Expected::Migrate { instance: instance.clone(), node: *node })
        }
        (AgentOperation::Replicate, Target::Node(node), Some(new)) => {
            Some(Expected::Replicate { parent: instance.clone(), node: *node, instance: new.clone() })
        }
        (
            AgentOperation::Migrate
            | AgentOperation::Replicate
            | AgentOperation::Adapt
            | AgentOperation::Sleep
            | AgentOperation::Wake,
            ..,
        ) => None,
    }
}
