//! Users of one cell with the same send times share one accumulator.
//!
//! While a cell has one route, all members with the same send times get the same counts and delays. They share one
//! accumulator; a member stores its value on joining and is credited the difference on leaving. A route change
//! therefore updates one sum, not every user.

use mario_domain::{Duration, Time};
use serde::{Deserialize, Serialize};

use super::account::Count;
use super::load::Passage;
use super::schedule::Schedule;
use super::window::Span;

/// Users of one cell with the same send times.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Crowd {
    /// Their first send time: only users with exact times are in a crowd. Means would be sums of fractions, which
    /// depend on the order of summation.
    first: Time,
    period: Duration,
    /// The start of the current path: earlier requests are accounted for.
    pub(super) since: Time,
    /// The accumulated wait on the path up to then.
    pub(super) waited: f64,
    /// The results of the requests of each member, since the crowd exists.
    pub(super) served: f64,
    pub(super) response: Duration,
    users: u32,
}

impl Crowd {
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

    /// Adds a user who starts to use the path now, if the crowd is empty, or has the same schedule and also started now.
    /// `waited` is the accumulated wait on the path. Returns whether the user was added.
    pub(super) fn let_in(&mut self, schedule: Schedule, waited: f64, now: Time) -> bool {
        let Schedule::Exact { first, period } = schedule else { return false };
        if self.users == 0 {
            *self = Crowd { first, period, since: now, waited, ..Crowd::default() };
        }
        let is_one = schedule == self.schedule() && self.since == now;
        self.users += u32::from(is_one);
        is_one
    }

    pub(super) fn let_out(&mut self) {
        self.users -= 1;
    }

    /// Moves all members to another path. Returns the number of links that their requests have passed so far.
    pub(super) fn turn(&mut self, left: &Passage, taken: &Passage, now: Time) -> f64 {
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

    #[test]
    fn a_member_of_a_crowd_has_the_same_account_as_alone() {
        let schedule = Schedule::Exact { first: Time::at(40.0), period: Duration::of(40.0) };
        let (mut together, mut alone) = (Accounts::new(2, false), Accounts::new(2, false));
        let mut crowd = Crowd::default();
        let mut members: Vec<UserIndex> = Vec::new();
        // Two users of a cell whose route changes every hundred units; the second joins later, between two changes.
        for number in 0_u32..12 {
            let units = f64::from(number) * 100.0;
            let now = Time::at(units);
            let passage = |waited: f64| Passage {
                takes: Duration::of(3.0 + f64::from(number)),
                waited,
                hops: f64::from(number % 3),
                failed: 0.0,
            };
            let (left, taken) = (passage(units * 0.7), passage(5.0 + units * 0.3));
            if crowd.users() > 0 {
                let hops = crowd.turn(&left, &taken, now);
                together.add_hops(hops);
            }
            for place in crowd.users() as usize..members.len() {
                together.count(members[place], Some(&left), now);
                together.take(members[place], &taken);
                together.gather(&mut crowd, &mut members, place, now);
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
                together.gather(&mut crowd, &mut members, place, joins);
            }
            if number == 9 {
                together.leave(UserIndex(0), &crowd);
                crowd.let_out();
                members.retain(|user| *user != UserIndex(0));
                for accounts in [&mut together, &mut alone] {
                    accounts.count(UserIndex(0), Some(&passage(900.0)), now + Duration::of(50.0));
                    accounts.end(UserIndex(0));
                }
            }
            assert_eq!(crowd.users() as usize, if number == 4 { 1 } else { members.len() });
            for user in [0, 1].map(UserIndex) {
                let sent = |accounts: &Accounts| accounts.sent(user, &crowd, Some(&taken), now + Duration::of(60.0)).0;
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
