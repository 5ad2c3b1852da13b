//! What reaches one instance, as rates.
//!
//! Most of it is *steady*: users who have been routed here for longer than an evaluation period send the same number in each.
//! For whoever came or went lately, that is corrected ([`Changes`]). Users who share several equally near instances are counted
//! request by request, as they take turns ([`Share`]).

use std::hint::black_box;

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::change::Changes;
use super::schedule::Schedule;
use super::turns::{Cycle, TurnsIndex, TurnsTable, greatest_common_divisor};
use super::window::Window;
use crate::population::{AgentIndex, Neighbour, RequestFact};

/// What is left of sums of fractions is nothing.
const NOTHING: f64 = 1e-9;

/// So many turns are glanced at before they are counted, so that they are fetched from memory all at once.
const MANY_SHARES: usize = 4;

/// Cells change their turns one after another, so an equal share is among the last, if there is one.
const LAST: usize = 8;

/// The way that requests come: the last hop and the latency of the path.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) neighbour: Neighbour,
    pub(super) latency: Duration,
}

/// What reaches one instance. All of it, for most instances most of the time, is in one line of a cache.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct Inflow {
    course: Course,
    steady: SmallVec<[RequestFact; 1]>,
    passing: Option<Box<Passing>>,
}

const _: () = assert!(size_of::<Inflow>() == 64, "one line");

/// What does not reach an instance in the same way in every period.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Passing {
    changes: Changes,
    shares: SmallVec<[Share; 1]>,
}

/// What reaches all instances.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Inflows {
    of_agent: Vec<Inflow>,
    /// Parked agents for which what they see has changed.
    to_unpark: Vec<AgentIndex>,
}

impl Inflows {
    /// Room for so many instances.
    pub(super) fn with_capacity(instances: usize) -> Inflows {
        Inflows { of_agent: Vec::with_capacity(instances), to_unpark: Vec::new() }
    }

    /// Whether a restored inflow is valid for this number of instances and these turns.
    pub(super) fn hold_together(&self, instances: usize, table: &TurnsTable) -> bool {
        let is_sound = |inflow: &Inflow| {
            let is_round = match inflow.course {
                Course::Counted(round) | Course::Recurring(round) => round.can_be(),
                Course::Open | Course::Cycling | Course::Steady | Course::Parked => true,
            };
            let shares = inflow.passing.iter().flat_map(|passing| &passing.shares);
            let cycles_if_it_must = matches!(inflow.course, Course::Open | Course::Steady | Course::Parked)
                || shares.clone().all(|share| share.cycle.is_some());
            let has_turns = |share: &Share| {
                table.get(share.turns).has_place(share.place) && share.cycle.is_none_or(|cycle| cycle.can_be())
            };
            is_round && cycles_if_it_must && shares.clone().all(has_turns)
        };
        self.of_agent.len() == instances && self.of_agent.iter().all(is_sound)
    }

    /// A new instance.
    pub(super) fn add(&mut self) {
        self.of_agent.push(Inflow::default());
    }

    /// What reaches an instance, to be changed.
    pub(super) fn change(&mut self, agent: AgentIndex) -> &mut Inflow {
        let inflow = &mut self.of_agent[agent.position()];
        if std::mem::replace(&mut inflow.course, Course::Open) == Course::Parked {
            self.to_unpark.push(agent);
        }
        inflow
    }

    /// What an agent sees from now on again and again, as it did for a while, until something happens; `None` when it is not so.
    pub(super) fn round(&self, agent: AgentIndex) -> Option<Round> {
        match self.of_agent[agent.position()].course {
            Course::Steady => Some(Round::default()),
            Course::Recurring(round) => Some(round),
            Course::Open | Course::Cycling | Course::Counted(_) | Course::Parked => None,
        }
    }

    /// Parks an agent: it is not told what it sees until that changes, or until it is unparked.
    pub(super) fn park(&mut self, agent: AgentIndex) {
        self.of_agent[agent.position()].course = Course::Parked;
    }

    /// Unparks an agent. What it sees goes on with this round, unless it has changed.
    pub(super) fn unpark(&mut self, agent: AgentIndex, round: Round) {
        let course = &mut self.of_agent[agent.position()].course;
        if *course == Course::Parked {
            *course = if round.length == 1 { Course::Steady } else { Course::Recurring(round) };
        }
    }

    /// Adds the parked agents for which what they see has changed to `to_unpark`.
    pub(super) fn take_to_unpark(&mut self, to_unpark: &mut Vec<AgentIndex>) {
        to_unpark.append(&mut self.to_unpark);
    }

    /// Reads a little of what a change of what reaches an instance needs.
    pub(super) fn prefetch_for(&self, agent: AgentIndex) -> usize {
        self.of_agent[agent.position()].passing.as_ref().map_or(0, |passing| passing.changes.len())
    }

