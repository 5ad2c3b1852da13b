//! Agents that evaluate at the same time, as one event.

use mario_domain::Time;
use mario_scenario::ApplicationIndex;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::Event;
use crate::flow::Round;
use crate::population::{AgentIndex, ParkedCounts, Population};
use crate::queue::EventQueue;

/// Which list of agents.
pub(super) type BatchIndex = u32;

/// So many agents look together: enough for memory to work on, and few enough to be still at hand when they are needed.
pub(super) const TOGETHER: usize = 32;

/// The agents whose evaluations are scheduled: a list for each event.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct EvaluationSchedule {
    lists: Vec<List>,
    free: Vec<BatchIndex>,
    /// For each agent, where it is.
    places: Vec<Place>,
    parked: usize,
}

/// Agents that evaluate one after another, in this order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct List {
    agents: Vec<AgentIndex>,
    /// A bit for each of them: whether anybody has to look at it.
    awake: Vec<u64>,
    /// How many of them are gone.
    gone: usize,
    parked: usize,
    /// How often they have evaluated.
    round: u32,
    /// What those do who rest, by the length of their round less one; for each length by application, and then by the remainder
    /// of the list's own round.
    parked_outcomes: [Vec<ParkedCounts>; Round::LENGTH_MAX],
}

/// Where an agent is, and how it rests.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Place {
    list: BatchIndex,
    position: u32,
    /// The first round of its list in which nobody looked at it.
    since: u32,
    /// A bit for each sight of its round: whether it is refused then.
    refused: u16,
    /// The round that it sees again and again, with what it would have seen at first; none while it is awake.
    round: Option<Round>,
}

/// An agent that rested.
pub(super) struct Rested {
    /// For how many rounds.
    pub(super) rounds: u32,
    /// Which sight of its own round is next.
    pub(super) next: Round,
}

/// How far a list has been gone through.
#[derive(Default)]
pub(super) struct Cursor {
    word: usize,
    /// What is left of the word.
    bits: Option<u64>,
}

impl EvaluationSchedule {
    /// How many lists there are.
    pub(super) fn list_count(&self) -> usize {
        self.lists.len()
    }

    /// Whether lists and places agree, and those who rest are counted, for this number of applications.
    pub(super) fn holds_together(&self, applications: usize) -> bool {
        let is_sound = |list: &List| {
            let count = list.agents.len();
            let words_are_right = list.awake.len() == count.div_ceil(64);
            let has_no_more = words_are_right
                && (count.is_multiple_of(64) || list.awake.last().is_some_and(|last| last >> (count % 64) == 0));
            let awake: u32 = list.awake.iter().map(|word| word.count_ones()).sum();
            let habits_are_right = (1..).zip(&list.parked_outcomes).all(|(length, parked_outcomes)| {
                parked_outcomes.is_empty() || parked_outcomes.len() == applications * length
            });
            has_no_more && habits_are_right && awake as usize + list.gone + list.parked == count
        };
        let mut parked = vec![0_usize; self.lists.len()];
        let mut is_placed = |agent: usize, place: &Place| {
            let Some(round) = place.round else { return true };
            let Some(list) = self.lists.get(place.list as usize) else { return false };
            parked[place.list as usize] += 1;
            round.can_be()
                && place.since <= list.round + 1
                && list.agents.get(place.position as usize).is_some_and(|there| there.position() == agent)
        };
        self.lists.iter().all(is_sound)
            && self.places.iter().enumerate().all(|(agent, place)| is_placed(agent, place))
            && self.lists.iter().zip(&parked).all(|(list, parked)| list.parked == *parked)
            && self.parked == parked.iter().sum::<usize>()
            && self.lists.iter().all(|list| list.agents.iter().all(|agent| agent.position() < self.places.len()))
    }

    /// Room for so many agents.
    pub(super) fn with_capacity(agents: usize) -> EvaluationSchedule {
        EvaluationSchedule { places: Vec::with_capacity(agents), ..EvaluationSchedule::default() }
    }

