//! What reaches one instance, as rates.
//!
//! Most of it is *steady*: users who have been routed here for longer than an evaluation period send the same number in each.
//! For whoever came or went lately, that is corrected ([`Changes`]). Users who share several equally near instances are counted
//! request by request, as they take turns ([`Share`]).

use std::hint::black_box;

use mario_colony::{AgentIndex, Neighbour, RequestFact};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::change::Changes;
use super::schedule::Schedule;
use super::turns::{Cycle, TurnsIndex, TurnsTable, greatest_common_divisor};

/// What is left of sums of fractions is nothing.
const NOTHING: f64 = 1e-9;

/// So many turns are glanced at before they are counted, so that they are fetched from memory all at once.
const MANY_SHARES: usize = 4;

/// The way that requests come: the last hop and the latency of the path.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) neighbour: Neighbour,
    pub(super) latency: f64,
}

/// What reaches one instance.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Inflow {
    steady: SmallVec<[RequestFact; 1]>,
    shares: SmallVec<[Share; 1]>,
    changes: Changes,
}

/// What reaches all instances.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Inflows {
    of_agent: Vec<Inflow>,
    /// Apart from the rest: that is all there is to look at for nearly all agents.
    course: Vec<Course>,
    /// Agents that rested, and see something else from now on.
    woken: Vec<AgentIndex>,
}

impl Inflows {
    /// Room for so many instances.
    pub(super) fn with_capacity(instances: usize) -> Inflows {
        let (of_agent, course) = (Vec::with_capacity(instances), Vec::with_capacity(instances));
        Inflows { of_agent, course, ..Inflows::default() }
    }

    /// A new instance.
    pub(super) fn add(&mut self) {
        self.of_agent.push(Inflow::default());
        self.course.push(Course::Open);
    }

    /// What reaches an instance, to be changed.
    pub(super) fn change(&mut self, agent: AgentIndex) -> &mut Inflow {
        if std::mem::replace(&mut self.course[agent.position()], Course::Open) == Course::Resting {
            self.woken.push(agent);
        }
        &mut self.of_agent[agent.position()]
    }

    /// What an agent sees from now on again and again, as it did for a while, until something happens; `None` when it is not so.
    pub(super) fn round(&self, agent: AgentIndex) -> Option<Round> {
        match self.course[agent.position()] {
            Course::Steady => Some(Round::default()),
            Course::Recurring(round) => Some(round),
            Course::Open | Course::Cycling | Course::Counted(_) | Course::Resting => None,
        }
    }

    /// An agent is not told what it sees until it sees something else, or wakes.
    pub(super) fn rest(&mut self, agent: AgentIndex) {
        self.course[agent.position()] = Course::Resting;
    }

    /// An agent is told what it sees, which goes on with this round unless it is something else.
    pub(super) fn wake(&mut self, agent: AgentIndex, round: Round) {
        let course = &mut self.course[agent.position()];
        if *course == Course::Resting {
            *course = if round.length == 1 { Course::Steady } else { Course::Recurring(round) };
        }
    }

    /// The agents that rested, and see something else from now on.
    pub(super) fn take_woken(&mut self, woken: &mut Vec<AgentIndex>) {
        woken.append(&mut self.woken);
    }

    /// Reads a little of what a change of what reaches an instance needs.
    pub(super) fn glance_at(&self, agent: AgentIndex) -> usize {
        self.of_agent[agent.position()].changes.len()
    }

    /// Reads a little of what will be looked at for these agents.
    ///
    /// A look goes from the agent to what reaches it, and from there to changes and turns. Here each part of the way is gone for all
    /// of them before the next, so that memory has as many things to fetch at a time as it can.
    pub(super) fn glance(&self, agents: &[AgentIndex], table: &TurnsTable) -> u32 {
        let is_counted = |agent: &&AgentIndex| {
            matches!(self.course[agent.position()], Course::Open | Course::Cycling | Course::Counted(_))
        };
        let counted: SmallVec<[&Inflow; 32]> =
            agents.iter().filter(is_counted).map(|agent| &self.of_agent[agent.position()]).collect();
        let near = counted.iter().map(|inflow| inflow.changes.len() as u32 ^ inflow.shares.len() as u32);
        let mut sum = near.fold(0, u32::wrapping_add);
        for inflow in &counted {
            sum ^= inflow.changes.glance();
            sum ^= inflow.shares.first().map_or(0, |share| u32::from(table.get(share.turns).are_over(0.0)));
        }
        sum
    }