    /// Reads a little of what will be looked at for these agents.
    ///
    /// A look goes from the agent to what reaches it, and from there to changes and turns. Here each part of the way is gone for all
    /// of them before the next, so that memory has as many things to fetch at a time as it can.
    pub(super) fn prefetch(&self, agents: &[AgentIndex], table: &TurnsTable) -> u32 {
        let inflows = || agents.iter().map(|agent| &self.of_agent[agent.position()]);
        let is_counted =
            |inflow: &&Inflow| matches!(inflow.course, Course::Open | Course::Cycling | Course::Counted(_));
        let counted: SmallVec<[&Inflow; 32]> = inflows().filter(is_counted).collect();
        let mut sum = 0;
        for inflow in &counted {
            sum ^= inflow.steady.first().map_or(0, |fact| fact.rate as u32);
            sum ^=
                inflow.passing.as_ref().map_or(0, |passing| passing.shares.len() as u32 ^ passing.changes.prefetch());
        }
        for passing in counted.iter().filter_map(|inflow| inflow.passing.as_ref()) {
            sum ^= passing.shares.first().map_or(0, |share| u32::from(table.get(share.turns).are_over(Time::ZERO)));
        }
        sum
    }

    /// Where nearly all comes from that reaches an instance.
    pub(super) fn neighbours(&self, agent: AgentIndex) -> impl Iterator<Item = Neighbour> {
        self.of_agent[agent.position()].steady.iter().map(|fact| fact.neighbour)
    }

    /// Whether an agent will see something else than what it saw last.
    pub(super) fn is_moving(&self, agent: AgentIndex) -> bool {
        self.of_agent[agent.position()].course != Course::Steady
    }