    /// Schedules the evaluation of an agent: with those of the last event, if that is for the same time and for agents too.
    pub(super) fn schedule(&mut self, agent: AgentIndex, time: Time, queue: &mut EventQueue<Event>) {
        let index = match queue.last_at(time) {
            Some(Event::Evaluations(last)) => last,
            _ => {
                let index = self.free.pop().unwrap_or_else(|| {
                    self.lists.push(List::default());
                    self.lists.len() as BatchIndex - 1
                });
                queue.schedule(time, Event::Evaluations(index));
                index
            }
        };
        self.put(agent, index);
    }

    fn put(&mut self, agent: AgentIndex, index: BatchIndex) {
        let position = self.lists[index as usize].push(agent);
        if self.places.len() <= agent.position() {
            self.places.resize(agent.position() + 1, Place::default());
        }
        self.places[agent.position()] = Place { list: index, position, ..Place::default() };
    }

    /// Events for agents that follow this one at once become a part of it. Nobody in them may rest.
    pub(super) fn join(&mut self, other: BatchIndex, index: BatchIndex) {
        let agents = std::mem::take(&mut self.lists[other as usize]).agents;
        self.free.push(other);
        for agent in agents {
            self.put(agent, index);
        }
    }

    /// Reads a little of what waking these agents needs.
    pub(super) fn prefetch(&self, agents: &[AgentIndex]) -> u32 {
        let places = agents.iter().filter_map(|agent| self.places.get(agent.position()));
        places.fold(0, |sum, place| sum ^ place.position)
    }

    /// Whoever rests in a list.
    pub(super) fn parked_in(&self, index: BatchIndex) -> Vec<AgentIndex> {
        let list = &self.lists[index as usize];
        if list.parked == 0 {
            return Vec::new();
        }
        let rests = |agent: &AgentIndex| self.places[agent.position()].round.is_some();
        list.agents.iter().copied().filter(rests).collect()
    }

    /// Whoever rests, anywhere.
    pub(super) fn parked(&self) -> Vec<AgentIndex> {
        if self.parked == 0 {
            return Vec::new();
        }
        (0..self.lists.len() as BatchIndex).flat_map(|list| self.parked_in(list)).collect()
    }

    /// How many of a list have to be looked at.
    pub(super) fn awake_count(&self, index: BatchIndex) -> usize {
        let list = &self.lists[index as usize];
        list.agents.len() - list.gone - list.parked
    }

    /// The next agents of a list that are there and awake; none at its end.
    pub(super) fn next(
        &mut self,
        index: BatchIndex,
        cursor: &mut Cursor,
        population: &Population,
    ) -> SmallVec<[AgentIndex; TOGETHER]> {
        let list = &mut self.lists[index as usize];
        let mut found = SmallVec::new();
        while let Some(word) = list.awake.get(cursor.word).copied() {
            let mut bits = cursor.bits.unwrap_or(word);
            while bits != 0 && found.len() < TOGETHER {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let agent = list.agents[cursor.word * 64 + bit as usize];
                if population.agent(agent).is_alive() {
                    found.push(agent);
                } else {
                    list.awake[cursor.word] &= !(1 << bit);
                    list.gone += 1;
                }
            }
            cursor.bits = Some(bits);
            if found.len() == TOGETHER {
                break;
            }
            *cursor = Cursor { word: cursor.word + 1, bits: None };
        }
        found
    }

    /// Ends a round of a list, which is due again at a time, if anybody is left. Gives how many evaluated.
    pub(super) fn end_round(&mut self, index: BatchIndex, time: Time, queue: &mut EventQueue<Event>) -> usize {
        let list = &mut self.lists[index as usize];
        list.round += 1;
        let count = list.agents.len() - list.gone;
        if count == 0 {
            *list = List::default();
            self.free.push(index);
            return 0;
        }
        queue.schedule(time, Event::Evaluations(index));
        if list.gone > count {
            self.drop_gone(index);
        }
        count
    }