    /// Whether an agent will see something else than what it saw last.
    pub(super) fn is_moving(&self, agent: AgentIndex) -> bool {
        self.course[agent.position()] != Course::Steady
    }

    /// What reached an instance in the period before `now`.
    pub(super) fn facts(
        &mut self,
        agent: AgentIndex,
        [window, now]: [f64; 2],
        table: &mut TurnsTable,
        facts: &mut Vec<RequestFact>,
    ) -> Seen {
        let course = &mut self.course[agent.position()];
        match *course {
            Course::Steady | Course::Resting => return Seen::AsBefore,
            Course::Recurring(round) => {
                *course = Course::Recurring(round.next());
                return Seen::Again(round.number);
            }
            Course::Open | Course::Counted(_) | Course::Cycling => {}
        }
        facts.clear();
        let inflow = &mut self.of_agent[agent.position()];
        match *course {
            Course::Counted(round) => {
                inflow.cycle(facts);
                *course = match round.next() {
                    Round { length: 1, .. } => Course::Steady,
                    next @ Round { number: 0, .. } => Course::Recurring(next),
                    next => Course::Counted(next),
                };
                Seen::First(round.number)
            }
            Course::Cycling => {
                inflow.cycle(facts);
                Seen::New
            }
            _ => {
                *course = inflow.facts([window, now], table, facts);
                Seen::New
            }
        }
    }
}

/// What an agent sees, in short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// What it saw last.
    AsBefore,
    /// The facts with this number of a round that has begun and will go on, until something else is seen.
    First(u8),
    /// What had this number in the round before.
    Again(u8),
    /// Something else.
    New,
}

/// Turns of the users of a cell, of which some come here.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Share {
    pub(super) way: Way,
    pub(super) turns: TurnsIndex,
    /// Which of the instances this is.
    pub(super) place: u32,
    /// The period that is looked at next, once it is like all that follow.
    pub(super) cycle: Option<Cycle>,
}

/// How the facts of an agent go on from period to period, until something happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Course {
    /// They are to be counted.
    Open,
    /// By turns alone, all of which have a cycle, but not the same one for a long time.
    Cycling,
    /// By turns alone, in a round that has not come to its end yet.
    Counted(Round),
    /// By turns alone, as in the round before.
    Recurring(Round),
    /// As they are.
    Steady,
    /// In a round that somebody else keeps.
    Resting,
}

/// Periods that come again and again, and which of them is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Round {
    number: u8,
    length: u8,
}

/// The same in every period.
impl Default for Round {
    fn default() -> Round {
        Round { number: 0, length: 1 }
    }
}

impl Round {
    /// The longest that is remembered.
    pub(crate) const LENGTH_MAX: usize = 12;

    /// A round in which all cycles come to their beginning again.
    fn of<'a>(cycles: impl Iterator<Item = &'a Cycle>) -> Option<Round> {
        let mut length = 1;
        for cycle in cycles {
            length = least_common_multiple(length, cycle.length());
            if length as usize > Round::LENGTH_MAX {
                return None;
            }
        }
        Some(Round { number: 0, length: length as u8 })
    }

    fn next(self) -> Round {
        Round { number: if self.number + 1 == self.length { 0 } else { self.number + 1 }, ..self }
    }

    pub(crate) fn length(self) -> u8 {
        self.length
    }

    /// Its periods by their numbers. If it is always the same, there is no number.
    pub(crate) fn sights(self) -> impl Iterator<Item = Option<u8>> {
        (0..self.length).map(move |number| (self.length > 1).then_some(number))
    }

    /// How many periods there are before the one with this number.
    pub(crate) fn until(self, number: u8) -> u8 {
        (number + self.length - self.number) % self.length
    }

    /// The round after so many periods.
    pub(crate) fn after(self, periods: u32) -> Round {
        let number = (u32::from(self.number) + periods % u32::from(self.length)) % u32::from(self.length);
        Round { number: number as u8, ..self }
    }

    /// The number of the period before, unless it is always the same.
    pub(crate) fn last(self) -> Option<u8> {
        (self.length > 1).then(|| self.after(u32::from(self.length) - 1).number)
    }
}

