//! Round robin of the requests of one cell's users between several equally near instances. Also used for a single
//! instance, if the number of requests varies from period to period.
//!
//! Cells share one round robin if they start at the same time, their users send at the same times, and they have the
//! same number of instances and the same first turn, unless [`RECENT`] other round robins were started in between. The
//! instances may be different ones.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use mario_domain::{Duration, Time};
use mario_scenario::indices;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::schedule::Schedule;
use super::window::{Span, Window};
use crate::whole_number::is_whole;

indices! {
    /// The index of a round robin.
    pub(super) RoundRobinIndex;
}

/// All round robins in use, and ended ones whose last requests are still counted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct RoundRobins {
    all: Vec<RoundRobin>,
    free: Vec<RoundRobinIndex>,
    /// The most recently started round robins.
    recent: VecDeque<RoundRobinIndex>,
}

/// How many of the last round robins are searched for an equal one. Cells that start at the same time are consecutive.
const RECENT: usize = 8;

/// The round robin of one or more cells, from one change of users or routes to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RoundRobin {
    from: Time,
    /// The end of the round robin; infinite while it is in use.
    until: Time,
    /// The position of the instance with the first turn.
    turn: u64,
    /// The number of instances.
    count: u64,
    /// The time from which no instance's number of requests varies from period to period; infinite if never.
    regular_from: Time,
    members: Members,
    /// The number of cells that use this round robin.
    cells: u32,
    /// The ended round robin of the last cell that left while others continued. Its slot may have been freed or reused
    /// since.
    ended: Option<RoundRobinIndex>,
    /// The number of references: those of cells and of the shares of instances, and those that [`RoundRobins::end`]
    /// returned to callers.
    holders: u32,
}

/// One period of a round robin that has the same number of requests in every later period. The requests of the period
/// that go to an instance can be counted without looking at the users.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Cycle {
    /// The position of the instance with the first turn in this period.
    whose: u32,
    /// The number of requests in this period.
    requests: u32,
    /// The number of instances.
    count: u32,
}

/// The users whose requests are distributed round robin.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) enum Members {
    /// All users send with the same period. `firsts` has each user's first send time from the start of the round robin
    /// on, sorted.
    Regular { firsts: SmallVec<[Time; 4]>, period: Duration },
    /// Users with arbitrary schedules. Their order of turns cannot be computed, so each instance gets an equal share.
    Mixed(Vec<Schedule>),
}

impl RoundRobins {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether every restored round robin is valid, and no free slot is listed twice.
    pub(super) fn are_consistent(&self) -> bool {
        let mut is_free = vec![false; self.all.len()];
        let is_once = |index: &RoundRobinIndex| {
            let is_free = is_free.get_mut(index.position());
            is_free.is_some_and(|is_free| !std::mem::replace(is_free, true))
        };
        self.free.iter().all(is_once) && self.recent.len() <= RECENT && self.all.iter().all(RoundRobin::is_valid)
    }

    /// Starts a round robin for a cell, or shares an equal one that started now. The cell holds a reference to it.
    pub(super) fn begin(&mut self, members: Members, window: Window, turn: u64, instances: usize) -> RoundRobinIndex {
        let count = instances as u64;
        let is_same = |index: &&RoundRobinIndex| {
            let round_robin = self.get(**index);
            let began_now = round_robin.from == window.now && !round_robin.until.is_finite();
            began_now && (round_robin.turn, round_robin.count) == (turn, count) && round_robin.members == members
        };
        if let Some(index) = self.recent.iter().rfind(is_same).copied() {
            self.all[index.position()].cells += 1;
            self.hold(index);
            return index;
        }
        let index = self.add(RoundRobin {
            from: window.now,
            until: Time::NEVER,
            turn,
            count,
            regular_from: window.now + members.regular_after(window.length, count),
            members,
            cells: 1,
            ended: None,
            holders: 1,
        });
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(index);
        index
    }

    fn add(&mut self, round_robin: RoundRobin) -> RoundRobinIndex {
        if let Some(index) = self.free.pop() {
            self.all[index.position()] = round_robin;
            return index;
        }
        self.all.push(round_robin);
        RoundRobinIndex::at(self.all.len() - 1)
    }

    pub(super) fn get(&self, index: RoundRobinIndex) -> &RoundRobin {
        &self.all[index.position()]
    }

