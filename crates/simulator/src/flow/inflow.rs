//! The requests that reach one instance, as rates.
//!
//! Most of the inflow is *steady*: users who have been routed here for longer than an evaluation period send the same
//! number of requests in each period. [`Changes`] corrects it for users who joined or left recently. The requests of
//! users who are shared by several equally near instances are counted by round robins ([`Share`]), and so are those of
//! users whose number of requests per period varies.

use std::hint::black_box;

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::change::Changes;
use super::round_robin::{Cycle, RoundRobinIndex, RoundRobins, greatest_common_divisor};
use super::schedule::Schedule;
use super::window::Window;
use crate::population::{AgentIndex, Neighbour, RequestFact};

/// Tolerance for rounding errors: smaller rates count as zero.
const NOTHING: f64 = 1e-9;

/// From this many shares on, their round robins are prefetched before they are counted, so that their cache misses
/// overlap.
const MANY_SHARES: usize = 4;

/// How many of the last shares are searched for an equal one. The shares of cells that change their round robin
/// together are consecutive.
const LAST: usize = 8;

/// The path of arriving requests: the last hop and the latency.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct ArrivalPath {
    pub(super) neighbour: Neighbour,
    pub(super) latency: Duration,
}

/// The inflow of one instance. It usually fits in one cache line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct Inflow {
    phase: TrafficPhase,
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
    pub(super) fn with_capacity(instances: usize) -> Inflows {
        Inflows { of_agent: Vec::with_capacity(instances), to_unpark: Vec::new() }
    }

    /// Whether the restored inflows are valid for this number of instances and these round robins.
    pub(super) fn are_consistent(&self, instances: usize, table: &RoundRobins) -> bool {
        let is_sound = |inflow: &Inflow| {
            let is_valid_pattern = match inflow.phase {
                TrafficPhase::Counted(pattern) | TrafficPhase::Recurring(pattern) => pattern.is_valid(),
                TrafficPhase::Open | TrafficPhase::Cycling | TrafficPhase::Steady | TrafficPhase::Parked => true,
            };
            let shares = inflow.passing.iter().flat_map(|passing| &passing.shares);
            let cycles_if_it_must =
                matches!(inflow.phase, TrafficPhase::Open | TrafficPhase::Steady | TrafficPhase::Parked)
                    || shares.clone().all(|share| share.cycle.is_some());
            let has_turns = |share: &Share| {
                table.get(share.round_robin).has_place(share.place) && share.cycle.is_none_or(|cycle| cycle.is_valid())
            };
            is_valid_pattern && cycles_if_it_must && shares.clone().all(has_turns)
        };
        self.of_agent.len() == instances && self.of_agent.iter().all(is_sound)
    }

    /// Adds an instance without inflow.
    pub(super) fn add(&mut self) {
        self.of_agent.push(Inflow::default());
    }

    /// The inflow of an instance, to be changed. The next facts are counted instead of repeated. A parked agent is
    /// listed to be unparked.
    pub(super) fn change(&mut self, agent: AgentIndex) -> &mut Inflow {
        let inflow = &mut self.of_agent[agent.position()];
        if std::mem::replace(&mut inflow.phase, TrafficPhase::Open) == TrafficPhase::Parked {
            self.to_unpark.push(agent);
        }
        inflow
    }

    /// The recurring pattern of an agent's facts, which repeats until the next change; `None` if no pattern is known,
    /// during the first pass through it, and for a parked agent.
    pub(super) fn pattern(&self, agent: AgentIndex) -> Option<Pattern> {
        match self.of_agent[agent.position()].phase {
            TrafficPhase::Steady => Some(Pattern::default()),
            TrafficPhase::Recurring(pattern) => Some(pattern),
            TrafficPhase::Open | TrafficPhase::Cycling | TrafficPhase::Counted(_) | TrafficPhase::Parked => None,
        }
    }

    /// Parks an agent: its facts are not computed until they change, or until it is unparked.
    pub(super) fn park(&mut self, agent: AgentIndex) {
        self.of_agent[agent.position()].phase = TrafficPhase::Parked;
    }

    /// Unparks an agent. Its facts continue with `pattern`, unless they have changed.
    pub(super) fn unpark(&mut self, agent: AgentIndex, pattern: Pattern) {
        let phase = &mut self.of_agent[agent.position()].phase;
        if *phase == TrafficPhase::Parked {
            *phase = if pattern.length == 1 { TrafficPhase::Steady } else { TrafficPhase::Recurring(pattern) };
        }
    }

    /// Moves the parked agents whose facts have changed to the end of `to_unpark`.
    pub(super) fn take_to_unpark(&mut self, to_unpark: &mut Vec<AgentIndex>) {
        to_unpark.append(&mut self.to_unpark);
    }

    /// Prefetches the inflow of an agent, which is about to change. The return value only keeps the read from being
    /// optimised away.
    pub(super) fn prefetch_for(&self, agent: AgentIndex) -> usize {
        self.of_agent[agent.position()].passing.as_ref().map_or(0, |passing| passing.changes.len())
    }

    /// Prefetches the state of these agents.
    ///
    /// Reading an agent's facts follows pointers from its inflow to its changes and round robins. Each level is read
    /// for all agents before the next level, so that the cache misses overlap. The return value only keeps the reads
    /// from being optimised away.
    pub(super) fn prefetch(&self, agents: &[AgentIndex], table: &RoundRobins) -> u32 {
        let inflows = || agents.iter().map(|agent| &self.of_agent[agent.position()]);
        let is_counted = |inflow: &&Inflow| {
            matches!(inflow.phase, TrafficPhase::Open | TrafficPhase::Cycling | TrafficPhase::Counted(_))
        };
        let counted: SmallVec<[&Inflow; 32]> = inflows().filter(is_counted).collect();
        let mut sum = 0;
        for inflow in &counted {
            sum ^= inflow.steady.first().map_or(0, |fact| fact.rate as u32);
            sum ^=
                inflow.passing.as_ref().map_or(0, |passing| passing.shares.len() as u32 ^ passing.changes.prefetch());
        }
        for passing in counted.iter().filter_map(|inflow| inflow.passing.as_ref()) {
            sum ^= passing
                .shares
                .first()
                .map_or(0, |share| u32::from(table.get(share.round_robin).has_ended_by(Time::ZERO)));
        }
        sum
    }

    /// The neighbours through which the steady part of the requests reaches an instance.
    pub(super) fn neighbours(&self, agent: AgentIndex) -> impl Iterator<Item = Neighbour> {
        self.of_agent[agent.position()].steady.iter().map(|fact| fact.neighbour)
    }

    /// Whether an agent's facts may differ from those of its last evaluation. Always true for a parked agent.
    pub(super) fn may_change(&self, agent: AgentIndex) -> bool {
        self.of_agent[agent.position()].phase != TrafficPhase::Steady
    }

    /// Replaces `facts` by the requests that reached an instance in the period before `window.now`. If the agent
    /// already has them ([`Recurrence::AsBefore`], [`Recurrence::Again`]), `facts` stays as it is.
    pub(super) fn facts(
        &mut self,
        agent: AgentIndex,
        window: Window,
        table: &mut RoundRobins,
        facts: &mut Vec<RequestFact>,
    ) -> Recurrence {
        let inflow = &mut self.of_agent[agent.position()];
        match inflow.phase {
            TrafficPhase::Steady | TrafficPhase::Parked => return Recurrence::AsBefore,
            TrafficPhase::Recurring(pattern) => {
                inflow.phase = TrafficPhase::Recurring(pattern.next());
                return Recurrence::Again(pattern.number);
            }
            TrafficPhase::Open | TrafficPhase::Counted(_) | TrafficPhase::Cycling => {}
        }
        facts.clear();
        match inflow.phase {
            TrafficPhase::Counted(pattern) => {
                inflow.cycle(facts);
                inflow.phase = match pattern.next() {
                    Pattern { length: 1, .. } => TrafficPhase::Steady,
                    next @ Pattern { number: 0, .. } => TrafficPhase::Recurring(next),
                    next => TrafficPhase::Counted(next),
                };
                Recurrence::First(pattern.number)
            }
            TrafficPhase::Cycling => {
                inflow.cycle(facts);
                Recurrence::New
            }
            _ => {
                inflow.phase = inflow.facts(window, table, facts);
                Recurrence::New
            }
        }
    }
}

