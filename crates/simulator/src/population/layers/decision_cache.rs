//! The decision cache: agents share decisions on knowledge that is the same up to names.
//!
//! Often, an earlier agent has had the same knowledge, with other names for nodes and instance. A policy that is
//! invariant under renaming ([`mario_policy::name_invariance`] proves this) proposes the same for both, up to names. So
//! the key of an entry is an agent's knowledge without names: each node is replaced by its position in the standard
//! order of the nodes that occur.
//!
//! Start at [`DecisionCache::lookup`]. After a miss the policy is evaluated, and [`DecisionCache::insert`] stores the
//! answer.
//!
//! **Invariant:** a proposal does not depend on whether it came from the cache.
//!
//! **Invariant:** hits and misses depend only on the agents and their order, not on the number of threads: a slot is
//! reserved before the policy is evaluated, and other agents with the same key wait for the answer.

mod key;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use mario_domain::{AgentOperation, Application, Id};
use mario_policy::{Decision, Ending, FactsAllowed, NameInvariance, Policy, name_invariance};
use mario_prolog::Engine;
use mario_scenario::ApplicationIndex;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use key::Key;

use crate::population::index::AgentIndex;
use crate::population::layers::proposal_cache::Basis;
use crate::population::proposal::Proposal;
use crate::population::state::{PastUse, Population};

/// The maximum number of entries is this number times the number of nodes, clamped to `ENTRIES`. A full cache adds no
/// entry until [`DecisionCache::make_room`] clears it.
const ENTRIES_PER_NODE: usize = 4;
const ENTRIES: RangeInclusive<usize> = 1 << 10..=1 << 19;

/// Mask for the upper half of a hash, which is stored in the index.
const UPPER: u64 = !0 << 32;

/// A decision is not shared if it used more than 1/64 of its budget of inferences: with other names some steps cost
/// slightly more, so another agent might run out of budget.
const BUDGET_PART: u64 = 64;

/// Decisions of policies, by agents' knowledge up to names.
pub struct DecisionCache {
    /// For each policy, the result of its analysis; `None` if its decisions cannot be shared.
    policies: Vec<Option<NameInvariance>>,
    /// For each application, the first application with the same hardware, maximum rate and maximum latency; the
    /// application itself if two applications have the same id.
    alike: Vec<ApplicationIndex>,
    limit: usize,
    /// The number of entries.
    count: usize,
    /// The entries, one after another: a header word with length and answer, then the words of the key.
    blocks: Vec<u64>,
    /// A hash table with open addressing. The upper half of a slot is that of the hash, the lower half is the position
    /// in `blocks` plus one; 0 for an empty slot. The length is a power of two, or 0.
    index: Vec<u64>,
    /// Key buffers: the first for single lookups, the others for the prefetched batch.
    keys: Vec<Key>,
    /// The index of the key that was written or used last.
    current: usize,
    prefetched: Prefetched,
}

/// The batch of agents whose decisions are looked up next.
#[derive(Default)]
struct Prefetched {
    /// Each agent, with the hash of its key; `None` if its decision cannot be shared. Only the first `length` slots
    /// belong to the batch, and the first `taken` of them have been looked up.
    slots: Vec<(AgentIndex, Option<u64>)>,
    length: usize,
    taken: usize,
}

/// The answer of a policy, as stored in an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// The policy is being evaluated.
    Pending,
    /// The decision must not be shared.
    Private,
    Nothing,
    /// The policy looks further back than this key: a longer key, with the history or also the age, has the answer.
    LooksBack,
    /// This operation; its target is the node, or `self`, at this position of the key.
    Proposal(AgentOperation, u8),
}

/// The first word of an entry.
#[derive(Clone, Copy)]
struct Header(u64);

impl Header {
    fn new(length: usize, answer: Answer) -> Header {
        let (tag, position) = match answer {
            Answer::Pending => (0, 0),
            Answer::Private => (1, 0),
            Answer::Nothing => (2, 0),
            Answer::LooksBack => (LOOKS_BACK, 0),
            Answer::Proposal(operation, position) => (FIRST_OPERATION + operation.code(), position),
        };
        Header((length as u64) << 16 | u64::from(position) << 8 | u64::from(tag))
    }

