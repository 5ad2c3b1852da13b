//! What policies said to agents that knew the same up to names.
//!
//! Most of what an agent sees, another saw before it, with other names for the nodes around and for itself. A policy that is
//! blind to names ([`mario_policy::blindness`]) proposes to both the same, up to names. So what an agent knows is written
//! down without names: what is left of the names of nodes is in which order they stand. Who knows what somebody knew before
//! is not asked.
//!
//! Start at [`DecisionCache::find`]. What it does not find is to be asked, and [`DecisionCache::learn`] takes down the answer.
//!
//! **Invariant:** whether a policy was asked or its answer found here cannot be told from the proposal.
//! **Invariant:** what is found depends on the agents and their order alone, and not on who asks how many at the same time:
//! a place is taken when somebody is to be asked for it, before the answer is there.

mod key;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use mario_domain::{AgentOperation, Application, Id};
use mario_policy::{Blindness, Decision, Ending, FactsAllowed, Policy, blindness};
use mario_prolog::Engine;
use mario_scenario::ApplicationIndex;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use key::Key;

use crate::population::index::AgentIndex;
use crate::population::proposal::Proposal;
use crate::population::state::Population;

/// For each node so many different things are remembered, but at least and at most so many in all; then all are forgotten.
const ENTRIES_PER_NODE: usize = 4;
const ENTRIES: RangeInclusive<usize> = 1 << 10..=1 << 19;

/// The half of a hash that the index keeps.
const UPPER: u64 = !0 << 32;

/// A decision that took more than this part of its budget is not shared: with other names, some steps count a little
/// more or less, and another agent might run out of it.
const BUDGET_PART: u64 = 64;

/// What policies said to agents that knew the same up to names.
pub struct DecisionCache {
    /// For each policy, in which way its decisions can be shared, if they can.
    policies: Vec<Option<Blindness>>,
    /// For each application, the first that needs, handles and tolerates as much.
    alike: Vec<ApplicationIndex>,
    limit: usize,
    /// How many things are remembered.
    count: usize,
    /// Each thing that some agent knew: a word that tells its length and the answer, and the words of its key. One after
    /// another, so that what is looked up lies together.
    blocks: Vec<u64>,
    /// Where blocks are, by the hash of their keys: upper half of the hash, and one more than the position in `blocks`; 0
    /// where there is none. Its length is a power of two.
    index: Vec<u64>,
    /// What agents know: of whoever is asked by itself, and of those who were prefetched for.
    keys: Vec<Key>,
    /// Which of the keys was written or taken last.
    current: usize,
    prefetched: Prefetched,
}

/// Agents whose decisions are looked for next.
#[derive(Default)]
struct Prefetched {
    /// With the hash of what they know, if that is to be compared.
    slots: Vec<(AgentIndex, Option<u64>)>,
    length: usize,
    taken: usize,
}

/// What a policy said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// Somebody is being asked.
    Awaited,
    /// Something that is said to one agent alone.
    Private,
    Nothing,
    /// This operation, towards this place.
    Proposal(AgentOperation, u8),
}

/// The first word of a block.
#[derive(Clone, Copy)]
struct Header(u64);

impl Header {
    fn new(length: usize, answer: Answer) -> Header {
        let (tag, place) = match answer {
            Answer::Awaited => (0, 0),
            Answer::Private => (1, 0),
            Answer::Nothing => (2, 0),
            Answer::Proposal(AgentOperation::Undeploy, place) => (3, place),
            Answer::Proposal(AgentOperation::Migrate, place) => (4, place),
            Answer::Proposal(AgentOperation::Replicate, place) => (5, place),
        };
        Header((length as u64) << 16 | u64::from(place) << 8 | tag)
    }

    /// How many words the key has.
    fn length(self) -> usize {
        (self.0 >> 16) as usize
    }