/// How an agent's snapshot of facts relates to its earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Recurrence {
    /// The same snapshot as in the last period.
    AsBefore,
    /// A new snapshot: the one with this number in the first pass through a pattern.
    First(u8),
    /// The snapshot with this number in a pattern, seen in an earlier pass.
    Again(u8),
    /// Facts computed for this period, which belong to no pattern. They may equal earlier ones.
    New,
}

/// The share of this instance in a round robin, for the users of some cells.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Share {
    pub(super) path: ArrivalPath,
    pub(super) round_robin: RoundRobinIndex,
    /// The position of this instance in the round robin.
    pub(super) place: u32,
    /// The number of cells with this round robin, position and path.
    pub(super) cells: u32,
    /// The next period of the round robin. `None` before the first count, while the number of requests may still differ
    /// between periods, and always if the users have different periods or random send times.
    pub(super) cycle: Option<Cycle>,
}

impl Share {
    fn is_like(&self, other: &Share) -> bool {
        (self.round_robin, self.place, self.path) == (other.round_robin, other.place, other.path)
    }
}

/// How the facts of an agent vary from period to period until the next change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
enum TrafficPhase {
    /// Unknown: the facts have to be counted.
    #[default]
    Open,
    /// They vary only by round robin. Each round robin has a cycle, but the pattern of all of them together is longer
    /// than [`Pattern::LENGTH_MAX`].
    Cycling,
    /// They vary only by round robin. This is the first pass through a pattern.
    Counted(Pattern),
    /// They vary only by round robin. This is a later pass through a pattern.
    Recurring(Pattern),
    /// They do not vary.
    Steady,
    /// The agent is parked. The `EvaluationSchedule` of the simulation keeps its pattern.
    Parked,
}

