//! The proposal cache: an agent reuses its proposal if it sees the same client requests as before, and nothing else has
//! changed.
//!
//! With round robin between several instances, the traffic of each instance repeats in a short pattern. The simulation
//! numbers the snapshots of such a pattern. From the second pass through the pattern on, an agent receives only the
//! number instead of the facts.

use mario_policy::Decision;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::population::agent::{Agent, RequestFact};
use crate::population::index::{AgentIndex, LinksVersion};
use crate::population::proposal::Proposal;
use crate::population::state::Population;

/// Client requests as seen by an agent, and its proposal for them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RequestSnapshot {
    /// `None` if the agent has not decided on this snapshot yet, or its other knowledge has changed since.
    cached: Option<CachedProposal>,
    rate: f64,
    requests: SmallVec<[RequestFact; 3]>,
    /// The number of the first snapshot of the pattern with the same requests; usually its own number.
    same_as: u8,
}

/// A cached result of an evaluation. `proposal` is `None` if the agent proposes nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct CachedProposal {
    proposal: Option<Proposal>,
    /// The version of the links for which its target is known to be reachable.
    reached: Option<LinksVersion>,
    basis: Basis,
}

/// The knowledge on which a decision is based.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Basis {
    /// The current facts: the policy did not look back.
    Present,
    /// Also the history: `earlier/5` and `done/4`.
    Past,
    /// Also the age of the agent on its node: `age/2`.
    Age,
}

impl Basis {
    /// The basis of a decision.
    pub fn of(decision: &Decision) -> Basis {
        match (decision.read_age, decision.looked_back) {
            (true, _) => Basis::Age,
            (false, true) => Basis::Past,
            (false, false) => Basis::Present,
        }
    }
}

impl RequestSnapshot {
    pub(crate) fn requests(&self) -> &[RequestFact] {
        &self.requests
    }

    /// Whether the snapshot has these requests. Compares the sum first, because it usually differs.
    fn holds(&self, facts: &[RequestFact]) -> bool {
        self.rate.to_bits() == sum(facts).to_bits() && *self.requests == *facts
    }

    /// Replaces the requests of the snapshot by new ones, and drops the cached proposal.
    fn replace(&mut self, number: u8, facts: &[RequestFact]) {
        self.cached = None;
        self.rate = sum(facts);
        self.requests.clear();
        self.requests.extend_from_slice(facts);
        self.same_as = number;
    }
}

/// Returns the sum of the rates. Starts at 0, because an empty float sum is -0.
fn sum(facts: &[RequestFact]) -> f64 {
    facts.iter().fold(0.0, |sum, fact| sum + fact.rate)
}

impl Agent {
    /// Traffic without a recurring pattern adds snapshots only up to this number, and then replaces one of the first of
    /// them. Further snapshots of an earlier pattern stay. More snapshots hardly raise the hit rate, and cost memory in
    /// every agent.
    const SNAPSHOTS_MAX: u8 = 2;

    /// Sets the client requests that the agent sees from now on.
    pub(crate) fn observe(&mut self, facts: &[RequestFact]) {
        if self.sees_already(facts) {
            return;
        }
        let number = self.find_snapshot(facts).unwrap_or_else(|| {
            // Adds a snapshot while there are fewer than the maximum; otherwise replaces one that is not current.
            let number = if self.snapshots.len() < usize::from(Agent::SNAPSHOTS_MAX) {
                self.snapshots.len() as u8
            } else {
                (self.current + 1) % Agent::SNAPSHOTS_MAX
            };
            self.snapshot(number).replace(number, facts);
            number
        });
        self.switch_to(number);
    }

    /// Stores snapshot `number` in the first pass through a recurring pattern, in which numbers ascend from 0. A snapshot
    /// that equals an earlier one only refers to it (`same_as`), so that both share a cached proposal.
    fn observe_first(&mut self, number: u8, facts: &[RequestFact]) {
        let is_new = !self.sees_already(facts);
        let shown = match self.find_snapshot(facts) {
            Some(earlier) if earlier < number => {
                self.snapshot(number).same_as = earlier;
                earlier
            }
            Some(known) => {
                let snapshot = self.snapshots[usize::from(known)].clone();
                *self.snapshot(number) = RequestSnapshot { same_as: number, ..snapshot };
                number
            }
            None => {
                self.snapshot(number).replace(number, facts);
                number
            }
        };
        let was_unchanged = self.is_unchanged;
        self.switch_to(shown);
        self.is_unchanged = was_unchanged && !is_new;
    }

