//! Users of one cell with the same send times share one accumulator.
//!
//! While a cell has one route, all members with the same send times get the same counts and delays. They share one
//! accumulator: a member's account is debited its value on joining and credited its value on leaving. A route change
//! therefore updates one sum, not every user.

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};

use super::account::Count;
use super::load::PathDelay;
use super::schedule::Schedule;
use super::window::Span;

/// Users of one cell with the same send times.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Cohort {
    /// The members' first send time. Only users with exact send times are in a cohort: results of mean rates would be
    /// sums of fractions, which depend on the order of summation.
    first: Time,
    period: Duration,
    /// When the members started to use the current path. Earlier requests are already accounted for.
    pub(super) since: Time,
    /// The value of [`PathDelay::waited`] on the path at `since`.
    pub(super) waited: f64,
    /// The results of a member's requests from the creation of the cohort until `since`.
    pub(super) served: f64,
    pub(super) response: Duration,
    users: u32,
}

impl Cohort {
    pub(super) fn users(&self) -> u32 {
        self.users
    }

    pub(super) fn schedule(&self) -> Schedule {
        Schedule::Exact { first: self.first, period: self.period }
    }

    /// The requests of all members per unit of time.
    pub(super) fn rate(&self) -> f64 {
        if self.users == 0 { 0.0 } else { f64::from(self.users) * self.schedule().rate() }
    }

    /// Adds a user who starts to use the path now, if the user's send times are exact, and the cohort is empty or has
    /// the same schedule and also started to use the path now. `waited` is the current [`PathDelay::waited`] on the
    /// path. Returns whether the user was added.
    pub(super) fn try_join(&mut self, schedule: Schedule, waited: f64, now: Time) -> bool {
        let Schedule::Exact { first, period } = schedule else { return false };
        if self.users == 0 {
            *self = Cohort { first, period, since: now, waited, ..Cohort::default() };
        }
        let is_one = schedule == self.schedule() && self.since == now;
        self.users += u32::from(is_one);
        is_one
    }

    pub(super) fn leave(&mut self) {
        self.users -= 1;
    }

    /// Moves all members to another path. Returns the number of links that their requests passed on the path that they
    /// leave.
    pub(super) fn switch_path(&mut self, left: &PathDelay, taken: &PathDelay, now: Time) -> f64 {
        let count = Count::new(self.schedule(), Some(left), self.waited, Span { from: self.since, until: now });
        self.served += count.served;
        self.response += count.response;
        (self.since, self.waited) = (now, taken.waited);
        f64::from(self.users) * count.hops
    }
}

#[cfg(test)]
mod tests {
    use mario_scenario::UserIndex;

    use super::*;
    use crate::flow::account::Accounts;
    use crate::flow::queue::Unserved;

    #[test]
    fn a_member_of_a_cohort_has_the_same_account_as_alone() {
        let schedule = Schedule::Exact { first: Time::at(40.0), period: Duration::of(40.0) };
        let (mut together, mut alone) = (Accounts::new(2, false), Accounts::new(2, false));
        let mut cohort = Cohort::default();
        let mut members: Vec<UserIndex> = Vec::new();
        // Two users of a cell whose route changes every hundred units; the second joins later, between two changes.
        for number in 0_u32..12 {
            let units = f64::from(number) * 100.0;
            let now = Time::at(units);
            let delay = |waited: f64| PathDelay {
                takes: Duration::of(3.0 + f64::from(number)),
                waited,
                hops: f64::from(number % 3),
                failed: 0.0,
            };
            let (left, taken) = (delay(units * 0.7), delay(5.0 + units * 0.3));
            if cohort.users() > 0 {
                let hops = cohort.switch_path(&left, &taken, now);
                together.add_hops(hops);
            }
            for place in cohort.users() as usize..members.len() {
                together.count(members[place], Some(&left), now);
                together.take(members[place], &taken);
                together.add_to_cohort(&mut cohort, &mut members, place, now);
            }
            for user in &members {
                alone.count(*user, Some(&left), now);
                alone.take(*user, &taken);
            }
            let (newcomer, joins) =
                (UserIndex(u32::from(number > 0)), now + Duration::of(if number == 0 { 0.0 } else { 35.0 }));
            if number == 0 || number == 4 {
                for accounts in [&mut together, &mut alone] {
                    accounts.begin(newcomer, schedule, joins);
                    accounts.take(newcomer, &taken);
                }
                members.push(newcomer);
                let place = members.len() - 1;
                together.add_to_cohort(&mut cohort, &mut members, place, joins);
            }
            if number == 9 {
                together.leave(UserIndex(0), &cohort);
                cohort.leave();
                members.retain(|user| *user != UserIndex(0));
                for accounts in [&mut together, &mut alone] {
                    accounts.count(UserIndex(0), Some(&delay(900.0)), now + Duration::of(50.0));
                    accounts.end(UserIndex(0));
                }
            }
            assert_eq!(cohort.users() as usize, if number == 4 { 1 } else { members.len() });
            for user in [0, 1].map(UserIndex) {
                let sent = |accounts: &Accounts| {
                    accounts.sent(user, &cohort, Some(&taken), Unserved::default(), now + Duration::of(60.0)).0
                };
                let (one, other) = (sent(&together), sent(&alone));
                assert_eq!((one.served, one.lost), (other.served, other.lost), "{user:?} at {now}");
                assert!(
                    (one.response - other.response).units().abs() < 1e-9,
                    "{user:?} at {now}: {one:?}, not {other:?}"
                );
            }
            assert!((together.hops() - alone.hops()).abs() < 1e-9);
        }
    }
}