/// A recurring pattern of periods, and the position of the next period in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Pattern {
    number: u8,
    length: u8,
}

/// A pattern of one period: the facts are the same in every period.
impl Default for Pattern {
    fn default() -> Pattern {
        Pattern { number: 0, length: 1 }
    }
}

impl Pattern {
    /// The maximum length of a pattern, in periods.
    pub(crate) const LENGTH_MAX: usize = 12;

    /// The shortest pattern after which all cycles are back at their start; `None` if it is longer than
    /// [`Pattern::LENGTH_MAX`].
    fn of<'a>(cycles: impl Iterator<Item = &'a Cycle>) -> Option<Pattern> {
        let mut length = 1;
        for cycle in cycles {
            length = least_common_multiple(length, cycle.length());
            if length as usize > Pattern::LENGTH_MAX {
                return None;
            }
        }
        Some(Pattern { number: 0, length: length as u8 })
    }

    /// Whether the length is within the limit and the position is within the length.
    pub(crate) fn is_valid(self) -> bool {
        self.number < self.length && usize::from(self.length) <= Pattern::LENGTH_MAX
    }

    fn next(self) -> Pattern {
        Pattern { number: if self.number + 1 == self.length { 0 } else { self.number + 1 }, ..self }
    }

    pub(crate) fn length(self) -> u8 {
        self.length
    }

    /// The snapshot number of each period; `None` if the pattern has only one period.
    pub(crate) fn snapshots(self) -> impl Iterator<Item = Option<u8>> {
        (0..self.length).map(move |number| (self.length > 1).then_some(number))
    }

    /// The number of periods until the one with this number is next.
    pub(crate) fn until(self, number: u8) -> u8 {
        (number + self.length - self.number) % self.length
    }

    /// The pattern after `periods` periods.
    pub(crate) fn after(self, periods: u32) -> Pattern {
        let number = (u32::from(self.number) + periods % u32::from(self.length)) % u32::from(self.length);
        Pattern { number: number as u8, ..self }
    }

    /// The number of the previous period; `None` if the pattern has only one period.
    pub(crate) fn last(self) -> Option<u8> {
        (self.length > 1).then(|| self.after(u32::from(self.length) - 1).number)
    }
}

