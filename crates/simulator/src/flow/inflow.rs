//! The requests that reach one instance, as rates.
//!
//! Most of it is *steady*: users who have been routed here for longer than an evaluation period send the same number in
//! each. For users who joined or left recently, that is corrected ([`Changes`]). Users who share several equally near
//! instances are counted request by request, round robin ([`Share`]).

use std::hint::black_box;

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::change::Changes;
use super::schedule::Schedule;
use super::turns::{Cycle, TurnsIndex, TurnsTable, greatest_common_divisor};
use super::window::Window;
use crate::population::{AgentIndex, Neighbour, RequestFact};

/// The rounding error of sums of fractions: smaller sums count as zero.
const NOTHING: f64 = 1e-9;

/// With this many round robins, they are prefetched before they are counted, so that their cache misses overlap.
const MANY_SHARES: usize = 4;

/// Cells change their round robin one after another, so an equal share is among the last, if there is one.
const LAST: usize = 8;

/// The path of arriving requests: the last hop and the latency.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) neighbour: Neighbour,
    pub(super) latency: Duration,
}

/// The inflow of one instance. For most instances most of the time, all of it is in one cache line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct Inflow {
    course: Course,
    steady: SmallVec<[RequestFact; 1]>,
    passing: Option<Box<Passing>>,
}

const _: () = assert!(size_of::<Inflow>() == 64, "one line");

/// The part of an inflow that is not the same in every period.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Passing {
    changes: Changes,
    shares: SmallVec<[Share; 1]>,
}

/// The inflows of all instances.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Inflows {
    of_agent: Vec<Inflow>,
    /// Parked agents whose facts have changed.
    to_unpark: Vec<AgentIndex>,
}

impl Inflows {
    /// With capacity for `instances` instances.
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

    /// Adds an instance without inflow.
    pub(super) fn add(&mut self) {
        self.of_agent.push(Inflow::default());
    }

    /// The inflow of an instance, for a change.
    pub(super) fn change(&mut self, agent: AgentIndex) -> &mut Inflow {
        let inflow = &mut self.of_agent[agent.position()];
        if std::mem::replace(&mut inflow.course, Course::Open) == Course::Parked {
            self.to_unpark.push(agent);
        }
        inflow
    }

    /// The recurring pattern of an agent's facts, which lasts until something changes; `None` if there is none.
    pub(super) fn round(&self, agent: AgentIndex) -> Option<Round> {
        match self.of_agent[agent.position()].course {
            Course::Steady => Some(Round::default()),
            Course::Recurring(round) => Some(round),
            Course::Open | Course::Cycling | Course::Counted(_) | Course::Parked => None,
        }
    }

    /// Parks an agent: its facts are not computed until they change, or until it is unparked.
    pub(super) fn park(&mut self, agent: AgentIndex) {
        self.of_agent[agent.position()].course = Course::Parked;
    }

    /// Unparks an agent. Its facts continue with this pattern, unless they have changed.
    pub(super) fn unpark(&mut self, agent: AgentIndex, round: Round) {
        let course = &mut self.of_agent[agent.position()].course;
        if *course == Course::Parked {
            *course = if round.length == 1 { Course::Steady } else { Course::Recurring(round) };
        }
    }

    /// Adds the parked agents whose facts have changed to `to_unpark`.
    pub(super) fn take_to_unpark(&mut self, to_unpark: &mut Vec<AgentIndex>) {
        to_unpark.append(&mut self.to_unpark);
    }

    /// Prefetches what a change of an inflow needs.
    pub(super) fn prefetch_for(&self, agent: AgentIndex) -> usize {
        self.of_agent[agent.position()].passing.as_ref().map_or(0, |passing| passing.changes.len())
    }

    /// Prefetches the state of these agents.
    ///
    /// Reading an agent's facts goes from its inflow to changes and round robins. Here each step is done for all agents
    /// before the next, so that their cache misses overlap.
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

    /// The neighbours through which nearly all requests reach an instance.
    pub(super) fn neighbours(&self, agent: AgentIndex) -> impl Iterator<Item = Neighbour> {
        self.of_agent[agent.position()].steady.iter().map(|fact| fact.neighbour)
    }

    /// Whether an agent will see facts different from the last ones.
    pub(super) fn is_moving(&self, agent: AgentIndex) -> bool {
        self.of_agent[agent.position()].course != Course::Steady
    }

    /// The requests that reached an instance in the period before `window.now`.
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

/// How the facts of an agent relate to earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// The same as the last ones.
    AsBefore,
    /// The snapshot with this number of a pattern that has started and lasts until something changes.
    First(u8),
    /// The same snapshot as this number of the previous repetition.
    Again(u8),
    /// New facts.
    New,
}