    /// Observes a snapshot in a later pass through the recurring pattern.
    fn observe_again(&mut self, number: u8) {
        if let Some(snapshot) = self.snapshots.get(usize::from(number))
            && snapshot.same_as != self.current
        {
            self.switch_to(snapshot.same_as);
        }
    }

    fn switch_to(&mut self, number: u8) {
        self.current = number;
        self.rate = self.snapshots[usize::from(number)].rate;
        self.is_unchanged = false;
    }

    /// Returns the snapshot with this number, and creates it if necessary.
    fn snapshot(&mut self, number: u8) -> &mut RequestSnapshot {
        let position = usize::from(number);
        if self.snapshots.len() <= position {
            let mut snapshots = std::mem::take(&mut self.snapshots).into_vec();
            snapshots.reserve_exact(position + 1 - snapshots.len());
            snapshots.resize_with(position + 1, RequestSnapshot::default);
            self.snapshots = snapshots.into_boxed_slice();
        }
        &mut self.snapshots[position]
    }

    fn find_snapshot(&self, facts: &[RequestFact]) -> Option<u8> {
        (0..).zip(&self.snapshots).find(|(_, snapshot)| snapshot.holds(facts)).map(|(number, _)| number)
    }

    fn sees_already(&self, facts: &[RequestFact]) -> bool {
        self.current_snapshot().map_or(facts.is_empty(), |snapshot| snapshot.holds(facts))
    }

    pub(crate) fn current_snapshot(&self) -> Option<&RequestSnapshot> {
        self.snapshots.get(usize::from(self.current))
    }

    /// Sets the agent's proposal to the cached one for the current snapshot; to nothing if none is cached.
    fn reuse_cached(&mut self) {
        let cached = self.current_snapshot().and_then(|snapshot| snapshot.cached.clone());
        (self.proposal, self.reached) = cached.map_or((None, None), |cached| (cached.proposal, cached.reached));
    }

    /// Sets the proposal of the agent for its current facts, and caches it in the current snapshot, if there is one.
    pub(crate) fn set_proposal(&mut self, proposal: Option<Proposal>, basis: Basis) {
        if let Some(snapshot) = self.snapshots.get_mut(usize::from(self.current)) {
            snapshot.cached = Some(CachedProposal { proposal: proposal.clone(), reached: None, basis });
        }
        self.proposal = proposal;
        self.reached = None;
    }

    /// Notes that the target of the agent's proposal is reachable.
    pub(crate) fn set_reached(&mut self, version: LinksVersion) {
        self.reached = Some(version);
        let snapshot = self.snapshots.get_mut(usize::from(self.current));
        if let Some(cached) = snapshot.and_then(|snapshot| snapshot.cached.as_mut()) {
            cached.reached = Some(version);
        }
    }

    /// Returns the agent's proposal for a snapshot of its recurring pattern, and the version of the links for which its
    /// target is known to be reachable; `None` if it is not cached.
    pub(crate) fn cached_proposal(&self, number: u8) -> Option<(Option<&Proposal>, Option<LinksVersion>)> {
        let cached = self.recurring(number)?.cached.as_ref()?;
        Some((cached.proposal.as_ref(), cached.reached))
    }

    /// Returns the total rate of the requests that the agent sees, or of a snapshot of its recurring pattern.
    pub(crate) fn rate_in(&self, snapshot: Option<u8>) -> f64 {
        let Some(number) = snapshot else { return self.rate };
        self.recurring(number).map_or(0.0, |snapshot| snapshot.rate)
    }

    fn recurring(&self, number: u8) -> Option<&RequestSnapshot> {
        let same_as = self.snapshots.get(usize::from(number))?.same_as;
        self.snapshots.get(usize::from(same_as))
    }

    /// Switches to the last snapshot that the agent saw while it was parked, and, if no other fact has changed, to the
    /// proposal cached for it.
    pub(crate) fn observed_while_parked(&mut self, number: u8) {
        let was_unchanged = self.is_unchanged;
        self.observe_again(number);
        if was_unchanged {
            self.reuse_cached();
            self.is_unchanged = true;
        }
    }