fn least_common_multiple(one: u32, other: u32) -> u32 {
    one / greatest_common_divisor(one, other) * other
}

impl Inflow {
    /// Adds the requests of `users` users with one schedule, from `window.now` on.
    pub(super) fn join(&mut self, users: u32, path: ArrivalPath, schedule: Schedule, window: Window) {
        let rate = f64::from(users) * schedule.steady(window.length).unwrap_or(0.0);
        match self.steady.iter_mut().find(|fact| is_on(fact, path)) {
            Some(fact) => fact.rate += rate,
            None => self.steady.push(RequestFact { neighbour: path.neighbour, rate, latency: path.latency.units() }),
        }
        self.passing().changes.add(-(users as i32), path, schedule, window.now);
    }

    /// Removes the requests of `users` users with one schedule, from `window.now` on.
    pub(super) fn leave(&mut self, users: u32, path: ArrivalPath, schedule: Schedule, window: Window) {
        let rate = f64::from(users) * schedule.steady(window.length).unwrap_or(0.0);
        if let Some(fact) = self.steady.iter_mut().find(|fact| is_on(fact, path)) {
            fact.rate -= rate;
        }
        self.steady.retain(|fact| fact.rate > NOTHING);
        self.passing().changes.add(users as i32, path, schedule, window.now);
    }

    /// Adds `requests` requests of calls per period, spread evenly, from `window.now` on; removes requests if the
    /// number is negative.
    pub(super) fn flow_in(&mut self, path: ArrivalPath, requests: f64, window: Window) {
        match self.steady.iter_mut().find(|fact| is_on(fact, path)) {
            Some(fact) => fact.rate += requests,
            None => {
                let (neighbour, latency) = (path.neighbour, path.latency.units());
                self.steady.push(RequestFact { neighbour, rate: requests, latency });
            }
        }
        self.steady.retain(|fact| fact.rate > NOTHING);
        let schedule = Schedule::Mean { arrival: window.now, rate: requests.abs() / window.length.units() };
        self.passing().changes.add(if requests < 0.0 { 1 } else { -1 }, path, schedule, window.now);
    }

    /// Adds a share of this instance in the round robin of some cells. An equal one among the last shares is increased
    /// instead.
    pub(super) fn join_round_robin(&mut self, share: Share, table: &mut RoundRobins) {
        let shares = &mut self.passing().shares;
        let last = shares.len().saturating_sub(LAST);
        match shares[last..].iter_mut().rfind(|other| other.is_like(&share)) {
            Some(same) => same.cells += share.cells,
            None => {
                shares.push(share);
                table.hold(share.round_robin);
            }
        }
    }

    /// Removes some cells from a round robin that other cells continue to use. Requests that the removed cells have
    /// already sent are counted by the ended round robin `ended`.
    pub(super) fn leave_round_robin(&mut self, share: Share, ended: RoundRobinIndex, table: &mut RoundRobins) {
        // The inflow of an instance that was removed or moved is already cleared.
        let Some(Passing { shares, .. }) = self.passing.as_deref_mut() else { return };
        let Some(position) = shares.iter().position(|other| other.is_like(&share)) else { return };
        // The next cell to leave is likely to have the same share.
        shares.swap(0, position);
        shares[0].cells -= share.cells;
        if shares[0].cells == 0 {
            shares.swap_remove(0);
            table.release(share.round_robin);
        }
        self.join_round_robin(Share { round_robin: ended, ..share }, table);
    }

