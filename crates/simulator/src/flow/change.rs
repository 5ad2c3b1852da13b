//! Corrections for users who recently joined or left an instance.
//!
//! The steady part assumes that a user who is routed to an instance has sent to it over the whole period. So a user who
//! joined during the period is overcounted by the requests before joining, and a user who left is undercounted by the
//! requests before leaving. The two corrections are independent: for a user who joined and left in one period, they add
//! up. A correction depends only on the path, the schedule and the requests sent before the change. Users for whom
//! these are the same are stored as one change, and equal numbers of joins and leaves cancel out.

#[cfg(test)]
mod tests;

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::inflow::{ArrivalPath, add};
use super::schedule::Schedule;
use super::window::Window;
use crate::population::RequestFact;

/// The changes at one instance that may still affect a period.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Changes(SmallVec<[Change; USUAL]>);

/// Users with the same path and schedule who joined or left after the same requests.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Change {
    path: ArrivalPath,
    before: Before,
    /// How many left, minus how many joined.
    users: i32,
}

/// The requests that a user sent before a change.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum Before {
    /// A number of requests, at exact times.
    Number { first: Time, period: Duration, number: f64 },
    /// A rate of requests, until this time.
    Time { rate: f64, time: Time },
}

/// The number of changes stored inline. Most instances have at most one join and one leave at a time.
const USUAL: usize = 2;

/// How many of the last changes are searched for an equal one. Changes made at the same time are consecutive, so an
/// equal one is usually among the last few. If it is not found, both are stored, and the corrections add up to the
/// same.
const LAST: usize = 8;

impl Changes {
    /// Records that `users` users left at `now`, or joined if the number is negative.
    pub(super) fn add(&mut self, users: i32, path: ArrivalPath, schedule: Schedule, now: Time) {
        let before = Before::new(schedule, now);
        let last = self.0.len().saturating_sub(LAST);
        let is_equal = |change: &Change| change.before == before && change.path == path;
        if let Some(place) = self.0[last..].iter().rposition(is_equal) {
            let change = &mut self.0[last + place];
            change.users += users;
            if change.users == 0 {
                self.0.swap_remove(last + place);
            }
            return;
        }
        self.0.push(Change { path, before, users });
    }

    /// Corrects the steady part for the period before `window.now`, and drops changes that no longer affect any period.
    pub(super) fn correct(&mut self, window: Window, facts: &mut Vec<RequestFact>) {
        self.0.retain(|change: &mut Change| {
            let sent = change.before.sent_since(window.sent(change.path.latency).from, window.length);
            if sent <= 0.0 {
                return false;
            }
            add(facts, change.path, f64::from(change.users) * sent);
            true
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Prefetches the changes. The return value only keeps the read from being optimised away.
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

    /// The number of these requests sent since `begins`, the start of the period. The schedule is extended to before
    /// the first request, because the steady part assumes that the user has always sent. Not positive if all were sent
    /// before the period.
    fn sent_since(&self, begins: Time, window: Duration) -> f64 {
        match *self {
            Before::Number { first, period, number: sent } => {
                (sent - number(first, period, begins)).min(window / period)
            }
            Before::Time { rate, time } => (time - begins).min(window).units() * rate,
        }
    }
}

/// How many requests are sent before a time; negative if it is at least a period before the first.
fn number(first: Time, period: Duration, time: Time) -> f64 {
    ((time - first) / period).ceil()
}