    /// Removes the users of a cell from this round robin, and drops the cell's reference. If other cells continue, the
    /// requests already sent by this cell move to an ended round robin, which is returned with a reference for the
    /// caller.
    pub(super) fn end(&mut self, index: RoundRobinIndex, now: Time) -> Option<RoundRobinIndex> {
        let round_robin = &mut self.all[index.position()];
        round_robin.cells -= 1;
        if round_robin.cells == 0 {
            round_robin.until = now;
            self.release(index);
            return None;
        }
        round_robin.holders -= 1;
        let round_robin = self.get(index);
        let ended = match round_robin.ended.filter(|ended| self.get(*ended).is_part_of(round_robin, now)) {
            Some(ended) => ended,
            None => self.add(RoundRobin { until: now, cells: 0, ended: None, holders: 0, ..round_robin.clone() }),
        };
        self.all[index.position()].ended = Some(ended);
        self.hold(ended);
        Some(ended)
    }

    /// Adds a reference.
    pub(super) fn hold(&mut self, index: RoundRobinIndex) {
        self.all[index.position()].holders += 1;
    }

    /// Drops a reference. The last one frees the slot.
    pub(super) fn release(&mut self, index: RoundRobinIndex) {
        let round_robin = &mut self.all[index.position()];
        round_robin.holders -= 1;
        if round_robin.holders == 0 {
            // A released round robin must not be found and shared again.
            (round_robin.until, round_robin.members) = (round_robin.from, Members::Mixed(Vec::new()));
            self.free.push(index);
        }
    }
}

impl RoundRobin {
    /// Whether a restored round robin has instances, and its numbers are in range.
    fn is_valid(&self) -> bool {
        /// An upper bound on the number of instances.
        const COUNT_MAX: u64 = 1 << 32;
        (1..COUNT_MAX).contains(&self.count)
            && self.turn < COUNT_MAX << 16
            && self.from.is_finite()
            && self.from >= Time::ZERO
    }

    /// Whether it is in use with this number of instances.
    pub(super) fn is_among(&self, instances: usize) -> bool {
        self.count == instances as u64 && self.cells > 0 && self.holders > 0
    }

    /// Whether an instance at this position exists, and the slot is not free.
    pub(super) fn has_place(&self, place: u32) -> bool {
        u64::from(place) < self.count && self.holders > 0
    }

    /// Whether this is the ended part of `others` for a cell that leaves at `now`.
    fn is_part_of(&self, others: &RoundRobin, now: Time) -> bool {
        let is_same = self.from == others.from && self.until == now;
        is_same && (self.turn, self.count) == (others.turn, others.count) && self.members == others.members
    }

    /// Whether it has ended by `time`.
    pub(super) fn has_ended_by(&self, time: Time) -> bool {
        self.until <= time
    }

    /// The position of the instance that has the next turn at `now`; an estimate if the users have random send times.
    pub(super) fn turn_at(&self, now: Time) -> u64 {
        (self.turn + self.members.sent(self.from, now) as u64) % self.count
    }

    /// Whether, from `begins` on, no instance's number of requests varies from period to period.
    pub(super) fn is_regular_from(&self, begins: Time) -> bool {
        !self.until.is_finite() && begins >= self.regular_from
    }

    /// How many requests of a period go to the instance at this position.
    pub(super) fn count_in(&self, place: u32, window: Duration, span: Span) -> f64 {
        match self.members.steady(window) {
            // Computed the same way for each period, so that rounding does not make equal periods differ.
            Some(steady) if self.is_regular_from(span.from) => steady / self.count as f64,
            _ => self.count(u64::from(place), span),
        }
    }

    /// The period that starts at `begins`, if all users send throughout it, and every later period has the same number
    /// of requests.
    pub(super) fn cycle(&self, window: Duration, begins: Time) -> Option<Cycle> {
        let Members::Regular { firsts, period } = &self.members else { return None };
        let rounds = window / *period;
        if !is_whole(rounds) || self.until.is_finite() || begins < self.from + *period {
            return None;
        }
        // Requests are numbered in the order of sending, so those of a period are consecutive.
        let before = sent_before(firsts, *period, begins);
        Some(Cycle {
            whose: ((self.turn + before) % self.count) as u32,
            requests: u32::try_from(rounds as u64 * firsts.len() as u64).ok()?,
            count: self.count as u32,
        })
    }

