//! Users of one cell who send at the same times: they are counted together.
//!
//! While all requests of a cell go to one instance, as many requests of each of them are served, and they take as long, from the
//! moment on at which the cell took its route. So a route that changes changes one sum, and no user. Who joins the crowd
//! takes down how much that was until then, and gets the rest when it leaves.

use serde::{Deserialize, Serialize};

use super::account::Count;
use super::load::Passage;
use super::schedule::Schedule;

/// Users of one cell who send at the same times.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Crowd {
    /// When they send: only who does so at exact times is in a crowd. Means would be sums of fractions, which depend on the order
    /// in which they are summed up.
    first: f64,
    period: f64,
    /// Since when their requests have taken one way: until then they have been counted.
    pub(super) since: f64,
    /// How long requests on the way had waited until then, summed up over time.
    pub(super) waited: f64,
    /// What became of the requests of each of them, since there is a crowd.
    pub(super) served: f64,
    pub(super) response: f64,
    users: u32,
}

impl Crowd {
    pub(super) fn users(&self) -> u32 {
        self.users
    }

    pub(super) fn schedule(&self) -> Schedule {
        Schedule::Exact { first: self.first, period: self.period }
    }

    /// How much all of them send in a unit of time.
    pub(super) fn rate(&self) -> f64 {
        if self.users == 0 { 0.0 } else { f64::from(self.users) * self.schedule().rate() }
    }

    /// Lets a user in who begins to take the way now, and had waited so long, if it is one of this crowd, or the first.
    pub(super) fn let_in(&mut self, schedule: Schedule, waited: f64, now: f64) -> bool {
        let Schedule::Exact { first, period } = schedule else { return false };
        if self.users == 0 {
            *self = Crowd { first, period, since: now, waited, ..Crowd::default() };
        }
        let is_one = schedule == self.schedule() && self.since.to_bits() == now.to_bits();
        self.users += u32::from(is_one);
        is_one
    }

    pub(super) fn let_out(&mut self) {
        self.users -= 1;
    }

    /// All of them take another way from now on. Gives over how many links their requests went until now.
    pub(super) fn turn(&mut self, left: &Passage, taken: &Passage, now: f64) -> f64 {
        let count = Count::new(self.schedule(), Some(left), self.waited, [self.since, now]);
        self.served += count.served;
        self.response += count.response;
        (self.since, self.waited) = (now, taken.waited);
        f64::from(self.users) * count.hops
    }
}
