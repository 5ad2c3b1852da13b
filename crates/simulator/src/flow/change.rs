//! Users who joined or left an instance, as long as it matters for the current period.
//!
//! The steady part assumes that a user who is routed to an instance has sent to it over the whole period. So a user who
//! joined in the middle counts for too much, by what it sent before joining; and one who left, for too little, by what
//! it sent before leaving. The two corrections are independent: a user who joined and left in one period sent the
//! difference of the two. So users who join or leave at the same time, on the same path and with the same schedule are
//! one change, however many they are, and equal numbers who join and leave cancel out.

#[cfg(test)]
mod tests;

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::inflow::{Way, add};
use super::schedule::Schedule;
use super::window::Window;
use crate::population::RequestFact;

/// All changes at one instance that still matter.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Changes(SmallVec<[Change; USUAL]>);

/// Users joined or left at the same time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Change {
    way: Way,
    before: Before,
    /// How many left; negative if they joined.
    users: i32,
}

/// What a user has sent before a change.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Before {
    /// A number of requests, at exact times.
    Number { first: Time, period: Duration, number: f64 },
    /// A rate of requests, until this time.
    Time { rate: f64, time: Time },
}

/// Most instances have one join and one leave at a time.
const USUAL: usize = 2;

/// Changes of one moment are consecutive, so an equal one is among the last, if there is one.
const LAST: usize = 8;

impl Changes {
    /// `users` left; negative if they joined.
    pub(super) fn add(&mut self, users: i32, way: Way, schedule: Schedule, now: Time) {
        let before = Before::new(schedule, now);
        let last = self.0.len().saturating_sub(LAST);
        let is_equal = |change: &Change| change.before == before && change.way == way;
        if let Some(place) = self.0[last..].iter().rposition(is_equal) {
            let change = &mut self.0[last + place];
            change.users += users;
            if change.users == 0 {
                self.0.swap_remove(last + place);
            }
            return;
        }
        self.0.push(Change { way, before, users });
    }

    /// Corrects the steady part for the period before `now`, and drops changes that no longer matter.
    pub(super) fn correct(&mut self, window: Window, facts: &mut Vec<RequestFact>) {
        self.0.retain(|change: &mut Change| {
            let sent = change.before.sent_since(window.sent(change.way.latency).from, window.length);
            if sent <= 0.0 {
                return false;
            }
            add(facts, change.way, f64::from(change.users) * sent);
            true
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Prefetches the changes.
    pub(super) fn prefetch(&self) -> u32 {
        self.0.first().map_or(0, |change| change.users.unsigned_abs())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Before {
    fn new(schedule: Schedule, time: Time) -> Before {
        match schedule {
            Schedule::Exact { first, period } => {
                Before::Number { first, period, number: number(first, period, time).max(0.0) }
            }
            Schedule::Mean { rate, .. } => Before::Time { rate, time },
        }
    }

    /// The part of it that falls into the period that starts at `begins`, as if the user had always sent: even before
    /// its first request, because that is what the steady part assumes. Zero once all of it is before the period.
    fn sent_since(&self, begins: Time, window: Duration) -> f64 {
        match *self {
            Before::Number { first, period, number: sent } => {
                (sent - number(first, period, begins)).min(window / period)
            }
            Before::Time { rate, time } => (time - begins).min(window).units() * rate,
        }
    }
}

/// How many requests are sent before a time; negative before the first.
fn number(first: Time, period: Duration, time: Time) -> f64 {
    ((time - first) / period).ceil()
}
