//! The histories of agents, reconstructed from a trace.

use std::sync::Arc;

use mario_domain::{InstanceEffect, InstanceId};
use mario_policy::MemoryDeclaration;
use rustc_hash::FxHashMap;

use crate::reader::{
    Cycle, Detail, Evaluation, Header, Outcome, Owner, OwnerActKind, Proposal, RequestFact, TraceRecord, Update,
    Verdict,
};

/// The first format with histories. Before it, policies could not declare a memory, and `age` was not a fact.
const FIRST_FORMAT: u64 = 3;

/// The part of an agent's history that its policy sees in an evaluation.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct VisibleHistory {
    /// The client requests of earlier evaluations, the latest first: `earlier/5`.
    pub(crate) earlier: Vec<Arc<[RequestFact]>>,
    /// The agent's accepted operations, the latest first, each with how many evaluations ago it was proposed, from 1
    /// for the last evaluation: `done/4`.
    pub(crate) done: Vec<(u64, Proposal)>,
    /// The number of earlier evaluations on the current node, if the policy reads it: `age/2`.
    pub(crate) age: Option<u64>,
    /// The number of evaluations left on the node, if an eviction was announced: `leave/2`.
    pub(crate) leave: Option<u64>,
}

/// The histories of the agents of a trace. Every record must be passed to [`Histories::read`], in order.
#[derive(Debug)]
pub(crate) struct Histories {
    /// How far back each policy of the header looks.
    remembers: Vec<MemoryDeclaration>,
    /// The histories of instances whose policy looks back, and of those whose eviction was announced.
    of: FxHashMap<InstanceId, History>,
    /// The application of each existing instance; empty if no policy looks back.
    applications: FxHashMap<InstanceId, u32>,
}

/// The history of one agent.
#[derive(Debug)]
struct History {
    /// How far back its policy looks.
    remembers: MemoryDeclaration,
    /// The history visible to its next evaluation.
    next: VisibleHistory,
    /// The history visible to its last evaluation; `None` before the first under its current policy.
    last: Option<VisibleHistory>,
}

static NOTHING: VisibleHistory = VisibleHistory { earlier: Vec::new(), done: Vec::new(), age: None, leave: None };

impl Histories {
    /// Creates empty histories for policies with these declarations, in the order of the header. The declarations are
    /// ignored if the trace has no evaluations, or if its format is older than histories.
    pub(crate) fn of_policies(header: &Header, remembers: impl Iterator<Item = MemoryDeclaration>) -> Histories {
        let is_recorded = header.mario_trace >= FIRST_FORMAT && header.detail == Detail::Full;
        let remembers = remembers.map(|remembers| if is_recorded { remembers } else { MemoryDeclaration::default() });
        Histories { remembers: remembers.collect(), of: FxHashMap::default(), applications: FxHashMap::default() }
    }

    /// The history visible to the next evaluation of an instance; empty if it has none.
    pub(crate) fn visible_history(&self, instance: &InstanceId) -> &VisibleHistory {
        self.of.get(instance).map_or(&NOTHING, |past| &past.next)
    }

    /// Whether the next evaluation of an instance sees the same history as its last one; true if it has no history.
    pub(crate) fn is_unchanged(&self, instance: &InstanceId) -> bool {
        self.of.get(instance).is_none_or(|past| past.last.as_ref() == Some(&past.next))
    }

    /// Updates the histories with the next record of the trace.
    pub(crate) fn read(&mut self, record: &TraceRecord) {
        match record {
            TraceRecord::Deployed(deployed) => self.appear(&deployed.instance, deployed.application, deployed.policy),
            TraceRecord::Evaluation(evaluation) => self.evaluated(evaluation),
            TraceRecord::Cycle(cycle) => self.judged(cycle),
            TraceRecord::Update(update) => self.updated(update),
            TraceRecord::NodeDown(down) => {
                for instance in &down.instances {
                    self.go(instance);
                }
            }
            TraceRecord::Owner(owner) => self.acted(owner),
            _ => {}
        }
    }

    /// Processes the announced and enacted evictions of an owner's record.
    fn acted(&mut self, owner: &Owner) {
        for act in &owner.acts {
            match act.kind {
                OwnerActKind::Announced(evaluations) => self.announce_eviction(&act.instance, Some(evaluations)),
                OwnerActKind::Evicted => self.go(&act.instance),
                OwnerActKind::Shrunk(_) => {}
            }
        }
    }