    fn answer(self) -> Answer {
        let place = (self.0 >> 8) as u8;
        match self.0 as u8 {
            0 => Answer::Awaited,
            1 => Answer::Private,
            2 => Answer::Nothing,
            3 => Answer::Proposal(AgentOperation::Undeploy, place),
            4 => Answer::Proposal(AgentOperation::Migrate, place),
            _ => Answer::Proposal(AgentOperation::Replicate, place),
        }
    }
}

/// The place of a decision that is to be told to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotId(u32);

/// What is known of the decision of an agent.
#[derive(Clone, PartialEq, Debug)]
pub enum Lookup {
    /// What the agent proposes, which may be nothing.
    Hit(Option<Proposal>),
    /// Its policy is to be asked, and the answer to be given to [`DecisionCache::insert`] if there is a slot.
    Miss(Option<SlotId>),
    /// Another agent's policy is being asked for it: look with [`DecisionCache::lookup_pending`] when that is answered.
    Pending(SlotId),
}

/// What [`DecisionCache::saved`] wrote, read again.
#[derive(Deserialize)]
pub struct SavedDecisionCache {
    count: usize,
    blocks: Vec<u64>,
}

impl DecisionCache {
    /// Nothing is known yet of the agents of this population.
    pub fn new(engine: &Engine, population: &Population) -> DecisionCache {
        // Facts about nodes would have to be part of what is compared.
        let has_plain_nodes = !population.has_node_facts && key::are_plain(population);
        let shared = |policy: &Policy| {
            let blindness = if has_plain_nodes { blindness(engine, policy).ok() } else { None };
            let may_have_facts = |blind: &Blindness| blind.facts == FactsAllowed::Fixed;
            blindness.filter(|blind| population.application_facts.is_empty() || may_have_facts(blind))
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

    /// Makes room, if there is none left. Not while anything is awaited.
    pub fn make_room(&mut self) {
        if self.count >= self.limit {
            self.count = 0;
            self.blocks.clear();
            self.index.fill(0);
        }
    }

    /// Writes down what these agents know: their decisions are looked for next, in this order. What is known of them is
    /// fetched from memory side by side.
    pub fn prefetch(&mut self, population: &Population, agents: &[AgentIndex]) {
        (self.prefetched.length, self.prefetched.taken) = (agents.len(), 0);
        self.prefetched.slots.resize_with(agents.len().max(self.prefetched.slots.len()), || (AgentIndex(0), None));
        self.keys.resize_with(self.prefetched.slots.len() + 1, Key::new);
        for (position, agent) in agents.iter().enumerate() {
            self.current = position + 1;
            let hash = self.write_key(population, *agent).map(|()| self.key().hash());
            self.prefetched.slots[position] = (*agent, hash);
        }
        let mask = self.index.len().wrapping_sub(1);
        let hashes = self.prefetched.slots[..agents.len()].iter().filter_map(|(_, hash)| *hash);
        let entries = hashes.filter_map(|hash| self.index.get(hash as usize & mask));
        let entries: SmallVec<[u64; 32]> = entries.copied().collect();
        let blocks = entries.iter().filter_map(|entry| self.blocks.get((entry & !UPPER) as usize));
        std::hint::black_box(blocks.fold(0, |sum, block| sum ^ block));
    }

    /// The hash of what an agent knows, which is written down; `None` when that is not to be compared.
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
        self.write_key(population, agent).map(|()| self.key().hash())
    }

    fn key(&self) -> &Key {
        &self.keys[self.current]
    }

    /// What is known of the decision of an agent.
    pub fn lookup(&mut self, population: &Population, agent: AgentIndex) -> Lookup {
        let Some(hash) = self.hash(population, agent) else { return Lookup::Miss(None) };
        match self.position(hash) {
            Ok(position) => match Header(self.blocks[position]).answer() {
                Answer::Awaited => Lookup::Pending(SlotId(position as u32)),
                Answer::Private => Lookup::Miss(None),
                answer => Lookup::Hit(self.proposal(answer)),
            },
            Err(_) if self.count >= self.limit => Lookup::Miss(None),
            Err(slot) => {
                let position = self.blocks.len();
                self.blocks.push(Header::new(self.keys[self.current].words().len(), Answer::Awaited).0);
                self.blocks.extend_from_slice(self.keys[self.current].words());
                self.index[slot] = hash & UPPER | (position as u64 + 1);
                self.count += 1;
                Lookup::Miss(Some(SlotId(position as u32)))
            }
        }
    }

    /// What is known now of a decision that was awaited; `None` when the policy is to be asked after all.
    pub fn lookup_pending(
        &mut self,
        population: &Population,
        agent: AgentIndex,
        slot: SlotId,
    ) -> Option<Option<Proposal>> {
        self.current = 0;
        self.write_key(population, agent)?;
        match Header(self.blocks[slot.0 as usize]).answer() {
            Answer::Awaited | Answer::Private => None,
            answer => Some(self.proposal(answer)),
        }
    }

    /// Takes down what the policy of an agent said.
    pub fn insert(
        &mut self,
        slot: SlotId,
        population: &Population,
        agent: AgentIndex,
        proposal: Option<&Proposal>,
        is_plain: bool,
    ) {
        self.current = 0;
        let is_said = is_plain && self.write_key(population, agent).is_some();
        let answer = match proposal {
            _ if !is_said => Answer::Private,
            None => Answer::Nothing,
            Some(proposal) => {
                let place = self.key().place(&proposal.target);
                place.map_or(Answer::Private, |place| Answer::Proposal(proposal.operation, place))
            }
        };
        let header = &mut self.blocks[slot.0 as usize];
        *header = Header::new(Header(*header).length(), answer).0;
    }

    /// Writes down what an agent knows; `None` when that is not to be compared.
    fn write_key(&mut self, population: &Population, agent: AgentIndex) -> Option<()> {
        let agent = population.agent(agent);
        let blindness = self.policies[agent.policy().position()]?;
        let application = agent.application();
        let application = if blindness.sees_applications { application } else { self.alike[application.position()] };
        self.keys[self.current].write(population, agent, application, blindness.sees_neighbours)
    }

    /// What an answer means to the agent whose key was written last.
    fn proposal(&self, answer: Answer) -> Option<Proposal> {
        let Answer::Proposal(operation, place) = answer else { return None };
        Some(Proposal { operation, target: self.key().target(place) })
    }

    /// Where the block with the words of the key is; else, where in the index it belongs.
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

    /// Makes the index anew, with room for twice as many blocks and more.
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

    /// All that was learnt. How much is asked after a break follows from it.
    pub fn saved(&self) -> impl Serialize + '_ {
        (self.count, &self.blocks)
    }

    /// Restores what was saved; `self` must be made for the same population. Returns whether the blocks are whole.
    #[must_use]
    pub fn restore(&mut self, saved: SavedDecisionCache) -> bool {
        self.count = saved.count;
        self.blocks = saved.blocks;
        self.index = Vec::new();
        let (mut position, mut count) = (0, 0);
        while let Some(header) = self.blocks.get(position).copied().map(Header) {
            let has_place = match header.answer() {
                Answer::Awaited => false,
                Answer::Private | Answer::Nothing => true,
                Answer::Proposal(_, place) => usize::from(place) < key::NODES_MAX,
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
        // An application that is described twice is like no other.
        let has_names = ids.len() == applications.len();
        ApplicationIndex::at(like.filter(|_| has_names).unwrap_or(position))
    };
    applications.iter().enumerate().map(first).collect()
}

/// Whether a decision can be told to other agents: it came to its end, and was far from its budget's.
pub(crate) fn is_plain(policy: &Policy, decision: &Decision) -> bool {
    decision.ending == Ending::Complete && decision.inferences <= policy.settings().budget.inferences / BUDGET_PART
}
