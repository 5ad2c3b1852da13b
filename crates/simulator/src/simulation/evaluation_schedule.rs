//! The evaluation schedule: agents that are scheduled one after another for the same time form a batch, with one event.

use mario_domain::Time;
use mario_scenario::{ApplicationIndex, indices};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::Event;
use crate::flow::Pattern;
use crate::population::{AgentIndex, ParkedCounts, Population};
use crate::queue::EventQueue;

indices! {
    /// The index of a batch of agents.
    pub(super) BatchIndex;
}

/// The number of agents that are prefetched together: enough for their cache misses to overlap, and few enough for
/// their data to stay cached until it is used.
pub(super) const PREFETCHED_AGENTS: usize = 32;

/// The agents whose evaluations are scheduled: one batch for each event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct EvaluationSchedule {
    batches: Vec<Batch>,
    free: Vec<BatchIndex>,
    /// For each agent, its slot.
    slots: Vec<Slot>,
    parked: usize,
}

/// Agents that evaluate at the same time, in this order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Batch {
    agents: Vec<AgentIndex>,
    /// A bit for each agent: set while it is neither parked nor known to be removed.
    awake: Vec<u64>,
    /// The number of agents known to be removed.
    gone: usize,
    parked: usize,
    /// How often the batch has been evaluated.
    round: u32,
    /// Aggregated outcomes of parked agents. Indexed by pattern length - 1, then by application × length + `round %
    /// length`. Empty for a length until an agent with such a pattern is parked.
    parked_outcomes: [Vec<ParkedCounts>; Pattern::LENGTH_MAX],
}

/// The position of an agent in the schedule, and its state while parked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Slot {
    batch: BatchIndex,
    position: u32,
    /// The first round of its batch in which it is parked.
    since: u32,
    /// A bit for each snapshot of its recurring pattern: set if the agent's proposal for it is inhibited.
    inhibited: u16,
    /// The recurring pattern of its facts, from the first round for which it is parked; `None` while it is awake.
    pattern: Option<Pattern>,
}

impl Slot {
    /// The slot of an agent that was never scheduled.
    const UNSCHEDULED: Slot = Slot { batch: BatchIndex(0), position: 0, since: 0, inhibited: 0, pattern: None };
}

/// The state of an agent that was unparked.
pub(super) struct Unparked {
    /// The number of rounds for which it was parked.
    pub(super) rounds: u32,
    /// Its recurring pattern, positioned at the next snapshot.
    pub(super) next: Pattern,
}

/// The position of an iteration over a batch.
#[derive(Default)]
pub(super) struct Cursor {
    word: usize,
    /// The bits of the current word that are still to be visited.
    bits: Option<u64>,
}

impl EvaluationSchedule {
    /// The number of batches, used or free.
    pub(super) fn batch_count(&self) -> usize {
        self.batches.len()
    }

    /// Whether a restored schedule is consistent: batches and slots agree, and the tables of parked outcomes are for
    /// `applications` applications.
    pub(super) fn is_consistent(&self, applications: usize) -> bool {
        let is_sound = |batch: &Batch| {
            let count = batch.agents.len();
            let words_are_right = batch.awake.len() == count.div_ceil(64);
            let has_no_more = words_are_right
                && (count.is_multiple_of(64) || batch.awake.last().is_some_and(|last| last >> (count % 64) == 0));
            let awake: u32 = batch.awake.iter().map(|word| word.count_ones()).sum();
            let outcomes_are_right = (1..).zip(&batch.parked_outcomes).all(|(length, parked_outcomes)| {
                parked_outcomes.is_empty() || parked_outcomes.len() == applications * length
            });
            has_no_more && outcomes_are_right && awake as usize + batch.gone + batch.parked == count
        };
        let mut parked = vec![0_usize; self.batches.len()];
        let mut is_in_batch = |agent: usize, slot: &Slot| {
            let Some(pattern) = slot.pattern else { return true };
            let Some(batch) = self.batches.get(slot.batch.position()) else { return false };
            parked[slot.batch.position()] += 1;
            pattern.is_valid()
                && slot.since <= batch.round + 1
                && batch.agents.get(slot.position as usize).is_some_and(|there| there.position() == agent)
        };
        self.batches.iter().all(is_sound)
            && self.slots.iter().enumerate().all(|(agent, slot)| is_in_batch(agent, slot))
            && self.batches.iter().zip(&parked).all(|(batch, parked)| batch.parked == *parked)
            && self.parked == parked.iter().sum::<usize>()
            && self.batches.iter().all(|batch| batch.agents.iter().all(|agent| agent.position() < self.slots.len()))
    }

    /// An empty schedule with capacity for `agents` agents.
    pub(super) fn with_capacity(agents: usize) -> EvaluationSchedule {
        EvaluationSchedule { slots: Vec::with_capacity(agents), ..EvaluationSchedule::default() }
    }

