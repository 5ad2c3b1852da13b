//! What policies said to agents that knew the same up to names.
//!
//! Most of what an agent sees, another saw before it, with other names for the nodes around and for itself. A policy that is
//! blind to names ([`mario_policy::blindness`]) proposes to both the same, up to names. So what an agent knows is written
//! down without names: what is left of the names of nodes is in which order they stand. Who knows what somebody knew before
//! is not asked.
//!
//! Start at [`Decisions::find`]. What it does not find is to be asked, and [`Decisions::learn`] takes down the answer.
//!
//! **Invariant:** whether a policy was asked or its answer found here cannot be told from the proposal.
//! **Invariant:** what is found depends on the agents and their order alone, and not on who asks how many at the same time:
//! a place is taken when somebody is to be asked for it, before the answer is there.

mod key;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use mario_domain::OperationName;
use mario_policy::{Blindness, Decision, Ending, FactsAllowed, Policy, blindness};
use mario_prolog::Engine;
use serde::{Deserialize, Serialize};

use crate::colony::Colony;
use crate::index::AgentIndex;
use crate::wish::Wish;
use key::Key;

/// For each node so many different things are remembered, but at least and at most so many in all; then all are forgotten.
const ENTRIES_PER_NODE: usize = 4;
const ENTRIES: RangeInclusive<usize> = 1 << 10..=1 << 18;

/// A decision that took more than this part of its budget is not shared: with other names, some steps count a little
/// more or less, and another agent might run out of it.
const BUDGET_PART: u64 = 64;

/// What policies said to agents that knew the same up to names.
pub struct Decisions {
    /// For each policy, in which way its decisions can be shared, if they can.
    policies: Vec<Option<Blindness>>,
    limit: usize,
    entries: Vec<Entry>,
    /// What was known at each entry.
    words: Vec<u64>,
    /// The entries by hash, one more than their position each; 0 where there is none. Its length is a power of two.
    index: Vec<u32>,
    key: Key,
}

/// Something that an agent knew.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    hash: u32,
    /// Where its words end; they begin where those of the entry before it end.
    end: u32,
    answer: Answer,
}

/// What a policy said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Answer {
    /// Somebody is being asked.
    Awaited,
    /// Something that is said to one agent alone.
    Private,
    Nothing,
    /// This operation, towards this place.
    Wish(OperationName, u8),
}

/// The place of a decision that is to be told to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entrance(u32);

/// What is known of the decision of an agent.
#[derive(Clone, PartialEq, Debug)]
pub enum Found {
    /// What the agent proposes, which may be nothing.
    Decision(Option<Wish>),
    /// Nothing. Its policy is to be asked, and the answer to be told to [`Decisions::learn`] if there is an entrance.
    Nothing(Option<Entrance>),
    /// Somebody else is being asked for it: look again with [`Decisions::look_again`] when that is answered.
    Awaited(Entrance),
}

/// What [`Decisions::saved`] wrote, read again.
#[derive(Deserialize)]
pub struct SavedDecisions {
    entries: Vec<Entry>,
    words: Vec<u64>,
}

impl Decisions {
    /// Nothing is known yet of the agents of this colony.
    pub fn new(engine: &Engine, colony: &Colony) -> Decisions {
        // Facts about nodes would have to be part of what is compared.
        let has_plain_nodes = !colony.has_node_facts && key::are_plain(colony);
        let shared = |policy: &Policy| {
            let blindness = if has_plain_nodes { blindness(engine, policy).ok() } else { None };
            let may_have_facts = |blind: &Blindness| blind.facts == FactsAllowed::Fixed;
            blindness.filter(|blind| colony.application_facts.is_empty() || may_have_facts(blind))
        };
        Decisions {
            policies: colony.policies.iter().map(shared).collect(),
            limit: (ENTRIES_PER_NODE * colony.managers.len()).clamp(*ENTRIES.start(), *ENTRIES.end()),
            entries: Vec::new(),
            words: Vec::new(),
            index: Vec::new(),
            key: Key::new(),
        }
    }

    /// Makes room, if there is none left. Not while anything is awaited.
    pub fn make_room(&mut self) {
        if self.entries.len() >= self.limit {
            self.entries.clear();
            self.words.clear();
            self.index.fill(0);
        }
    }