    /// Drops all inflow, including requests in transit.
    pub(super) fn clear(&mut self, table: &mut RoundRobins) {
        for share in self.passing.iter().flat_map(|passing| &passing.shares) {
            table.release(share.round_robin);
        }
        *self = Inflow::default();
    }

    fn passing(&mut self) -> &mut Passing {
        self.passing.get_or_insert_default()
    }

    /// Adds the facts of the next period to `facts`, and advances the cycles. The facts must vary only by round robin.
    fn cycle(&mut self, facts: &mut Vec<RequestFact>) {
        facts.extend_from_slice(&self.steady);
        for share in self.passing.iter_mut().flat_map(|passing| &mut passing.shares) {
            let count = share.cycle.as_mut().map_or(0.0, |cycle| cycle.take(share.place));
            add(facts, share.path, f64::from(share.cells) * count);
        }
        facts.retain(|fact| fact.rate > NOTHING);
    }

    /// Adds the facts of the period before `window.now` to `facts`, and drops changes and ended round robins that no
    /// longer affect any period. Returns how the facts vary from now on.
    fn facts(&mut self, window: Window, table: &mut RoundRobins, facts: &mut Vec<RequestFact>) -> TrafficPhase {
        facts.extend_from_slice(&self.steady);
        let Some(Passing { changes, shares }) = self.passing.as_deref_mut() else {
            facts.retain(|fact| fact.rate > NOTHING);
            return TrafficPhase::Steady;
        };
        changes.correct(window, facts);
        if shares.len() >= MANY_SHARES {
            let over = shares.iter().filter(|share| table.get(share.round_robin).has_ended_by(window.now));
            black_box(over.count());
        }
        let (mut is_steady, mut has_cycles) = (true, true);
        shares.retain_mut(|share| {
            let span = window.sent(share.path.latency);
            let round_robin = table.get(share.round_robin);
            if round_robin.has_ended_by(span.from) {
                table.release(share.round_robin);
                return false;
            }
            is_steady &= round_robin.is_regular_from(span.from);
            let count = round_robin.count_in(share.place, window.length, span);
            add(facts, share.path, f64::from(share.cells) * count);
            share.cycle = round_robin.cycle(window.length, span.from + window.length);
            has_cycles &= share.cycle.is_some();
            true
        });
        facts.retain(|fact| fact.rate > NOTHING);
        if !changes.is_empty() {
            return TrafficPhase::Open;
        }
        if shares.is_empty() {
            // Frees the memory.
            self.passing = None;
            return TrafficPhase::Steady;
        }
        if is_steady {
            return TrafficPhase::Steady;
        }
        if !has_cycles {
            return TrafficPhase::Open;
        }
        let cycles = shares.iter().filter_map(|share| share.cycle.as_ref());
        Pattern::of(cycles).map_or(TrafficPhase::Cycling, TrafficPhase::Counted)
    }
}

fn is_on(fact: &RequestFact, path: ArrivalPath) -> bool {
    fact.neighbour == path.neighbour && fact.latency.to_bits() == path.latency.units().to_bits()
}

/// Adds a rate of requests on a path to `facts`.
pub(super) fn add(facts: &mut Vec<RequestFact>, path: ArrivalPath, rate: f64) {
    match facts.iter_mut().find(|fact| is_on(fact, path)) {
        Some(fact) => fact.rate += rate,
        None => facts.push(RequestFact { neighbour: path.neighbour, rate, latency: path.latency.units() }),
    }
}

#[cfg(test)]
impl Inflow {
    pub(super) fn seen(&mut self, window: Window, table: &mut RoundRobins) -> Vec<RequestFact> {
        let mut facts = Vec::new();
        self.facts(window, table, &mut facts);
        facts
    }
}
