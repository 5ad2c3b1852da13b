//! Round robin of the users of one cell between several equally near instances.
//!
//! Cells whose users send at the same times, and that started at the same moment, share one round robin, each between
//! instances of its own.

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
    pub(super) TurnsIndex;
}

/// All round robins in use, and ended ones that are still within an evaluation period.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct TurnsTable {
    all: Vec<Turns>,
    free: Vec<TurnsIndex>,
    /// The most recently started ones.
    recent: VecDeque<TurnsIndex>,
}

/// Cells that start at one moment do so one after another, so an equal round robin is among the last, if it exists.
const RECENT: usize = 8;

/// The round robin of a cell, or of several, from one change of users or routes to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Turns {
    from: Time,
    /// The end of the round robin; infinite while it is in use.
    until: Time,
    /// The position of the instance with the first turn.
    turn: u64,
    /// The number of instances.
    count: u64,
    /// The time from which every instance receives the same number of requests in each period; infinite if never.
    regular_from: Time,
    members: Members,
    /// The number of cells that use this round robin.
    cells: u32,
    /// The round robin of the last cell that left while others continued.
    ended: Option<TurnsIndex>,
    /// The number of references: the cells, and the shares of instances.
    holders: u32,
}

/// A period of a regular round robin: its requests to an instance can be counted without looking at the users.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Cycle {
    /// The position of the instance with the first turn in it.
    whose: u32,
    /// The number of requests in it.
    requests: u32,
    /// The number of instances.
    count: u32,
}

/// Users who take turns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) enum Members {
    /// All send once in a period, first at these times, and in this order.
    Regular { firsts: SmallVec<[Time; 4]>, period: Duration },
    /// With arbitrary schedules. The order of turns cannot be computed then: each instance gets its share.
    Mixed(Vec<Schedule>),
}

impl TurnsTable {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether every restored round robin has participants, and each free slot is listed once.
    pub(super) fn hold_together(&self) -> bool {
        let mut is_free = vec![false; self.all.len()];
        let is_once = |index: &TurnsIndex| {
            let is_free = is_free.get_mut(index.position());
            is_free.is_some_and(|is_free| !std::mem::replace(is_free, true))
        };
        self.free.iter().all(is_once) && self.recent.len() <= RECENT && self.all.iter().all(Turns::can_be)
    }

