//! The results of the client requests of each user.
//!
//! A user's requests are accounted for only when the user's path changes: until then, their delays follow from the
//! state of the servers on the path ([`Passage`]). So reading an account changes nothing.

use mario_domain::{Duration, Time};
use mario_scenario::UserIndex;
use serde::{Deserialize, Serialize};

use super::crowd::Crowd;
use super::load::Passage;
use super::schedule::Schedule;
use super::window::Span;
use crate::recorder::Sent;

/// The results of the client requests of all users.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Accounts {
    of_user: Vec<Account>,
    /// In a separate vector, because hardly anything is lost.
    lost: Vec<f64>,
    /// The number of links that requests passed.
    hops: f64,
    /// For each user, the integral over time of the share of requests lost beyond the instance, at the last accounting;
    /// empty if no application calls another.
    failed: Vec<f64>,
}

/// The account of one user. All that a change of path needs is in one cache line.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
struct Account {
    /// `None` while the user does not send.
    schedule: Option<Schedule>,
    /// Orders users whose requests are sent at the same time: the latest arrival first, then by number.
    arrival: Time,
    /// The time up to which the user's requests are accounted for; infinite while the user is in a crowd.
    counted: Time,
    /// The accumulated wait on the user's path up to then.
    waited: f64,
    served: f64,
    response: Duration,
}

/// The results of requests.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) served: f64,
    pub(super) response: Duration,
    lost: f64,
    pub(super) hops: f64,
}

impl Count {
    /// The results of what a user sent in a span, all on one path with this accumulated wait before; `None` without a
    /// path.
    pub(super) fn new(schedule: Schedule, passage: Option<&Passage>, waited: f64, span: Span) -> Count {
        let count = schedule.count(span.from, span.until);
        match passage {
            _ if count <= 0.0 => Count::default(),
            None => Count { lost: count, ..Count::default() },
            Some(passage) => {
                let wait = (passage.waited - waited) / (span.until - span.from).units();
                let time = passage.takes + Duration::of(wait);
                Count { served: count, response: time * count, lost: 0.0, hops: count * passage.hops }
            }
        }
    }
}

impl Count {
    /// The same results, with this share of the served requests counted as lost.
    fn less(self, share: f64) -> Count {
        if share <= 0.0 {
            return self;
        }
        let lost = self.served * share;
        Count {
            served: self.served - lost,
            response: self.response * (1.0 - share),
            lost: self.lost + lost,
            hops: self.hops,
        }
    }
}

impl Accounts {
    /// Whether there are accounts of `users` users.
    pub(super) fn are_of(&self, users: usize) -> bool {
        self.of_user.len() == users && self.lost.len() == users && [0, users].contains(&self.failed.len())
    }

    pub(super) fn new(users: usize, has_calls: bool) -> Accounts {
        let failed = if has_calls { vec![0.0; users] } else { Vec::new() };
        Accounts { of_user: vec![Account::default(); users], lost: vec![0.0; users], hops: 0.0, failed }
    }

    /// Starts the account of a user who begins to send.
    pub(super) fn begin(&mut self, user: UserIndex, schedule: Schedule, now: Time) {
        let account = &mut self.of_user[user.position()];
        account.schedule = Some(schedule);
        (account.arrival, account.counted) = (now, now);
    }

    /// Ends the account of a user who stops sending.
    pub(super) fn end(&mut self, user: UserIndex) {
        self.of_user[user.position()].schedule = None;
    }

    /// When a user sends.
    pub(super) fn schedule(&self, user: UserIndex) -> Option<Schedule> {
        self.of_user[user.position()].schedule
    }

    /// When a user arrived, and so started to send.
    pub(super) fn arrival(&self, user: UserIndex) -> Time {
        self.of_user[user.position()].arrival
    }

    /// Prefetches what a change of path needs.
    pub(super) fn prefetch_for(&self, user: UserIndex) -> f64 {
        self.of_user[user.position()].counted.units()
    }