    /// How many requests of a span go to the instance at this position.
    fn count(&self, place: u64, span: Span) -> f64 {
        let (from, until) = (span.from.max(self.from), span.until.min(self.until));
        if until <= from {
            return 0.0;
        }
        let Members::Regular { firsts, period } = &self.members else {
            return self.members.sent(from, until) / self.count as f64;
        };
        if let (Some(first), Some(last)) = (firsts.first(), firsts.last())
            && *last - *first < *period
        {
            // Requests are numbered in the order of sending, so those of a span are consecutive.
            let before = |time| self.turn + sent_before(firsts, *period, time);
            let turns_before = |number: u64| (number + self.count - 1 - place) / self.count;
            return (turns_before(before(until)) - turns_before(before(from))) as f64;
        }
        let users = firsts.len() as u64;
        let further = users % self.count;
        let mut here = 0_u64;
        for (rank, first) in (0_u64..).zip(firsts) {
            let rounds = number(*first, *period, from)..number(*first, *period, until);
            let mut whose = (self.turn + rounds.start * users + rank) % self.count;
            for _ in rounds {
                here += u64::from(whose == place);
                whose += further;
                if whose >= self.count {
                    whose -= self.count;
                }
            }
        }
        here as f64
    }
}

/// How many requests all of these users have sent before `time`. `firsts` is sorted.
fn sent_before(firsts: &[Time], period: Duration, time: Time) -> u64 {
    match firsts {
        [first, .., last] if first == last => firsts.len() as u64 * number(*first, period, time),
        _ => firsts.iter().map(|first| number(*first, period, time)).sum(),
    }
}

/// How many requests a user has sent before `time`.
fn number(first: Time, period: Duration, time: Time) -> u64 {
    ((time - first) / period).ceil().max(0.0) as u64
}

impl Cycle {
    /// Whether the first turn belongs to an existing instance.
    pub(super) fn is_valid(&self) -> bool {
        self.whose < self.count
    }

    /// The number of periods until the same instance has the first turn again.
    pub(super) fn length(&self) -> u32 {
        self.count / greatest_common_divisor(self.count, self.requests)
    }

    /// Returns the number of requests of this period that go to the instance at this position, and advances to the next
    /// period.
    pub(super) fn take(&mut self, place: u32) -> f64 {
        let Cycle { whose, requests, count } = *self;
        // The instance's first turn in this period; further turns follow every `count` requests.
        let first = if place >= whose { place - whose } else { place + count - whose };
        self.whose = (whose + requests % count) % count;
        if requests > first { f64::from((requests - 1 - first) / count + 1) } else { 0.0 }
    }
}

pub(super) fn greatest_common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

impl Members {
    /// The number of requests that all users send in a span.
    fn sent(&self, from: Time, until: Time) -> f64 {
        match self {
            Members::Regular { firsts, period } => {
                let schedule = |first: &Time| Schedule::Exact { first: *first, period: *period };
                firsts.iter().map(|first| schedule(first).count(from, until)).sum()
            }
            Members::Mixed(schedules) => schedules.iter().map(|schedule| schedule.count(from, until)).sum(),
        }
    }

    /// The time from the start until no instance's number of requests varies from period to period; infinite if never.
    fn regular_after(&self, window: Duration, instances: u64) -> Duration {
        let (is_regular, after) = match self {
            // Regular if the same instance has the first turn in each period.
            Members::Regular { firsts, period } => {
                let rounds = window / *period;
                let requests = rounds as u64 * firsts.len() as u64;
                (is_whole(rounds) && requests.is_multiple_of(instances), *period)
            }
            Members::Mixed(_) => (self.steady(window).is_some(), Duration::ZERO),
        };
        if is_regular { after } else { Duration::INFINITE }
    }

    /// The number of requests that all users send in every span of this length; `None` if the number depends on the
    /// start of the span. Also `None` for regular members, whose requests are counted by turns.
    fn steady(&self, length: Duration) -> Option<f64> {
        match self {
            Members::Regular { .. } => None,
            Members::Mixed(schedules) => schedules.iter().map(|schedule| schedule.steady(length)).sum(),
        }
    }
}