    /// The number of words of the key.
    fn length(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// `None` for a header that [`Header::new`] does not write.
    fn answer(self) -> Option<Answer> {
        let position = (self.0 >> 8) as u8;
        match self.0 as u8 {
            0 => Some(Answer::Pending),
            1 => Some(Answer::Private),
            2 => Some(Answer::Nothing),
            LOOKS_BACK => Some(Answer::LooksBack),
            tag => {
                let operation = AgentOperation::with_code(tag - FIRST_OPERATION)?;
                Some(Answer::Proposal(operation, position))
            }
        }
    }
}

/// The tag of the first operation.
const FIRST_OPERATION: u8 = 3;

/// The tag of [`Answer::LooksBack`].
const LOOKS_BACK: u8 = u8::MAX;

/// The entry reserved for a pending decision: its position in `blocks`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotId(u32);

/// The result of a lookup.
#[derive(Clone, PartialEq, Debug)]
pub enum Lookup {
    /// The agent's proposal, or `None` if it proposes nothing, and its basis.
    Hit(Option<Proposal>, Basis),
    /// The policy has to be evaluated, and its answer passed to [`DecisionCache::insert`] if there is a slot.
    Miss(Option<SlotId>),
    /// The policy is being evaluated for another agent with the same key: call [`DecisionCache::lookup_pending`]
    /// afterwards.
    Pending(SlotId),
}

/// The decoded form of [`DecisionCache::saved`].
#[derive(Deserialize)]
pub struct SavedDecisionCache {
    count: usize,
    blocks: Vec<u64>,
}

impl DecisionCache {
    /// An empty cache for the agents of this population.
    pub fn new(engine: &Engine, population: &Population) -> DecisionCache {
        // Facts about nodes would have to be part of the key.
        let has_plain_nodes = !population.has_node_facts && key::are_plain(population);
        let shared = |policy: &Policy| {
            let invariance = if has_plain_nodes { name_invariance(engine, policy).ok() } else { None };
            let may_have_facts = |invariance: &NameInvariance| invariance.facts == FactsAllowed::Fixed;
            invariance.filter(|invariance| population.application_facts.is_empty() || may_have_facts(invariance))
        };
        DecisionCache {
            policies: population.policies.iter().map(shared).collect(),
            alike: alike(&population.applications),
            limit: (ENTRIES_PER_NODE * population.nodes.len()).clamp(*ENTRIES.start(), *ENTRIES.end()),
            count: 0,
            blocks: Vec::new(),
            index: Vec::new(),
            keys: vec![Key::new()],
            current: 0,
            prefetched: Prefetched::default(),
        }
    }

    /// Clears the cache if it is full. No entry may be pending.
    pub fn make_room(&mut self) {
        if self.count >= self.limit {
            self.count = 0;
            self.blocks.clear();
            self.index.fill(0);
        }
    }

    /// Writes the keys of a batch of agents, and prefetches their entries, so that their cache misses overlap. The
    /// agents must be looked up next, in this order.
    pub fn prefetch(&mut self, population: &Population, agents: &[AgentIndex]) {
        (self.prefetched.length, self.prefetched.taken) = (agents.len(), 0);
        self.prefetched.slots.resize_with(agents.len().max(self.prefetched.slots.len()), || (AgentIndex(0), None));
        self.keys.resize_with(self.prefetched.slots.len() + 1, Key::new);
        for (position, agent) in agents.iter().enumerate() {
            self.current = position + 1;
            let hash = self.write_key(population, *agent, Basis::Present).map(|()| self.key().hash());
            self.prefetched.slots[position] = (*agent, hash);
        }
        let mask = self.index.len().wrapping_sub(1);
        let hashes = self.prefetched.slots[..agents.len()].iter().filter_map(|(_, hash)| *hash);
        let entries = hashes.filter_map(|hash| self.index.get(hash as usize & mask));
        let entries: SmallVec<[u64; 32]> = entries.copied().collect();
        let blocks = entries.iter().filter_map(|entry| self.blocks.get((entry & !UPPER) as usize));
        std::hint::black_box(blocks.fold(0, |sum, block| sum ^ block));
    }

