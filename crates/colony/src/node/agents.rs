//! Evaluates the policies of the agents on a node, judges their proposals, and enacts the accepted ones that concern
//! only this node.

use std::sync::Arc;

use mario_domain::{
    AgentId, AgentOperation, ApplicationId, FlavourIndex, Hardware, Inhibition, InstanceId, NodeId, Operation, Request,
    Rule, Target, Verdict,
};

use super::{Agent, Step};
use crate::descriptor::Descriptor;
use crate::ids::{Epoch, WorkloadId};
use crate::input::{Effect, FactsAndDecision, Failure, Proposal, TraceEvent};
use crate::journal::{JournalRecord, OwnCause, Owned};
use crate::message::{AgentSnapshot, TransferKind};
use crate::rules::{
    Concern, HardwareChange, Refusal, RememberedOperation, adapt, anchor, consent, expire, judge, remember, visible,
};

impl Step<'_> {
    /// Evaluates the policy of an agent, unless it waits for a transfer.
    pub(super) fn evaluate(&mut self, instance: &InstanceId) {
        let Some(owned) = self.state.ledger.owned.get(instance) else { return };
        let cycles = owned.descriptor.policy.memory;
        let Some(agent) = self.state.agents.get(instance) else { return };
        if agent.frozen_by.is_some() {
            return;
        }
        let answer = self.reasoner.decide(self.state, owned, agent);
        let order = |target: &Target| target.id();
        let inhibited = visible(&agent.memory, order).into_iter().map(|one| (one.operation, one.target.clone()));
        let seen = Box::new(FactsAndDecision {
            descriptor: Arc::clone(&owned.descriptor),
            wakefulness: owned.wakefulness,
            free: self.state.manager.free(),
            requests: agent.requests.clone(),
            inhibited: inhibited.collect(),
            solution: answer.solution,
            ending: answer.ending,
            random: agent.random,
        });
        let Some(agent) = self.state.agents.get_mut(instance) else { return };
        agent.evaluations = agent.evaluations.saturating_add(1);
        agent.wake_refused = None;
        let next = agent.evaluations.saturating_add(1);
        expire(&mut agent.memory, cycles, next);
        if let Some(notice) = &mut agent.notice {
            notice.evaluated();
        }
        agent.history.evaluated(answer.remembers, &agent.requests, next);
        agent.proposal.clone_from(&answer.proposal);
        let (proposal, has_failed) = (answer.proposal, answer.has_failed);
        self.report(TraceEvent::Evaluated { instance: instance.clone(), proposal, has_failed, seen });
    }

    /// Judges the proposal of an agent on this node. An accepted operation is enacted if it concerns only this node;
    /// otherwise the neighbour concerned is asked.
    pub(super) fn judge_agent(&mut self, instance: &InstanceId) {
        let Some(proposal) = self.state.agents.get_mut(instance).and_then(|agent| agent.proposal.take()) else {
            return;
        };
        let Some(request) = self.request(instance, &proposal) else { return };
        match self.judge_own(instance, &proposal, &request) {
            Err(rule) => self.inhibit(instance, &proposal, self.own_id(), rule),
            Ok(()) => match (proposal.operation, &proposal.target) {
                (AgentOperation::Undeploy, _) => {
                    self.end_instance(instance);
                    self.report(TraceEvent::Judged { request, verdict: Verdict::Accepted, created: None });
                }
                (AgentOperation::Adapt, _) => {
                    self.adapt_here(instance, &proposal);
                    self.note_done(instance, &proposal);
                    self.report(TraceEvent::Judged { request, verdict: Verdict::Accepted, created: None });
                }
                (AgentOperation::Sleep | AgentOperation::Wake, _) => {
                    if proposal.operation == AgentOperation::Sleep {
                        self.fall_asleep(instance);
                    } else {
                        self.wake_up(instance);
                    }
                    self.note_done(instance, &proposal);
                    self.report(TraceEvent::Judged { request, verdict: Verdict::Accepted, created: None });
                }
                (AgentOperation::Replicate, target) if target.resolve(&self.own_id()) == Some(&self.own_id()) => {
                    let created = self.replicate_here(instance);
                    self.note_done(instance, &proposal);
                    self.report(TraceEvent::Judged { request, verdict: Verdict::Accepted, created });
                }
                (AgentOperation::Migrate, Target::Node(node)) => {
                    self.begin(instance, &proposal, node, TransferKind::Migrate);
                }
                (AgentOperation::Replicate, Target::Node(node)) => {
                    self.begin(instance, &proposal, node, TransferKind::Replicate);
                }
                // Never reached: a migration to this node is inhibited as out of reach, a replication to it is handled
                // above, and only an adapt has a flavour as its target.
                (AgentOperation::Migrate | AgentOperation::Replicate, Target::Own | Target::Flavour(_)) => {}
            },
        }
    }

    /// The verdict of this node's manager on the proposal of an agent here; the error is the rule that inhibits the
    /// proposal.
    fn judge_own(&mut self, instance: &InstanceId, proposal: &Proposal, request: &Request) -> Result<(), Rule> {
        let own = self.own_id();
        let Some(owned) = self.state.ledger.owned.get(instance) else { return Err(Rule::Down) };
        anchor(owned.is_anchor, proposal.operation)?;
        let (needed, is_pinned) = (owned.needed(), owned.is_pinned);
        let descriptor = Arc::clone(&owned.descriptor);
        let change = match proposal.operation {
            AgentOperation::Adapt => Some(self.adaptation(instance, &proposal.target)?.1),
            AgentOperation::Sleep | AgentOperation::Wake => Some(self.sleep_change(instance, proposal.operation)?),
            AgentOperation::Undeploy | AgentOperation::Migrate | AgentOperation::Replicate => None,
        };
        if let Some(change) = change {
            let concern = Concern { arrives: change.arrives(), ..Concern::default() };
            return self.judge_here(concern, request, &descriptor, change.taken);
        }
        let target = proposal.target.resolve(&own).unwrap_or(&own);
        let is_here = *target == own;
        let (is_in_reach, would_go) = match proposal.operation {
            AgentOperation::Undeploy | AgentOperation::Adapt | AgentOperation::Sleep | AgentOperation::Wake => {
                (true, true)
            }
            AgentOperation::Migrate => (!is_here && self.state.neighbours.contains(target), true),
            AgentOperation::Replicate => (is_here || self.state.neighbours.contains(target), false),
        };
        let comes_here = proposal.operation == AgentOperation::Replicate && is_here;
        if comes_here {
            self.state.can_create()?;
        }
        let concern = Concern {
            out_of_reach: (!is_in_reach).then_some(target),
            is_pinned: is_pinned && would_go,
            arrives: comes_here.then_some(needed),
        };
        let is_spent = proposal.operation == AgentOperation::Replicate && owned.replications_left == Some(0);
        self.judge_here(concern, request, &descriptor, needed)?;
        if is_spent { Err(Rule::Budget) } else { Ok(()) }
    }

    /// Judges a request that concerns this node by the built-in rules, and by the node's acceptance policy if it has
    /// one. `needed` is the hardware that a deploy, a migrate or a replicate takes at its target; for an adapt, a sleep
    /// or a wake, the additional hardware; for an undeploy, the hardware that the instance needs.
    pub(super) fn judge_here(
        &mut self,
        concern: Concern<'_>,
        request: &Request,
        descriptor: &Arc<Descriptor>,
        needed: Hardware,
    ) -> Result<(), Rule> {
        let (state, reasoner) = (&*self.state, &mut *self.reasoner);
        let mut failure = None;
        let verdict = judge(&state.manager, concern, || {
            let Some(acceptance) = &state.config.acceptance else { return Ok(()) };
            let view = reasoner.manager_view(state, Some(descriptor));
            consent(acceptance, reasoner.machine(), view, request, needed)
        });
        let verdict = verdict.map_err(|refusal: Refusal| {
            failure = refusal.failure;
            refusal.rule
        });
        if let Some(failure) = failure {
            self.report(TraceEvent::AcceptanceFailed { request: request.clone(), failure: Failure(failure) });
        }
        verdict
    }

    /// The proposal of an agent on this node as a [`Request`]; `None` if its instance is not owned here, or the request
    /// is not valid.
    pub(super) fn request(&self, instance: &InstanceId, proposal: &Proposal) -> Option<Request> {
        let application = self.state.ledger.owned.get(instance)?.descriptor.application.id.clone();
        let operation = proposal.operation.towards(proposal.target.clone());
        agent_request(instance, self.own_id(), application, operation)
    }

    /// Reports that the manager of `node` inhibited an agent's proposal, and lets the agent remember it.
    pub(super) fn inhibit(&mut self, instance: &InstanceId, proposal: &Proposal, node: NodeId, rule: Rule) {
        let Some(request) = self.request(instance, proposal) else { return };
        let cycles = self.state.ledger.owned.get(instance).map_or(0, |owned| owned.descriptor.policy.memory);
        if let Some(agent) = self.state.agents.get_mut(instance) {
            let Proposal { operation, target } = proposal.clone();
            remember(
                &mut agent.memory,
                cycles,
                RememberedOperation { evaluation: agent.evaluations, operation, target },
            );
        }
        let verdict = Verdict::Inhibited(Inhibition { node, rule });
        self.report(TraceEvent::Judged { request, verdict, created: None });
    }

    /// Adds an accepted operation to the agent's history, if its policy declares that it remembers operations.
    pub(super) fn note_done(&mut self, instance: &InstanceId, proposal: &Proposal) {
        let Some(owned) = self.state.ledger.owned.get(instance) else { return };
        let remembers = self.reasoner.remembers(self.state, owned);
        if let Some(agent) = self.state.agents.get_mut(instance) {
            let Proposal { operation, target } = proposal.clone();
            agent.history.accepted(remembers, RememberedOperation { evaluation: agent.evaluations, operation, target });
        }
    }

    /// Removes from an agent's history an operation that was not enacted after all.
    pub(super) fn note_undone(&mut self, instance: &InstanceId, proposal: &Proposal) {
        if let Some(agent) = self.state.agents.get_mut(instance) {
            let Proposal { operation, target } = proposal.clone();
            agent.history.undone(&RememberedOperation { evaluation: agent.evaluations, operation, target });
        }
    }

    /// Ends an instance on this node. The hardware of its copy counts as used until the copy has stopped.
    pub(super) fn end_instance(&mut self, instance: &InstanceId) {
        let Some(owned) = self.state.ledger.owned.get(instance) else { return };
        let workload = owned.workload;
        self.state.agents.remove(instance);
        self.journal(JournalRecord::Undeployed { instance: instance.clone() });
        self.effects.push(Effect::Drain(workload));
    }

    /// Creates a replica on this node, with a single record and without a message. Returns the id of the new instance.
    fn replicate_here(&mut self, parent: &InstanceId) -> Option<InstanceId> {
        let owned = self.state.ledger.owned.get(parent)?;
        let descriptor = Arc::clone(&owned.descriptor);
        let split = owned.replications_left.map(split_replications);
        let (flavour, wakefulness) = (owned.flavour, owned.wakefulness);
        let child = Owned {
            instance: self.state.ids.instance(),
            epoch: Epoch::default().next(),
            workload: self.state.ids.workload(),
            descriptor,
            flavour,
            wakefulness,
            snapshot: Arc::new(AgentSnapshot::default()),
            replications_left: split.map(|[_, child]| child),
            is_pinned: false,
            is_anchor: false,
        };
        let cause = OwnCause::Replicated { parent: parent.clone(), replications_left: split.map(|[left, _]| left) };
        let instance = child.instance.clone();
        self.own(child, cause);
        Some(instance)
    }

    /// Records that this node owns an instance, and starts its agent and, unless the instance sleeps, its copy.
    pub(super) fn own(&mut self, owned: Owned, cause: OwnCause) {
        let start = (!owned.is_asleep()).then(|| owned.start());
        self.start_agent(&owned);
        self.journal(JournalRecord::Own { owned, cause });
        self.effects.extend(start);
    }

    /// Returns the index of the target flavour, and the change of hardware when an instance here adapts to it. A copy
    /// that is still shrinking holds its old amount.
    fn adaptation(&self, instance: &InstanceId, target: &Target) -> Result<(FlavourIndex, HardwareChange), Rule> {
        let Some(owned) = self.state.ledger.owned.get(instance) else { return Err(Rule::Down) };
        let runs = (owned.flavour, owned.wakefulness);
        adapt(&owned.descriptor.application, runs, self.state.held(owned), &target.id().into())
    }

    /// Adapts an instance to the proposed flavour.
    fn adapt_here(&mut self, instance: &InstanceId, proposal: &Proposal) {
        if let Ok((flavour, _)) = self.adaptation(instance, &proposal.target) {
            self.run_in(instance, flavour);
        }
    }

    /// Records another flavour of an instance, and adapts its copy. A sleeping instance starts in the new flavour when
    /// it wakes.
    pub(super) fn run_in(&mut self, instance: &InstanceId, flavour: FlavourIndex) {
        self.journal(JournalRecord::Adapted { instance: instance.clone(), flavour });
        let owned = self.state.ledger.owned.get(instance);
        let effect = owned.filter(|owned| !owned.is_asleep()).map(Owned::adapt);
        self.effects.extend(effect);
    }

    /// Called when a copy no longer runs with its old flavour or description. Frees its surplus hardware.
    pub(super) fn adapted(&mut self, workload: WorkloadId) {
        if self.state.ledger.shrinking.contains_key(&workload) {
            self.journal(JournalRecord::Shrunk { workload });
        }
    }

    /// Starts the agent of an owned instance. With an evaluation period, it first evaluates after a full period: before
    /// that it has observed no client requests, and might undeploy itself.
    pub(super) fn start_agent(&mut self, owned: &Owned) {
        let first = self.now + self.state.config.timing.evaluation_period.unwrap_or_default();
        self.state.agents.insert(owned.instance.clone(), Agent::new(&owned.snapshot, first));
    }

    pub(super) fn own_id(&self) -> NodeId {
        self.state.config.node.clone()
    }
}

/// The request of an agent on a node; `None` if the request is not valid.
pub(super) fn agent_request(
    instance: &InstanceId,
    node: NodeId,
    application: ApplicationId,
    operation: Operation,
) -> Option<Request> {
    let agent = AgentId::from(instance.id().clone());
    Request::by_agent(agent, instance.clone(), node, application, operation).ok()
}

/// Takes one replication from a replication budget, and splits the rest. Returns the shares of the parent and of the
/// child; if the rest is odd, the parent gets one more.
pub(super) fn split_replications(left: u32) -> [u32; 2] {
    let rest = left.saturating_sub(1);
    [rest - rest / 2, rest / 2]
}