    /// What reached an instance in the period before `window.now`.
    pub(super) fn facts(
        &mut self,
        agent: AgentIndex,
        window: Window,
        table: &mut TurnsTable,
        facts: &mut Vec<RequestFact>,
    ) -> Seen {
        let inflow = &mut self.of_agent[agent.position()];
        match inflow.course {
            Course::Steady | Course::Parked => return Seen::AsBefore,
            Course::Recurring(round) => {
                inflow.course = Course::Recurring(round.next());
                return Seen::Again(round.number);
            }
            Course::Open | Course::Counted(_) | Course::Cycling => {}
        }
        facts.clear();
        match inflow.course {
            Course::Counted(round) => {
                inflow.cycle(facts);
                inflow.course = match round.next() {
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
                inflow.course = inflow.facts(window, table, facts);
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

/// Turns of the users of some cells, of which some come here.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Share {
    pub(super) way: Way,
    pub(super) turns: TurnsIndex,
    /// Which of the instances this is.
    pub(super) place: u32,
    /// How many cells there are that take these turns, have this instance at this place, and come by this way.
    pub(super) cells: u32,
    /// The period that is looked at next, once it is like all that follow.
    pub(super) cycle: Option<Cycle>,
}

impl Share {
    fn is_like(&self, other: &Share) -> bool {
        (self.turns, self.place, self.way) == (other.turns, other.place, other.way)
    }
}

/// How the facts of an agent go on from period to period, until something happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
enum Course {
    /// They are to be counted.
    #[default]
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
    Parked,
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

    /// Whether it has a length that is remembered, and a period of that length is next.
    pub(crate) fn can_be(self) -> bool {
        self.number < self.length && usize::from(self.length) <= Round::LENGTH_MAX
    }

    fn next(self) -> Round {
        Round { number: if self.number + 1 == self.length { 0 } else { self.number + 1 }, ..self }
    }

    pub(crate) fn length(self) -> u8 {
        self.length
    }

    /// The snapshot of each of its periods: its number, or `None` where there is only one.
    pub(crate) fn snapshots(self) -> impl Iterator<Item = Option<u8>> {
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
    /// The requests of `users` with one schedule come here from `window.now` on.
    pub(super) fn join(&mut self, users: u32, way: Way, schedule: Schedule, window: Window) {
        let rate = f64::from(users) * schedule.steady(window.length).unwrap_or(0.0);
        match self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            Some(fact) => fact.rate += rate,
            None => self.steady.push(RequestFact { neighbour: way.neighbour, rate, latency: way.latency.units() }),
        }
        self.passing().changes.add(-(users as i32), way, schedule, window.now);
    }

    /// The requests of `users` with one schedule no longer come here.
    pub(super) fn leave(&mut self, users: u32, way: Way, schedule: Schedule, window: Window) {
        let rate = f64::from(users) * schedule.steady(window.length).unwrap_or(0.0);
        if let Some(fact) = self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            fact.rate -= rate;
        }
        self.steady.retain(|fact| fact.rate > NOTHING);
        self.passing().changes.add(users as i32, way, schedule, window.now);
    }

    /// So many more requests come here in each period from `window.now` on, at no particular times; fewer if the number is negative.
    pub(super) fn flow_in(&mut self, way: Way, requests: f64, window: Window) {
        match self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            Some(fact) => fact.rate += requests,
            None => {
                let (neighbour, latency) = (way.neighbour, way.latency.units());
                self.steady.push(RequestFact { neighbour, rate: requests, latency });
            }
        }
        self.steady.retain(|fact| fact.rate > NOTHING);
        let schedule = Schedule::Mean { arrival: window.now, rate: requests.abs() / window.length.units() };
        self.passing().changes.add(if requests < 0.0 { 1 } else { -1 }, way, schedule, window.now);
    }

    /// The users of some cells begin to take turns of which some come here.
    pub(super) fn take_turns(&mut self, share: Share, table: &mut TurnsTable) {
        let shares = &mut self.passing().shares;
        let last = shares.len().saturating_sub(LAST);
        match shares[last..].iter_mut().rfind(|other| other.is_like(&share)) {
            Some(same) => same.cells += share.cells,
            None => {
                shares.push(share);
                table.hold(share.turns);
            }
        }
    }

    /// The users of some cells take turns no longer, which others still take: what they took are turns of their own.
    pub(super) fn leave_turns(&mut self, share: Share, ended: TurnsIndex, table: &mut TurnsTable) {
        // Of what came to an instance that is gone, or somewhere else, nothing is left.
        let Some(Passing { shares, .. }) = self.passing.as_deref_mut() else { return };
        let Some(position) = shares.iter().position(|other| other.is_like(&share)) else { return };
        // Whoever leaves next is likely to have the same.
        shares.swap(0, position);
        shares[0].cells -= share.cells;
        if shares[0].cells == 0 {
            shares.swap_remove(0);
            table.release(share.turns);
        }
        self.take_turns(Share { turns: ended, ..share }, table);
    }

    /// Nothing of what came before counts any more, or comes.
    pub(super) fn clear(&mut self, table: &mut TurnsTable) {
        for share in self.passing.iter().flat_map(|passing| &passing.shares) {
            table.release(share.turns);
        }
        *self = Inflow::default();
    }

    fn passing(&mut self) -> &mut Passing {
        self.passing.get_or_insert_default()
    }

    /// What reached the instance in the next period, when it goes on by turns alone.
    fn cycle(&mut self, facts: &mut Vec<RequestFact>) {
        facts.extend_from_slice(&self.steady);
        for share in self.passing.iter_mut().flat_map(|passing| &mut passing.shares) {
            let count = share.cycle.as_mut().map_or(0.0, |cycle| cycle.take(share.place));
            add(facts, share.way, f64::from(share.cells) * count);
        }
        facts.retain(|fact| fact.rate > NOTHING);
    }

    /// What reached the instance in the period before `now`. Gives how that goes on.
    fn facts(&mut self, window: Window, table: &mut TurnsTable, facts: &mut Vec<RequestFact>) -> Course {
        facts.extend_from_slice(&self.steady);
        let Some(Passing { changes, shares }) = self.passing.as_deref_mut() else {
            facts.retain(|fact| fact.rate > NOTHING);
            return Course::Steady;
        };
        changes.correct(window, facts);
        if shares.len() >= MANY_SHARES {
            let over = shares.iter().filter(|share| table.get(share.turns).are_over(window.now));
            black_box(over.count());
        }
        let (mut is_steady, mut has_cycles) = (true, true);
        shares.retain_mut(|share| {
            let span = window.sent(share.way.latency);
            let turns = table.get(share.turns);
            if turns.are_over(span.from) {
                table.release(share.turns);
                return false;
            }
            is_steady &= turns.are_regular(span.from);
            let count = turns.count_in(share.place, window.length, span);
            add(facts, share.way, f64::from(share.cells) * count);
            share.cycle = turns.cycle(window.length, span.from + window.length);
            has_cycles &= share.cycle.is_some();
            true
        });
        facts.retain(|fact| fact.rate > NOTHING);
        if !changes.is_empty() {
            return Course::Open;
        }
        if shares.is_empty() {
            // Others will need the memory sooner.
            self.passing = None;
            return Course::Steady;
        }
        if is_steady {
            return Course::Steady;
        }
        if !has_cycles {
            return Course::Open;
        }
        let cycles = shares.iter().filter_map(|share| share.cycle.as_ref());
        Round::of(cycles).map_or(Course::Cycling, Course::Counted)
    }
}

fn is_on(fact: &RequestFact, way: Way) -> bool {
    fact.neighbour == way.neighbour && fact.latency.to_bits() == way.latency.units().to_bits()
}

/// So many more requests come by a way.
pub(super) fn add(facts: &mut Vec<RequestFact>, way: Way, rate: f64) {
    match facts.iter_mut().find(|fact| is_on(fact, way)) {
        Some(fact) => fact.rate += rate,
        None => facts.push(RequestFact { neighbour: way.neighbour, rate, latency: way.latency.units() }),
    }
}

#[cfg(test)]
impl Inflow {
    pub(super) fn seen(&mut self, window: Window, table: &mut TurnsTable) -> Vec<RequestFact> {
        let mut facts = Vec::new();
        self.facts(window, table, &mut facts);
        facts
    }
}