    /// Writes the key of an agent, unless it is prefetched. Returns its hash; `None` if its decision cannot be shared.
    fn hash(&mut self, population: &Population, agent: AgentIndex) -> Option<u64> {
        let Prefetched { slots, length, taken } = &mut self.prefetched;
        if let Some((prefetched, hash)) = slots[..*length].get(*taken)
            && *prefetched == agent
        {
            *taken += 1;
            self.current = *taken;
            return *hash;
        }
        self.current = 0;
        self.write_key(population, agent, Basis::Present).map(|()| self.key().hash())
    }

    fn key(&self) -> &Key {
        &self.keys[self.current]
    }

    /// Looks up the decision of an agent.
    pub fn lookup(&mut self, population: &Population, agent: AgentIndex) -> Lookup {
        let Some(hash) = self.hash(population, agent) else { return Lookup::Miss(None) };
        // A decision is deterministic, so whether it looks back depends only on the present part of the key.
        if let Some(lookup) = self.lookup_key(hash, Basis::Present) {
            return lookup;
        }
        for basis in [Basis::Past, Basis::Age] {
            if self.write_key(population, agent, basis).is_none() {
                return Lookup::Miss(None);
            }
            if let Some(lookup) = self.lookup_key(self.key().hash(), basis) {
                return lookup;
            }
        }
        Lookup::Miss(None)
    }

    /// Looks up the current key; `None` if the key must include more of the history. Reserves a slot for an unknown
    /// key, unless the cache is full.
    #[inline]
    fn lookup_key(&mut self, hash: u64, basis: Basis) -> Option<Lookup> {
        Some(match self.position(hash) {
            Ok(position) => match Header(self.blocks[position]).answer() {
                Some(Answer::LooksBack) => return None,
                Some(Answer::Pending) => Lookup::Pending(SlotId(position as u32)),
                Some(Answer::Private) | None => Lookup::Miss(None),
                Some(answer) => Lookup::Hit(self.proposal(answer), basis),
            },
            Err(_) if self.count >= self.limit => Lookup::Miss(None),
            Err(slot) => {
                let position = self.blocks.len();
                self.blocks.push(Header::new(self.keys[self.current].words().len(), Answer::Pending).0);
                self.blocks.extend_from_slice(self.keys[self.current].words());
                self.index[slot] = hash & UPPER | (position as u64 + 1);
                self.count += 1;
                Lookup::Miss(Some(SlotId(position as u32)))
            }
        })
    }

    /// Returns a decision that was pending; `None` if the policy has to be evaluated after all.
    pub fn lookup_pending(
        &mut self,
        population: &Population,
        agent: AgentIndex,
        slot: SlotId,
    ) -> Option<(Option<Proposal>, Basis)> {
        let basis = self.write_key_of(slot, population, agent)?;
        match Header(self.blocks[slot.0 as usize]).answer() {
            Some(Answer::Pending | Answer::Private | Answer::LooksBack) | None => None,
            Some(answer) => Some((self.proposal(answer), basis)),
        }
    }

    /// Writes the key of an agent with the basis of a slot, and returns that basis; `None` if the decision cannot be
    /// shared.
    fn write_key_of(&mut self, slot: SlotId, population: &Population, agent: AgentIndex) -> Option<Basis> {
        self.current = 0;
        for basis in [Basis::Present, Basis::Past] {
            self.write_key(population, agent, basis)?;
            let is_only_basis = population.past == PastUse::Unused;
            if is_only_basis || self.key().words() == self.key_at(slot.0 as usize) {
                return Some(basis);
            }
        }
        self.write_key(population, agent, Basis::Age).map(|()| Basis::Age)
    }

    /// Stores the decision of an agent's policy in its slot. It is shared only if `is_plain`, and if its target occurs
    /// in the key. If `basis` is more than the key of the slot includes, stores that a longer key is needed.
    pub fn insert(
        &mut self,
        slot: SlotId,
        population: &Population,
        agent: AgentIndex,
        proposal: Option<&Proposal>,
        is_plain: bool,
        basis: Basis,
    ) {
        let key = if is_plain { self.write_key_of(slot, population, agent) } else { None };
        let answer = match (key, proposal) {
            (None, _) => Answer::Private,
            (Some(of_key), _) if basis > of_key => Answer::LooksBack,
            (Some(_), None) => Answer::Nothing,
            (Some(_), Some(proposal)) => {
                let place = self.key().place(&proposal.target);
                place.map_or(Answer::Private, |place| Answer::Proposal(proposal.operation, place))
            }
        };
        let header = &mut self.blocks[slot.0 as usize];
        *header = Header::new(Header(*header).length(), answer).0;
    }