    /// Invalidates all cached proposals, because something other than client requests is new to the agent.
    pub(crate) fn invalidate_cached_proposals(&mut self) {
        self.is_unchanged = false;
        for snapshot in &mut self.snapshots {
            snapshot.cached = None;
        }
    }

    /// Invalidates the cached proposals whose basis is `basis` or more, because that knowledge has changed since the
    /// last evaluation.
    pub(crate) fn invalidate_proposals_based_on(&mut self, basis: Basis) {
        self.is_unchanged = false;
        for snapshot in &mut self.snapshots {
            snapshot.cached.take_if(|cached| cached.basis >= basis);
        }
    }

    /// Whether the agent will repeat its proposal while its facts stay the same: no fact has changed since its last
    /// evaluation, or the proposal for its current requests is still cached.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_unchanged || self.current_snapshot().is_some_and(|snapshot| snapshot.cached.is_some())
    }

    /// Whether the snapshot of the recurring pattern with this number has the requests that the agent sees now.
    pub(crate) fn sees(&self, number: u8) -> bool {
        self.snapshots.get(usize::from(number)).is_some_and(|snapshot| snapshot.same_as == self.current)
    }

    /// Whether references between snapshots are valid, and each cached proposal satisfies `is_valid`.
    pub(crate) fn has_valid_snapshots(&self, is_valid: impl Fn(&Proposal) -> bool) -> bool {
        let count = self.snapshots.len();
        let has_current = count == 0 && self.current == 0 || usize::from(self.current) < count;
        let is_sound = |snapshot: &RequestSnapshot| {
            let proposal = snapshot.cached.as_ref().and_then(|cached| cached.proposal.as_ref());
            usize::from(snapshot.same_as) < count && proposal.is_none_or(&is_valid)
        };
        has_current && self.snapshots.iter().all(is_sound)
    }

    pub(crate) fn clear_snapshots(&mut self) {
        self.snapshots = Box::default();
        self.current = 0;
        self.rate = 0.0;
    }
}

impl Population {
    /// Whether an agent's facts have not changed since its last evaluation. A policy is a pure function of the facts,
    /// so it would propose the same.
    pub fn is_unchanged(&self, agent: AgentIndex) -> bool {
        self.agent(agent).is_unchanged
    }

    /// Whether the agent's proposal for its current facts is cached.
    pub fn has_cached_proposal(&self, agent: AgentIndex) -> bool {
        self.agent(agent).current_snapshot().is_some_and(|snapshot| snapshot.cached.is_some())
    }

    /// Counts an evaluation of an agent, and queues its cached proposal, see [`Population::has_cached_proposal`].
    pub fn propose_cached(&mut self, index: AgentIndex) {
        self.agents[index.position()].reuse_cached();
        self.repeat_proposal(index);
    }

    /// Rule r2 for traffic with a recurring pattern: an agent sees snapshot `number` of it. In the first pass
    /// through the pattern, snapshots come in order and with their facts; later, only by number. The pattern ends when
    /// the agent observes other traffic.
    pub fn observe_recurring(&mut self, agent: AgentIndex, number: u8, facts: Option<&[RequestFact]>) {
        let agent = &mut self.agents[agent.position()];
        match facts {
            Some(facts) => agent.observe_first(number, facts),
            None => agent.observe_again(number),
        }
    }

    /// Prefetches an agent's snapshots. Call it for a batch of agents before they observe something, so that the cache
    /// misses overlap. The return value only keeps the read from being optimised away.
    pub fn prefetch_snapshots(&self, agent: AgentIndex) -> u32 {
        let snapshots = self.agent(agent).snapshots.iter();
        snapshots.fold(0, |sum, snapshot| sum ^ u32::from(snapshot.same_as) ^ snapshot.requests.len() as u32)
    }

    /// Prefetches the requests of an agent's snapshots. Call it after [`Population::prefetch_snapshots`].
    pub fn prefetch_requests(&self, agent: AgentIndex) -> u32 {
        let first = |snapshot: &RequestSnapshot| snapshot.requests.first().map_or(0, |fact| fact.rate as u32);
        self.agent(agent).snapshots.iter().fold(0, |sum, snapshot| sum ^ first(snapshot))
    }
}