/// A round robin of the users of some cells, of which this instance is a participant.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Share {
    pub(super) way: Way,
    pub(super) turns: TurnsIndex,
    /// The position of this instance in the round robin.
    pub(super) place: u32,
    /// The number of cells with this round robin, position and path.
    pub(super) cells: u32,
    /// The next period, once all further periods are alike.
    pub(super) cycle: Option<Cycle>,
}

impl Share {
    fn is_like(&self, other: &Share) -> bool {
        (self.turns, self.place, self.way) == (other.turns, other.place, other.way)
    }
}

/// How the facts of an agent change from period to period, until the next event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
enum Course {
    /// Not known: they have to be counted.
    #[default]
    Open,
    /// Only by round robin, where each has a cycle, but no short common pattern.
    Cycling,
    /// Only by round robin, in the first repetition of a pattern.
    Counted(Round),
    /// Only by round robin, in a later repetition of a pattern.
    Recurring(Round),
    /// Not at all.
    Steady,
    /// In a pattern, which `parking` keeps track of.
    Parked,
}

/// A recurring pattern of periods, and the next position in it.
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
    /// The maximum length of a pattern.
    pub(crate) const LENGTH_MAX: usize = 12;

    /// A pattern in which all cycles return to their start.
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

    /// Whether its length is within the limit, and its position is within the length.
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

    /// The number of periods before the one with this number.
    pub(crate) fn until(self, number: u8) -> u8 {
        (number + self.length - self.number) % self.length
    }

    /// The pattern after `periods` periods.
    pub(crate) fn after(self, periods: u32) -> Round {
        let number = (u32::from(self.number) + periods % u32::from(self.length)) % u32::from(self.length);
        Round { number: number as u8, ..self }
    }

    /// The number of the previous period, unless it is always the same.
    pub(crate) fn last(self) -> Option<u8> {
        (self.length > 1).then(|| self.after(u32::from(self.length) - 1).number)
    }
}

fn least_common_multiple(one: u32, other: u32) -> u32 {
    one / greatest_common_divisor(one, other) * other
}

impl Inflow {
    /// Starts the requests of `users` with one schedule, from `window.now` on.
    pub(super) fn join(&mut self, users: u32, way: Way, schedule: Schedule, window: Window) {
        let rate = f64::from(users) * schedule.steady(window.length).unwrap_or(0.0);
        match self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            Some(fact) => fact.rate += rate,
            None => self.steady.push(RequestFact { neighbour: way.neighbour, rate, latency: way.latency.units() }),
        }
        self.passing().changes.add(-(users as i32), way, schedule, window.now);
    }

    /// Ends the requests of `users` with one schedule.
    pub(super) fn leave(&mut self, users: u32, way: Way, schedule: Schedule, window: Window) {
        let rate = f64::from(users) * schedule.steady(window.length).unwrap_or(0.0);
        if let Some(fact) = self.steady.iter_mut().find(|fact| is_on(fact, way)) {
            fact.rate -= rate;
        }
        self.steady.retain(|fact| fact.rate > NOTHING);
        self.passing().changes.add(users as i32, way, schedule, window.now);
    }

    /// Adds a rate of requests per period from `window.now` on, at no particular times; a negative one removes it.
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

    /// Adds this instance to a round robin of some cells' users.
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

    /// Removes some cells from a round robin that others continue: their share of the past becomes a round robin of its
    /// own.
    pub(super) fn leave_turns(&mut self, share: Share, ended: TurnsIndex, table: &mut TurnsTable) {
        // An instance that was removed or moved has no inflow any more.
        let Some(Passing { shares, .. }) = self.passing.as_deref_mut() else { return };
        let Some(position) = shares.iter().position(|other| other.is_like(&share)) else { return };
        // The next cell to leave is likely to have the same one.
        shares.swap(0, position);
        shares[0].cells -= share.cells;
        if shares[0].cells == 0 {
            shares.swap_remove(0);
            table.release(share.turns);
        }
        self.take_turns(Share { turns: ended, ..share }, table);
    }

    /// Drops all past and future inflow.
    pub(super) fn clear(&mut self, table: &mut TurnsTable) {
        for share in self.passing.iter().flat_map(|passing| &passing.shares) {
            table.release(share.turns);
        }
        *self = Inflow::default();
    }

    fn passing(&mut self) -> &mut Passing {
        self.passing.get_or_insert_default()
    }

    /// The requests that reached the instance in the next period, if all of them come by round robin.
    fn cycle(&mut self, facts: &mut Vec<RequestFact>) {
        facts.extend_from_slice(&self.steady);
        for share in self.passing.iter_mut().flat_map(|passing| &mut passing.shares) {
            let count = share.cycle.as_mut().map_or(0.0, |cycle| cycle.take(share.place));
            add(facts, share.way, f64::from(share.cells) * count);
        }
        facts.retain(|fact| fact.rate > NOTHING);
    }

    /// The requests that reached the instance in the period before `now`. Returns how the facts will continue.
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
            // Frees the memory, which other instances need sooner.
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

/// Adds a rate of requests on a path.
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
