//! The histories of agents.

use std::sync::Arc;

use mario_policy::{MemoryDeclaration, Policy, PolicySettings};
use mario_prolog::{Allowance, Engine};
use mario_trace::reader::{Detail, Evaluation, Header, Proposal, RequestFact};
use mario_trace::{Change, InstanceRef, State};
use rustc_hash::FxHashMap;

use super::policies::resolver;

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

/// The histories of the agents of a trace.
pub(crate) struct Histories {
    /// How far back each policy of the header looks.
    remembers: Vec<MemoryDeclaration>,
    /// The histories of existing instances whose policy looks back, and of those whose eviction was announced.
    of: FxHashMap<InstanceRef, History>,
}

/// The history of one agent.
#[derive(Default)]
struct History {
    /// How far back its policy looks.
    remembers: MemoryDeclaration,
    /// The history visible to its next evaluation.
    next: VisibleHistory,
    /// Whether it evaluated under its current policy.
    has_evaluated: bool,
}

static NOTHING: VisibleHistory = VisibleHistory { earlier: Vec::new(), done: Vec::new(), age: None, leave: None };

impl Histories {
    /// Creates empty histories. Compiles the policies of the header to determine how far back they look; a policy that
    /// cannot be compiled is treated as one that does not look back. So is every policy if the trace has no evaluations,
    /// or if its format is older than histories.
    pub(crate) fn new(header: &Header, engine: &Engine, allowance: &Allowance) -> Histories {
        let is_recorded = header.mario_trace >= FIRST_FORMAT && header.detail == Detail::Full;
        let remembers = header.policies.iter().map(|policy| {
            let (name, text) = policy.files.first().filter(|_| is_recorded)?;
            let (settings, files) = (PolicySettings::default(), Some(resolver(policy)));
            let loaded = Policy::load_within(engine, name, text, files, settings, allowance).ok()?;
            Some(loaded.remembers())
        });
        Histories { remembers: remembers.map(Option::unwrap_or_default).collect(), of: FxHashMap::default() }
    }

    /// The history visible to the next evaluation of an instance; empty if it has none.
    pub(crate) fn visible_history(&self, instance: InstanceRef) -> &VisibleHistory {
        self.of.get(&instance).map_or(&NOTHING, |history| &history.next)
    }

    /// Processes a change. `state` is the state after it.
    pub(crate) fn apply(&mut self, state: &State, change: Change<'_>) {
        match change {
            Change::Appeared { instance, .. } => self.begin(state, instance),
            Change::Moved { instance, became: None, .. } => {
                if let Some(history) = self.of.get_mut(&instance) {
                    history.next.age = history.next.age.map(|_| 0);
                    history.next.leave = None;
                }
            }
            Change::Moved { instance, became: Some(became), .. } => {
                self.of.remove(&instance);
                self.begin(state, became);
            }
            Change::Left { instance, .. } => _ = self.of.remove(&instance),
            Change::EvictionAnnounced { instance, evaluations, .. } => {
                self.of.entry(instance).or_default().next.leave = Some(evaluations);
            }
            Change::Updated { instance, .. } => self.change_policy(state, instance),
            Change::PolicyChanged { application, .. } => {
                let agents = state.existing().filter(|(_, agent)| agent.application == application);
                agents.for_each(|(instance, _)| self.restart(state, instance));
            }
            Change::Accepted { instance, proposal } => {
                if let Some(history) = self.of.get_mut(&instance)
                    // A plan may also move an instance whose agent has not evaluated. Then there is no evaluation to
                    // count from.
                    && history.has_evaluated
                    && history.remembers.operations > 0
                {
                    history.next.done.insert(0, (1, proposal.clone()));
                }
            }
            Change::Adapted { .. }
            | Change::Slept { .. }
            | Change::Woke { .. }
            | Change::Anchored { .. }
            | Change::Nop { .. }
            | Change::Inhibited { .. }
            | Change::DeployInhibited { .. }
            | Change::WakeInhibited { .. }
            | Change::NodeDown { .. }
            | Change::NodeUp { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => {}
        }
    }

    /// Starts an empty history for an agent, if its policy looks back.
    fn begin(&mut self, state: &State, instance: InstanceRef) {
        let remembers = self.remembers[state.instance(instance).policy as usize];
        if !remembers.is_nothing() {
            let next = VisibleHistory { age: remembers.reads_age.then_some(0), ..VisibleHistory::default() };
            self.of.insert(instance, History { remembers, next, has_evaluated: false });
        }
    }

    /// Gives an agent another policy. It keeps what it remembers, as far as that policy looks back.
    fn change_policy(&mut self, state: &State, instance: InstanceRef) {
        let remembers = self.remembers[state.instance(instance).policy as usize];
        match self.of.get_mut(&instance) {
            None => self.begin(state, instance),
            Some(history) => {
                history.remembers = remembers;
                history.next.earlier.truncate(remembers.requests as usize);
                history.next.age = remembers.reads_age.then(|| history.next.age.unwrap_or(0));
            }
        }
    }

    /// Starts the history of an agent again, because it has another policy. An announced eviction remains.
    fn restart(&mut self, state: &State, instance: InstanceRef) {
        let leave = self.of.remove(&instance).and_then(|history| history.next.leave);
        self.begin(state, instance);
        if leave.is_some() {
            self.of.entry(instance).or_default().next.leave = leave;
        }
    }

    /// Processes an evaluation.
    pub(crate) fn evaluated(&mut self, instance: InstanceRef, evaluation: &Evaluation) {
        let Some(history) = self.of.get_mut(&instance) else { return };
        let remembers = history.remembers;
        history.has_evaluated = true;
        let next = &mut history.next;
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
}