    /// Starts a round robin of a cell's users between instances. The cell holds a reference to it.
    pub(super) fn begin(&mut self, members: Members, window: Window, turn: u64, instances: usize) -> TurnsIndex {
        let count = instances as u64;
        let is_same = |index: &&TurnsIndex| {
            let turns = self.get(**index);
            let began_now = turns.from == window.now && !turns.until.is_finite();
            began_now && (turns.turn, turns.count) == (turn, count) && turns.members == members
        };
        if let Some(index) = self.recent.iter().rfind(is_same).copied() {
            self.all[index.position()].cells += 1;
            self.hold(index);
            return index;
        }
        let index = self.add(Turns {
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

    fn add(&mut self, turns: Turns) -> TurnsIndex {
        if let Some(index) = self.free.pop() {
            self.all[index.position()] = turns;
            return index;
        }
        self.all.push(turns);
        TurnsIndex::at(self.all.len() - 1)
    }

    pub(super) fn get(&self, index: TurnsIndex) -> &Turns {
        &self.all[index.position()]
    }

    /// The users of a cell leave this round robin, and the cell drops its reference. If others continue, this cell's
    /// share of the past becomes a round robin of its own, which is returned with a reference for the caller.
    pub(super) fn end(&mut self, index: TurnsIndex, now: Time) -> Option<TurnsIndex> {
        let turns = &mut self.all[index.position()];
        turns.cells -= 1;
        if turns.cells == 0 {
            turns.until = now;
            self.release(index);
            return None;
        }
        turns.holders -= 1;
        let turns = self.get(index);
        let ended = match turns.ended.filter(|ended| self.get(*ended).is_part_of(turns, now)) {
            Some(ended) => ended,
            None => self.add(Turns { until: now, cells: 0, ended: None, holders: 0, ..turns.clone() }),
        };
        self.all[index.position()].ended = Some(ended);
        self.hold(ended);
        Some(ended)
    }

    /// Adds a reference.
    pub(super) fn hold(&mut self, index: TurnsIndex) {
        self.all[index.position()].holders += 1;
    }

    /// Drops a reference.
    pub(super) fn release(&mut self, index: TurnsIndex) {
        let turns = &mut self.all[index.position()];
        turns.holders -= 1;
        if turns.holders == 0 {
            // A released round robin must not be found and shared again.
            (turns.until, turns.members) = (turns.from, Members::Mixed(Vec::new()));
            self.free.push(index);
        }
    }
}

impl Turns {
    /// Whether it has a participant, and is short enough to be counted.
    fn can_be(&self) -> bool {
        /// An upper bound on the number of instances.
        const COUNT_MAX: u64 = 1 << 32;
        (1..COUNT_MAX).contains(&self.count)
            && self.turn < COUNT_MAX << 16
            && self.from.is_finite()
            && self.from >= Time::ZERO
    }

    /// Whether its participants are among this number of instances.
    pub(super) fn is_among(&self, instances: usize) -> bool {
        self.count == instances as u64 && self.cells > 0 && self.holders > 0
    }

    /// Whether a participant at this position exists.
    pub(super) fn has_place(&self, place: u32) -> bool {
        u64::from(place) < self.count && self.holders > 0
    }

    /// Whether this is the share that a cell had of `others` until `now`.
    fn is_part_of(&self, others: &Turns, now: Time) -> bool {
        let is_same = self.from == others.from && self.until == now;
        is_same && (self.turn, self.count) == (others.turn, others.count) && self.members == others.members
    }

    /// Whether it had ended at a time.
    pub(super) fn are_over(&self, time: Time) -> bool {
        self.until <= time
    }

    /// The number of the next turn at a time.
    pub(super) fn turn_at(&self, now: Time) -> u64 {
        (self.turn + self.members.sent(self.from, now) as u64) % self.count
    }

    /// Whether every instance receives, in each period from now on, as many requests as in the one that started at
    /// `begins`.
    pub(super) fn are_regular(&self, begins: Time) -> bool {
        !self.until.is_finite() && begins >= self.regular_from
    }

    /// How many requests that are sent in a period go to the instance at this position.
    pub(super) fn count_in(&self, place: u32, window: Duration, span: Span) -> f64 {
        match self.members.steady(window) {
            // Returned as a constant, so that rounding does not make equal periods differ.
            Some(steady) if self.are_regular(span.from) => steady / self.count as f64,
            _ => self.count(u64::from(place), span),
        }
    }

    /// The period that starts at `begins`, if all users send from its start to its end, and the same number of requests
    /// as in each later period.
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

    /// How many requests that are sent in a span go to the instance at this position.
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

/// How many requests all of these users have sent before a time. They are ordered by their first ones.
fn sent_before(firsts: &[Time], period: Duration, time: Time) -> u64 {
    match firsts {
        [first, .., last] if first == last => firsts.len() as u64 * number(*first, period, time),
        _ => firsts.iter().map(|first| number(*first, period, time)).sum(),
    }
}

/// How many requests have been sent before a time.
fn number(first: Time, period: Duration, time: Time) -> u64 {
    ((time - first) / period).ceil().max(0.0) as u64
}

impl Cycle {
    /// Whether the turn is that of an existing participant.
    pub(super) fn can_be(&self) -> bool {
        self.whose < self.count
    }

    /// The number of periods until the same instance has the first turn again.
    pub(super) fn length(&self) -> u32 {
        self.count / greatest_common_divisor(self.count, self.requests)
    }

    /// The number of requests of this period that go to the instance at this position. The next call is about the next
    /// period.
    pub(super) fn take(&mut self, place: u32) -> f64 {
        let Cycle { whose, requests, count } = *self;
        // The position of the first turn in this period; further ones follow every `count` turns.
        let first = if place >= whose { place - whose } else { place + count - whose };
        self.whose = (whose + requests % count) % count;
        if requests > first { f64::from((requests - 1 - first) / count + 1) } else { 0.0 }
    }
}

pub(super) fn greatest_common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

impl Members {
    /// The number of requests that all of them send.
    fn sent(&self, from: Time, until: Time) -> f64 {
        match self {
            Members::Regular { firsts, period } => {
                let schedule = |first: &Time| Schedule::Exact { first: *first, period: *period };
                firsts.iter().map(|first| schedule(first).count(from, until)).sum()
            }
            Members::Mixed(schedules) => schedules.iter().map(|schedule| schedule.count(from, until)).sum(),
        }
    }

    /// Time from the start until every instance receives the same number of requests in each period.
    fn regular_after(&self, window: Duration, instances: u64) -> Duration {
        let (is_regular, after) = match self {
            // After each period the same instance has the first turn again.
            Members::Regular { firsts, period } => {
                let rounds = window / *period;
                let requests = rounds as u64 * firsts.len() as u64;
                (is_whole(rounds) && requests.is_multiple_of(instances), *period)
            }
            Members::Mixed(_) => (self.steady(window).is_some(), Duration::ZERO),
        };
        if is_regular { after } else { Duration::INFINITE }
    }

    /// The number of requests that users with arbitrary schedules send in every span of this length; `None` if that
    /// depends on its start, or on whose turn it is.
    fn steady(&self, length: Duration) -> Option<f64> {
        match self {
            Members::Regular { .. } => None,
            Members::Mixed(schedules) => schedules.iter().map(|schedule| schedule.steady(length)).sum(),
        }
    }
}