    /// Schedules the evaluation of an agent. If the last event scheduled for this time is known and is an evaluation,
    /// the agent joins its batch.
    pub(super) fn schedule(&mut self, agent: AgentIndex, time: Time, queue: &mut EventQueue<Event>) {
        let index = match queue.last_at(time) {
            Some(Event::Evaluations(last)) => last,
            _ => {
                let index = self.free.pop().unwrap_or_else(|| {
                    self.batches.push(Batch::default());
                    BatchIndex::at(self.batches.len() - 1)
                });
                queue.schedule(time, Event::Evaluations(index));
                index
            }
        };
        self.put(agent, index);
    }

    fn put(&mut self, agent: AgentIndex, index: BatchIndex) {
        let position = self.batches[index.position()].push(agent);
        if self.slots.len() <= agent.position() {
            self.slots.resize(agent.position() + 1, Slot::UNSCHEDULED);
        }
        self.slots[agent.position()] = Slot { batch: index, position, ..Slot::UNSCHEDULED };
    }

    /// Moves the agents of batch `other` to the end of batch `index`, and frees `other`. None of them may be parked.
    pub(super) fn join(&mut self, other: BatchIndex, index: BatchIndex) {
        let agents = std::mem::take(&mut self.batches[other.position()]).agents;
        self.free.push(other);
        for agent in agents {
            self.put(agent, index);
        }
    }

    /// Prefetches the slots of these agents before they are parked or unparked. The return value only keeps the reads
    /// from being optimised away.
    pub(super) fn prefetch(&self, agents: &[AgentIndex]) -> u32 {
        let slots = agents.iter().filter_map(|agent| self.slots.get(agent.position()));
        slots.fold(0, |sum, slot| sum ^ slot.position)
    }

    /// The parked agents of a batch.
    pub(super) fn parked_in(&self, index: BatchIndex) -> Vec<AgentIndex> {
        let batch = &self.batches[index.position()];
        if batch.parked == 0 {
            return Vec::new();
        }
        let is_parked = |agent: &AgentIndex| self.slots[agent.position()].pattern.is_some();
        batch.agents.iter().copied().filter(is_parked).collect()
    }

    /// The parked agents of all batches.
    pub(super) fn parked(&self) -> Vec<AgentIndex> {
        if self.parked == 0 {
            return Vec::new();
        }
        (0..self.batches.len()).map(BatchIndex::at).flat_map(|batch| self.parked_in(batch)).collect()
    }

    /// The number of agents of a batch that are neither parked nor known to be removed.
    pub(super) fn awake_count(&self, index: BatchIndex) -> usize {
        let batch = &self.batches[index.position()];
        batch.agents.len() - batch.gone - batch.parked
    }

    /// The next agents of a batch that exist and are awake, at most [`PREFETCHED_AGENTS`]; empty at the end of the
    /// batch.
    pub(super) fn next(
        &mut self,
        index: BatchIndex,
        cursor: &mut Cursor,
        population: &Population,
    ) -> SmallVec<[AgentIndex; PREFETCHED_AGENTS]> {
        let batch = &mut self.batches[index.position()];
        let mut found = SmallVec::new();
        while let Some(word) = batch.awake.get(cursor.word).copied() {
            let mut bits = cursor.bits.unwrap_or(word);
            while bits != 0 && found.len() < PREFETCHED_AGENTS {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let agent = batch.agents[cursor.word * 64 + bit as usize];
                if population.agent(agent).is_alive() {
                    found.push(agent);
                } else {
                    batch.awake[cursor.word] &= !(1 << bit);
                    batch.gone += 1;
                }
            }
            cursor.bits = Some(bits);
            if found.len() == PREFETCHED_AGENTS {
                break;
            }
            *cursor = Cursor { word: cursor.word + 1, bits: None };
        }
        found
    }

    /// Ends a round of a batch and schedules the next at `time`, or frees the batch if no agent is left. Returns the
    /// number of agents in the round, including parked ones.
    pub(super) fn end_round(&mut self, index: BatchIndex, time: Time, queue: &mut EventQueue<Event>) -> usize {
        let batch = &mut self.batches[index.position()];
        batch.round += 1;
        let count = batch.agents.len() - batch.gone;
        if count == 0 {
            *batch = Batch::default();
            self.free.push(index);
            return 0;
        }
        queue.schedule(time, Event::Evaluations(index));
        if batch.gone > count {
            self.drop_gone(index);
        }
        count
    }

    /// Removes the agents that no longer exist: those that are neither awake nor parked.
    fn drop_gone(&mut self, index: BatchIndex) {
        let batch = &mut self.batches[index.position()];
        let (agents, awake) = (std::mem::take(&mut batch.agents), std::mem::take(&mut batch.awake));
        batch.gone = 0;
        for (position, agent) in agents.into_iter().enumerate() {
            let slot = &mut self.slots[agent.position()];
            let is_awake = awake[position / 64] >> (position % 64) & 1 == 1;
            if is_awake || slot.pattern.is_some() {
                slot.position = batch.push(agent);
                batch.set_awake(slot.position, is_awake);
            }
        }
    }