    fn announce_eviction(&mut self, instance: &InstanceId, evaluations: Option<u64>) {
        let unseen =
            || History { remembers: MemoryDeclaration::default(), next: VisibleHistory::default(), last: None };
        self.of.entry(instance.clone()).or_insert_with(unseen).next.leave = evaluations;
    }

    fn appear(&mut self, instance: &InstanceId, application: u32, policy: u32) {
        if self.remembers.iter().all(MemoryDeclaration::is_nothing) {
            return;
        }
        self.applications.insert(instance.clone(), application);
        self.begin(instance, self.remembers[policy as usize]);
    }

    fn go(&mut self, instance: &InstanceId) {
        self.of.remove(instance);
        self.applications.remove(instance);
    }

    /// Restarts the histories of an application's agents under their new policy. Announced evictions remain.
    fn updated(&mut self, update: &Update) {
        let is_of_it = |(_, application): &(&InstanceId, &u32)| **application == update.application;
        let concerned: Vec<InstanceId> =
            self.applications.iter().filter(is_of_it).map(|(instance, _)| instance.clone()).collect();
        for instance in concerned {
            let leave = self.of.remove(&instance).and_then(|past| past.next.leave);
            self.begin(&instance, self.remembers[update.policy as usize]);
            if leave.is_some() {
                self.announce_eviction(&instance, leave);
            }
        }
    }

    /// Starts an empty history for an agent, if its policy looks back and the agent has no history yet.
    fn begin(&mut self, instance: &InstanceId, remembers: MemoryDeclaration) {
        if remembers.is_nothing() {
            return;
        }
        let next = VisibleHistory { age: remembers.reads_age.then_some(0), ..VisibleHistory::default() };
        self.of.entry(instance.clone()).or_insert(History { remembers, next, last: None });
    }

    fn evaluated(&mut self, evaluation: &Evaluation) {
        let Some(past) = self.of.get_mut(&evaluation.instance) else { return };
        let remembers = past.remembers;
        let next = &mut past.next;
        past.last = Some(next.clone());
        if remembers.requests > 0 {
            let requests = match &evaluation.seen {
                Some(seen) => seen.requests.as_slice().into(),
                None => next.earlier.first().cloned().unwrap_or_default(),
            };
            next.earlier.insert(0, requests);
            next.earlier.truncate(remembers.requests as usize);
        }
        next.done.iter_mut().for_each(|(ago, _)| *ago += 1);
        next.done.retain(|(ago, _)| *ago <= u64::from(remembers.operations));
        next.age = next.age.map(|age| age + 1);
        next.leave = next.leave.map(|leave| leave.saturating_sub(1));
    }

    fn judged(&mut self, cycle: &Cycle) {
        for outcome in &cycle.outcomes {
            match outcome {
                Outcome::Judged { instance, proposal, verdict: Verdict::Accepted(new) } => {
                    self.accepted(instance, proposal, new.as_ref());
                }
                Outcome::Deploy {
                    application, policy: Some(policy), verdict: Verdict::Accepted(Some(new)), ..
                } => {
                    self.appear(new, *application, *policy);
                }
                Outcome::Nop(_) | Outcome::Judged { .. } | Outcome::Deploy { .. } => {}
            }
        }
    }

    fn accepted(&mut self, instance: &InstanceId, proposal: &Proposal, new: Option<&InstanceId>) {
        let application = self.applications.get(instance).copied();
        if let (Some(new), Some(application)) = (new, application) {
            self.applications.insert(new.clone(), application);
        }
        let Some(past) = self.of.get_mut(instance) else { return };
        let remembers = past.remembers;
        // A plan may also move an instance whose agent has not evaluated. Then there is no evaluation to count from.
        if past.last.is_some() && remembers.operations > 0 {
            past.next.done.insert(0, (1, proposal.clone()));
        }
        match (proposal.operation.effect(), new) {
            (InstanceEffect::Kept, None) => {
                // Only where it moves, its time on the node begins again.
                if proposal.operation.asks_for_place() {
                    past.next.age = past.next.age.map(|_| 0);
                    past.next.leave = None;
                }
            }
            // A migration to a new id.
            (InstanceEffect::Kept, Some(new)) => {
                self.go(instance);
                self.begin(new, remembers);
            }
            (InstanceEffect::Created, Some(new)) => self.begin(new, remembers),
            (InstanceEffect::Ended, _) => self.go(instance),
            (InstanceEffect::Created, None) => {}
        }
    }
}