fn least_common_multiple(one: u32, other: u32) -> u32 {
    one / greatest_common_divisor(one, other) * other
}

impl Inflow {
    /// The requests of so many users with one schedule come here from `now` on.
    pub(super) fn join(&mut self, users: u32, way: Way, schedule: Schedule, [window, now]: [f64; 2]) {
        let rate = f64::from(users) * schedule.steady(window).unwrap_or(0.0);
        match self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            Some(fact) => fact.rate += rate,
            None => self.steady.push(RequestFact { neighbour: way.neighbour, rate, latency: way.latency }),
        }
        self.changes.add(-(users as i32), way, schedule, now);
    }

    /// The requests of so many users with one schedule no longer come here.
    pub(super) fn leave(&mut self, users: u32, way: Way, schedule: Schedule, [window, now]: [f64; 2]) {
        let rate = f64::from(users) * schedule.steady(window).unwrap_or(0.0);
        if let Some(fact) = self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            fact.rate -= rate;
        }
        self.steady.retain(|fact| fact.rate > NOTHING);
        self.changes.add(users as i32, way, schedule, now);
    }

    /// Users begin to take turns of which some come here.
    pub(super) fn take_turns(&mut self, share: Share) {
        self.shares.push(share);
    }

    /// Nothing of what came before counts any more, or comes.
    pub(super) fn clear(&mut self, table: &mut TurnsTable) {
        for share in &self.shares {
            table.release(share.turns);
        }
        *self = Inflow::default();
    }

    /// What reached the instance in the next period, when it goes on by turns alone.
    fn cycle(&mut self, facts: &mut Vec<RequestFact>) {
        facts.extend_from_slice(&self.steady);
        for share in &mut self.shares {
            let count = share.cycle.as_mut().map_or(0.0, |cycle| cycle.take(share.place));
            add(facts, share.way, count);
        }
        facts.retain(|fact| fact.rate > NOTHING);
    }

    /// What reached the instance in the period before `now`. Gives how that goes on.
    fn facts(&mut self, [window, now]: [f64; 2], table: &mut TurnsTable, facts: &mut Vec<RequestFact>) -> Course {
        facts.extend_from_slice(&self.steady);
        self.changes.correct([window, now], facts);
        if self.shares.len() >= MANY_SHARES {
            let over = self.shares.iter().filter(|share| table.get(share.turns).are_over(now));
            black_box(over.count());
        }
        let (mut is_steady, mut has_cycles) = (true, true);
        self.shares.retain_mut(|share| {
            let (begins, ends) = (now - window - share.way.latency, now - share.way.latency);
            let turns = table.get(share.turns);
            if turns.are_over(begins) {
                table.release(share.turns);
                return false;
            }
            is_steady &= turns.are_regular(begins);
            add(facts, share.way, turns.count_in(share.place, window, [begins, ends]));
            share.cycle = turns.cycle(window, begins + window);
            has_cycles &= share.cycle.is_some();
            true
        });
        facts.retain(|fact| fact.rate > NOTHING);
        if !self.changes.is_empty() {
            return Course::Open;
        }
        if is_steady {
            return Course::Steady;
        }
        if !has_cycles {
            return Course::Open;
        }
        let cycles = self.shares.iter().filter_map(|share| share.cycle.as_ref());
        Round::of(cycles).map_or(Course::Cycling, Course::Counted)
    }
}

fn is_on(fact: &RequestFact, way: Way) -> bool {
    fact.neighbour == way.neighbour && fact.latency.to_bits() == way.latency.to_bits()
}

/// So many more requests come by a way.
pub(super) fn add(facts: &mut Vec<RequestFact>, way: Way, rate: f64) {
    match facts.iter_mut().find(|fact| is_on(fact, way)) {
        Some(fact) => fact.rate += rate,
        None => facts.push(RequestFact { neighbour: way.neighbour, rate, latency: way.latency }),
    }
}

#[cfg(test)]
impl Inflow {
    /// What is seen of users who do not take turns.
    pub(super) fn seen(&mut self, window_and_now: [f64; 2]) -> Vec<RequestFact> {
        let mut facts = Vec::new();
        self.facts(window_and_now, &mut TurnsTable::default(), &mut facts);
        facts
    }
}