    /// What is known of the decision of an agent.
    pub fn find(&mut self, colony: &Colony, agent: AgentIndex) -> Found {
        if self.write_key(colony, agent).is_none() {
            return Found::Nothing(None);
        }
        let hash = self.key.hash();
        match self.position(hash) {
            Ok(position) => match self.entries[position].answer {
                Answer::Awaited => Found::Awaited(Entrance(position as u32)),
                Answer::Private => Found::Nothing(None),
                answer => Found::Decision(self.wish(answer)),
            },
            Err(_) if self.entries.len() >= self.limit => Found::Nothing(None),
            Err(slot) => {
                self.words.extend_from_slice(self.key.words());
                let end = self.words.len() as u32;
                self.entries.push(Entry { hash: (hash >> 32) as u32, end, answer: Answer::Awaited });
                self.index[slot] = self.entries.len() as u32;
                Found::Nothing(Some(Entrance(self.entries.len() as u32 - 1)))
            }
        }
    }

    /// What is known now of a decision that was awaited; `None` when the policy is to be asked after all.
    pub fn look_again(&mut self, colony: &Colony, agent: AgentIndex, entrance: Entrance) -> Option<Option<Wish>> {
        self.write_key(colony, agent)?;
        match self.entries[entrance.0 as usize].answer {
            Answer::Awaited | Answer::Private => None,
            answer => Some(self.wish(answer)),
        }
    }

    /// Takes down what the policy of an agent said.
    pub fn learn(
        &mut self,
        entrance: Entrance,
        colony: &Colony,
        agent: AgentIndex,
        wish: Option<&Wish>,
        is_plain: bool,
    ) {
        let is_said = is_plain && self.write_key(colony, agent).is_some();
        self.entries[entrance.0 as usize].answer = match wish {
            _ if !is_said => Answer::Private,
            None => Answer::Nothing,
            Some(wish) => {
                let place = self.key.place(&wish.target);
                place.map_or(Answer::Private, |place| Answer::Wish(wish.operation, place))
            }
        };
    }

    /// Writes down what an agent knows; `None` when that is not to be compared.
    fn write_key(&mut self, colony: &Colony, agent: AgentIndex) -> Option<()> {
        let agent = colony.agent(agent);
        let blindness = self.policies[agent.policy().position()]?;
        self.key.write(colony, agent, blindness.sees_neighbours)
    }

    /// What an answer means to the agent whose key was written last.
    fn wish(&self, answer: Answer) -> Option<Wish> {
        let Answer::Wish(operation, place) = answer else { return None };
        Some(Wish { operation, target: self.key.target(place) })
    }

    /// Where an entry with the words of the key is; else, where in the index it belongs.
    fn position(&mut self, hash: u64) -> Result<usize, usize> {
        if self.index.len() <= 2 * self.entries.len() {
            self.grow();
        }
        let mask = self.index.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let Some(position) = self.index[slot].checked_sub(1).map(|position| position as usize) else {
                return Err(slot);
            };
            if self.entries[position].hash == (hash >> 32) as u32 && self.words_of(position) == self.key.words() {
                return Ok(position);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn words_of(&self, position: usize) -> &[u64] {
        let start = position.checked_sub(1).map_or(0, |before| self.entries[before].end);
        &self.words[start as usize..self.entries[position].end as usize]
    }

    /// Makes the index anew, with room for twice as many entries and more.
    fn grow(&mut self) {
        let length = (4 * self.entries.len()).next_power_of_two().max(64);
        self.index = vec![0; length];
        for position in 0..self.entries.len() {
            let mut slot = key::hash(self.words_of(position)) as usize & (length - 1);
            while self.index[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.index[slot] = position as u32 + 1;
        }
    }

    /// All that was learnt. How much is asked after a break follows from it.
    pub fn saved(&self) -> impl Serialize + '_ {
        (&self.entries, &self.words)
    }

    /// Knows again what was saved. Whoever calls this has made it for the same colony.
    pub fn restore(&mut self, saved: SavedDecisions) {
        self.entries = saved.entries;
        self.words = saved.words;
        self.index = Vec::new();
    }
}

/// Whether a decision can be told to other agents: it came to its end, and was far from its budget's.
pub(crate) fn is_plain(policy: &Policy, decision: &Decision) -> bool {
    decision.ending == Ending::Complete && decision.inferences <= policy.settings().budget.inferences / BUDGET_PART
}