    /// Writes the outcomes of the parked agents of a batch in this round to `sums`, one for each application. Leaves
    /// `sums` empty if no agent of the batch is parked.
    pub(super) fn parked_outcomes(&self, index: BatchIndex, applications: usize, sums: &mut Vec<ParkedCounts>) {
        let batch = &self.batches[index.position()];
        sums.clear();
        if batch.parked == 0 {
            return;
        }
        sums.resize(applications, ParkedCounts::default());
        for (length, parked_outcomes) in (1..).zip(&batch.parked_outcomes) {
            let now = parked_outcomes.iter().skip((batch.round % length) as usize).step_by(length as usize);
            for (sum, steady_outcome) in sums.iter_mut().zip(now) {
                sum.add(steady_outcome);
            }
        }
    }

    /// Parks an agent from the next round of its batch on. `steady_outcome` returns the outcome for a snapshot of its
    /// pattern. Returns whether the agent was parked: not if an outcome is unknown, or if the batch has fewer agents
    /// than there are applications.
    pub(super) fn park(
        &mut self,
        agent: AgentIndex,
        pattern: Pattern,
        application: ApplicationIndex,
        applications: usize,
        steady_outcome: impl Fn(Option<u8>) -> Option<ParkedCounts>,
    ) -> bool {
        let slot = &mut self.slots[agent.position()];
        let batch = &mut self.batches[slot.batch.position()];
        if batch.agents.len() < applications {
            // Aggregating the outcomes of few agents would cost more than evaluating them one by one.
            return false;
        }
        let parked_outcomes: SmallVec<[ParkedCounts; 1]> = match pattern.snapshots().map(steady_outcome).collect() {
            Some(parked_outcomes) => parked_outcomes,
            None => return false,
        };
        slot.since = batch.round + 1;
        slot.pattern = Some(pattern);
        slot.inhibited = (0..)
            .zip(&parked_outcomes)
            .fold(0, |mask, (number, steady_outcome)| mask | (u16::from(steady_outcome.inhibited > 0) << number));
        let slot = *slot;
        for (number, steady_outcome) in (0..).zip(&parked_outcomes) {
            batch.steady_outcome(slot, number, application, applications).add(steady_outcome);
        }
        batch.set_awake(slot.position, false);
        batch.parked += 1;
        self.parked += 1;
        true
    }

    /// Unparks an agent; returns `None` if it was not parked. `steady_outcome` returns the outcome that was counted for
    /// a snapshot of its pattern, given whether its proposal was inhibited.
    pub(super) fn unpark(
        &mut self,
        agent: AgentIndex,
        application: ApplicationIndex,
        applications: usize,
        steady_outcome: impl Fn(Option<u8>, bool) -> ParkedCounts,
    ) -> Option<Unparked> {
        let slot = self.slots.get_mut(agent.position())?;
        let pattern = slot.pattern?;
        let former = *slot;
        slot.pattern = None;
        let batch = &mut self.batches[slot.batch.position()];
        for (number, snapshot) in (0..).zip(pattern.snapshots()) {
            let steady_outcome = steady_outcome(snapshot, former.inhibited >> number & 1 == 1);
            batch.steady_outcome(former, number, application, applications).remove(&steady_outcome);
        }
        batch.set_awake(former.position, true);
        batch.parked -= 1;
        self.parked -= 1;
        let rounds = batch.round - former.since;
        Some(Unparked { rounds, next: pattern.after(rounds) })
    }
}

impl Batch {
    /// Appends an agent, awake. Returns its position.
    fn push(&mut self, agent: AgentIndex) -> u32 {
        let position = self.agents.len();
        self.agents.push(agent);
        if position.is_multiple_of(64) {
            self.awake.push(0);
        }
        self.set_awake(position as u32, true);
        position as u32
    }

    fn set_awake(&mut self, position: u32, is_awake: bool) {
        let (word, bit) = (&mut self.awake[position as usize / 64], 1 << (position % 64));
        if is_awake {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }

    /// The aggregated outcomes to which an agent parked in `slot` contributes in rounds with snapshot `number` of its
    /// pattern.
    fn steady_outcome(
        &mut self,
        slot: Slot,
        number: u8,
        application: ApplicationIndex,
        applications: usize,
    ) -> &mut ParkedCounts {
        let pattern = slot.pattern.unwrap_or_default();
        let length = usize::from(pattern.length());
        let parked_outcomes = &mut self.parked_outcomes[length - 1];
        if parked_outcomes.is_empty() {
            parked_outcomes.resize(applications * length, ParkedCounts::default());
        }
        let remainder = (slot.since as usize + usize::from(pattern.until(number))) % length;
        &mut parked_outcomes[application.position() * length + remainder]
    }
}