    /// Writes the key of an agent; `None` if its decision cannot be shared.
    fn write_key(&mut self, population: &Population, agent: AgentIndex, basis: Basis) -> Option<()> {
        let agent = population.agent(agent);
        let invariance = self.policies[agent.policy().position()]?;
        let application = agent.application();
        let application = if invariance.sees_applications { application } else { self.alike[application.position()] };
        self.keys[self.current].write(population, agent, application, invariance.sees_neighbours, basis)
    }

    /// Converts an answer to a proposal of the agent whose key was written last.
    fn proposal(&self, answer: Answer) -> Option<Proposal> {
        let Answer::Proposal(operation, place) = answer else { return None };
        Some(Proposal { operation, target: self.key().target(place) })
    }

    /// Returns the position of the entry with the current key, or as an error the slot of the index where it belongs.
    fn position(&mut self, hash: u64) -> Result<usize, usize> {
        if self.index.len() <= 2 * self.count {
            self.grow();
        }
        let mask = self.index.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.index[slot];
            if entry == 0 {
                return Err(slot);
            }
            let position = (entry & !UPPER) as usize - 1;
            if entry & UPPER == hash & UPPER && self.key_at(position) == self.key().words() {
                return Ok(position);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn key_at(&self, position: usize) -> &[u64] {
        &self.blocks[position + 1..=position + Header(self.blocks[position]).length()]
    }

    /// Rebuilds the index with room for at least twice the current number of entries.
    fn grow(&mut self) {
        let length = (4 * self.count).next_power_of_two().max(64);
        self.index = vec![0; length];
        let mut position = 0;
        while position < self.blocks.len() {
            let hash = key::hash(self.key_at(position));
            let mut slot = hash as usize & (length - 1);
            while self.index[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.index[slot] = hash & UPPER | (position as u64 + 1);
            position += 1 + self.key_at(position).len();
        }
    }

    /// The entries, for a checkpoint. They are saved so that a resumed run has the same hits and misses as an
    /// uninterrupted one.
    pub fn saved(&self) -> impl Serialize + '_ {
        (self.count, &self.blocks)
    }

    /// Restores the cache from a checkpoint. Returns whether its entries are valid.
    #[must_use]
    pub fn restore(&mut self, saved: SavedDecisionCache) -> bool {
        self.count = saved.count;
        self.blocks = saved.blocks;
        self.index = Vec::new();
        let (mut position, mut count) = (0, 0);
        while let Some(header) = self.blocks.get(position).copied().map(Header) {
            let has_place = match header.answer() {
                Some(Answer::Pending) | None => false,
                Some(Answer::Private | Answer::Nothing | Answer::LooksBack) => true,
                Some(Answer::Proposal(_, place)) => usize::from(place) < key::NODES_MAX,
            };
            if !has_place || header.length() > self.blocks.len() - position - 1 {
                return false;
            }
            position += 1 + header.length();
            count += 1;
        }
        count == self.count && (self.blocks.len() as u64) < !UPPER
    }
}

fn alike(applications: &[Application]) -> Vec<ApplicationIndex> {
    let ids: BTreeSet<&Id> = applications.iter().map(|application| application.id.id()).collect();
    let is_like = |one: &Application, other: &Application| {
        (one.hardware, one.max_rate, one.max_latency) == (other.hardware, other.max_rate, other.max_latency)
    };
    let first = |(position, application): (usize, &Application)| {
        let like = applications.iter().position(|other| is_like(other, application));
        // If an id occurs twice, applications do not share decisions.
        let has_names = ids.len() == applications.len();
        ApplicationIndex::at(like.filter(|_| has_names).unwrap_or(position))
    };
    applications.iter().enumerate().map(first).collect()
}

/// Whether a decision may be shared: it is complete and used only a small part of its budget.
pub(crate) fn is_plain(policy: &Policy, decision: &Decision) -> bool {
    decision.ending == Ending::Complete && decision.inferences <= policy.settings().budget.inferences / BUDGET_PART
}