    /// Drops those who are gone: whoever is neither awake nor rests.
    fn drop_gone(&mut self, index: BatchIndex) {
        let list = &mut self.lists[index as usize];
        let (agents, awake) = (std::mem::take(&mut list.agents), std::mem::take(&mut list.awake));
        list.gone = 0;
        for (position, agent) in agents.into_iter().enumerate() {
            let place = &mut self.places[agent.position()];
            let is_awake = awake[position / 64] >> (position % 64) & 1 == 1;
            if is_awake || place.round.is_some() {
                place.position = list.push(agent);
                list.set_awake(place.position, is_awake);
            }
        }
    }

    /// What those of a list do in this round who rest, for each application; nothing when nobody rests.
    pub(super) fn parked_outcomes(&self, index: BatchIndex, applications: usize, sums: &mut Vec<ParkedCounts>) {
        let list = &self.lists[index as usize];
        sums.clear();
        if list.parked == 0 {
            return;
        }
        sums.resize(applications, ParkedCounts::default());
        for (length, parked_outcomes) in (1..).zip(&list.parked_outcomes) {
            let now = parked_outcomes.iter().skip((list.round % length) as usize).step_by(length as usize);
            for (sum, steady_outcome) in sums.iter_mut().zip(now) {
                sum.add(steady_outcome);
            }
        }
    }

    /// An agent rests from the next round of its list on. `steady_outcome` tells what it does when it sees which sight of its own round;
    /// gives whether it is known for all of them.
    pub(super) fn rest(
        &mut self,
        agent: AgentIndex,
        (application, applications): (ApplicationIndex, usize),
        round: Round,
        steady_outcome: impl Fn(Option<u8>) -> Option<ParkedCounts>,
    ) -> bool {
        let place = &mut self.places[agent.position()];
        let list = &mut self.lists[place.list as usize];
        if list.agents.len() < applications {
            // To count those who rest would cost more than a look at all of them.
            return false;
        }
        let parked_outcomes: SmallVec<[ParkedCounts; 1]> = match round.sights().map(steady_outcome).collect() {
            Some(parked_outcomes) => parked_outcomes,
            None => return false,
        };
        place.since = list.round + 1;
        place.round = Some(round);
        place.refused = (0..)
            .zip(&parked_outcomes)
            .fold(0, |mask, (number, steady_outcome)| mask | (u16::from(steady_outcome.inhibited > 0) << number));
        let place = *place;
        for (number, steady_outcome) in (0..).zip(&parked_outcomes) {
            list.steady_outcome(place, number, application, applications).add(steady_outcome);
        }
        list.set_awake(place.position, false);
        list.parked += 1;
        self.parked += 1;
        true
    }

    /// An agent rests no longer; `None` if it did not. `steady_outcome` tells what it did when it saw which sight of its own round.
    pub(super) fn wake(
        &mut self,
        agent: AgentIndex,
        (application, applications): (ApplicationIndex, usize),
        steady_outcome: impl Fn(Option<u8>, bool) -> ParkedCounts,
    ) -> Option<Rested> {
        let place = self.places.get_mut(agent.position())?;
        let round = place.round?;
        let rested = *place;
        place.round = None;
        let list = &mut self.lists[place.list as usize];
        for (number, sight) in (0..).zip(round.sights()) {
            let steady_outcome = steady_outcome(sight, rested.refused >> number & 1 == 1);
            list.steady_outcome(rested, number, application, applications).remove(&steady_outcome);
        }
        list.set_awake(rested.position, true);
        list.parked -= 1;
        self.parked -= 1;
        let rounds = list.round - rested.since;
        Some(Rested { rounds, next: round.after(rounds) })
    }
}

impl List {
    /// Puts an agent at the end, awake. Gives its position.
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

    /// What those do who rest like an agent that rests at a place, in the rounds in which it sees a sight of its own round.
    fn steady_outcome(
        &mut self,
        place: Place,
        number: u8,
        application: ApplicationIndex,
        applications: usize,
    ) -> &mut ParkedCounts {
        let round = place.round.unwrap_or_default();
        let length = usize::from(round.length());
        let parked_outcomes = &mut self.parked_outcomes[length - 1];
        if parked_outcomes.is_empty() {
            parked_outcomes.resize(applications * length, ParkedCounts::default());
        }
        let remainder = (place.since as usize + usize::from(round.until(number))) % length;
        &mut parked_outcomes[application.position() * length + remainder]
    }
}