    /// Accounts for what a user sent since the last time, all on one path; `None` without a path.
    pub(super) fn count(&mut self, user: UserIndex, passage: Option<&Passage>, now: Time) {
        let failed = self.failed_since(user, passage, now);
        let account = &mut self.of_user[user.position()];
        let count = account.until(passage, now).less(failed);
        account.counted = now;
        account.served += count.served;
        account.response += count.response;
        self.hops += count.hops;
        if count.lost > 0.0 {
            self.lost[user.position()] += count.lost;
        }
    }

    /// Adds the user at this position, who has just been accounted for, to the crowd of the cell, if the schedules
    /// match. Members of the crowd come first.
    pub(super) fn gather(&mut self, crowd: &mut Crowd, members: &mut [UserIndex], place: usize, now: Time) {
        let account = &mut self.of_user[members[place].position()];
        let first_other = crowd.users() as usize;
        if !self.failed.is_empty() {
            // Losses beyond an instance are accounted for per user.
            return;
        }
        if account.schedule.is_some_and(|schedule| crowd.let_in(schedule, account.waited, now)) {
            account.served -= crowd.served;
            account.response -= crowd.response;
            account.counted = Time::NEVER;
            members.swap(first_other, place);
        }
    }

    /// Whether a user is in the crowd of its cell.
    pub(super) fn is_in_crowd(&self, user: UserIndex) -> bool {
        !self.of_user[user.position()].counted.is_finite()
    }

    /// Removes a user from a crowd.
    pub(super) fn leave(&mut self, user: UserIndex, crowd: &Crowd) {
        let account = &mut self.of_user[user.position()];
        *account = account.apart_from(crowd);
    }

    /// Adds links that the requests of a crowd went over.
    pub(super) fn add_hops(&mut self, hops: f64) {
        self.hops += hops;
    }

    /// Starts another path for a user who has just been accounted for.
    pub(super) fn take(&mut self, user: UserIndex, passage: &Passage) {
        self.of_user[user.position()].waited = passage.waited;
        if let Some(failed) = self.failed.get_mut(user.position()) {
            *failed = passage.failed;
        }
    }

    /// The results of all requests of a user so far, and the number of links that they passed since the last accounting.
    pub(super) fn sent(&self, user: UserIndex, crowd: &Crowd, passage: Option<&Passage>, now: Time) -> (Sent, f64) {
        let account = &self.of_user[user.position()];
        let account = if self.is_in_crowd(user) { account.apart_from(crowd) } else { *account };
        let count = account.until(passage, now).less(self.failed_since(user, passage, now));
        let (served, lost) = (account.served + count.served, self.lost[user.position()] + count.lost);
        // Where only a mean is known, fractions are not reported until they add up to a whole request.
        let whole = served.floor();
        let part = if served > 0.0 { whole / served } else { 0.0 };
        let response = (account.response + count.response) * part;
        (Sent { served: whole as u64, lost: lost.floor() as u64, response }, count.hops)
    }

    /// The share of the requests since the last accounting that were lost beyond the user's instance.
    fn failed_since(&self, user: UserIndex, passage: Option<&Passage>, now: Time) -> f64 {
        let (Some(before), Some(passage)) = (self.failed.get(user.position()), passage) else { return 0.0 };
        let span = (now - self.of_user[user.position()].counted).units();
        if span > 0.0 { ((passage.failed - before) / span).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The links that all accounted requests went over.
    pub(super) fn hops(&self) -> f64 {
        self.hops
    }
}

impl Account {
    /// The results of what the user sent since the last accounting.
    fn until(&self, passage: Option<&Passage>, now: Time) -> Count {
        let count = |schedule| Count::new(schedule, passage, self.waited, Span { from: self.counted, until: now });
        self.schedule.map_or_else(Count::default, count)
    }

    /// The account of a crowd's member on its own.
    fn apart_from(&self, crowd: &Crowd) -> Account {
        Account {
            counted: crowd.since,
            waited: crowd.waited,
            served: self.served + crowd.served,
            response: self.response + crowd.response,
            ..*self
        }
    }
}
