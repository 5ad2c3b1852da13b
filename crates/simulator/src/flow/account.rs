//! The results of the client requests of each user.
//!
//! A user's requests are not accounted for one by one, but together, for example when the user's path changes or the
//! user stops sending. Until then, their delays follow from the state of the servers on the path ([`PathDelay`]), so
//! reading an account does not modify it.

use mario_domain::{Duration, Time};
use mario_scenario::UserIndex;
use serde::{Deserialize, Serialize};

use super::cohort::Cohort;
use super::load::PathDelay;
use super::queue::Unserved;
use super::schedule::Schedule;
use super::window::Span;
use crate::recorder::UserResults;

/// The results of the client requests of all users.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Accounts {
    of_user: Vec<Account>,
    /// For each user, the number of lost requests. In a separate vector, because losses are rare.
    lost: Vec<f64>,
    /// The number of links passed by all accounted requests.
    hops: f64,
    /// For each user, the value of [`PathDelay::failed`] on the user's path when the user was last accounted for. Empty
    /// if no application calls another.
    failed: Vec<f64>,
}

/// The account of one user, in one cache line, because a change of path reads all of it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
struct Account {
    /// `None` while the user does not send.
    schedule: Option<Schedule>,
    /// When the user last arrived. Breaks ties between users who send at the same time: the latest arrival first, then
    /// by index.
    arrival: Time,
    /// The time up to which the user's requests are accounted for; infinite while the user is in a cohort.
    counted: Time,
    /// The value of [`PathDelay::waited`] on the user's path at `counted`.
    waited: f64,
    served: f64,
    response: Duration,
}

/// The results of some requests of a user.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) served: f64,
    pub(super) response: Duration,
    lost: f64,
    pub(super) hops: f64,
}

impl Count {
    /// The results of the requests that a user sent in a span. `delay` is the delay on their path, or the mean over
    /// several routes, and `waited` is its [`PathDelay::waited`] at the start of the span. Without a delay, no instance
    /// was reachable, and all requests are lost.
    pub(super) fn new(schedule: Schedule, delay: Option<&PathDelay>, waited: f64, span: Span) -> Count {
        let count = schedule.count(span.from, span.until);
        match delay {
            _ if count <= 0.0 => Count::default(),
            None => Count { lost: count, ..Count::default() },
            Some(delay) => {
                let wait = (delay.waited - waited) / (span.until - span.from).units();
                let time = delay.takes + Duration::of(wait);
                Count { served: count, response: time * count, lost: 0.0, hops: count * delay.hops }
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
    /// Whether there are accounts of exactly `users` users.
    pub(super) fn are_of(&self, users: usize) -> bool {
        self.of_user.len() == users && self.lost.len() == users && [0, users].contains(&self.failed.len())
    }

    pub(super) fn new(users: usize, has_calls: bool) -> Accounts {
        let failed = if has_calls { vec![0.0; users] } else { Vec::new() };
        Accounts { of_user: vec![Account::default(); users], lost: vec![0.0; users], hops: 0.0, failed }
    }

    /// Notes that a user begins to send. Earlier results of the user are kept.
    pub(super) fn begin(&mut self, user: UserIndex, schedule: Schedule, now: Time) {
        let account = &mut self.of_user[user.position()];
        account.schedule = Some(schedule);
        (account.arrival, account.counted) = (now, now);
    }

    /// Notes that a user stops sending. The results are kept.
    pub(super) fn end(&mut self, user: UserIndex) {
        self.of_user[user.position()].schedule = None;
    }

    /// The schedule of a user; `None` while the user does not send.
    pub(super) fn schedule(&self, user: UserIndex) -> Option<Schedule> {
        self.of_user[user.position()].schedule
    }

    /// The time up to which a user's requests are accounted for; `cohort` is that of the user's cell.
    pub(super) fn counted(&self, user: UserIndex, cohort: &Cohort) -> Time {
        if self.is_in_cohort(user) { cohort.since } else { self.of_user[user.position()].counted }
    }

    /// Corrects a user's account for requests that were accounted for as served, and were lost.
    pub(super) fn lose(&mut self, user: UserIndex, unserved: Unserved) {
        let account = &mut self.of_user[user.position()];
        account.served -= unserved.lost;
        account.response -= Duration::of(unserved.response);
        self.lost[user.position()] += unserved.lost;
    }

    /// When a user last arrived. The first request may be sent later.
    pub(super) fn arrival(&self, user: UserIndex) -> Time {
        self.of_user[user.position()].arrival
    }

    /// Prefetches the account of a user whose path will change. The return value only keeps the read from being
    /// optimised away.
    pub(super) fn prefetch_for(&self, user: UserIndex) -> f64 {
        self.of_user[user.position()].counted.units()
    }

    /// Accounts for the requests that a user sent since the last accounting. `delay` is the delay on their path, or the
    /// mean over several routes; without it, all are lost.
    pub(super) fn count(&mut self, user: UserIndex, delay: Option<&PathDelay>, now: Time) {
        let failed = self.failed_since(user, delay, now);
        let account = &mut self.of_user[user.position()];
        let count = account.until(delay, now).less(failed);
        account.counted = now;
        account.served += count.served;
        account.response += count.response;
        self.hops += count.hops;
        if count.lost > 0.0 {
            self.lost[user.position()] += count.lost;
        }
    }

    /// Adds the user at `members[place]`, who has just been accounted for, to the cohort of the cell, if
    /// [`Cohort::try_join`] accepts the user. Members of the cohort come first in `members`. Does nothing if any
    /// application calls another.
    pub(super) fn add_to_cohort(&mut self, cohort: &mut Cohort, members: &mut [UserIndex], place: usize, now: Time) {
        let account = &mut self.of_user[members[place].position()];
        let first_other = cohort.users() as usize;
        if !self.failed.is_empty() {
            // Requests that are lost because a call is lost are accounted for per user.
            return;
        }
        if account.schedule.is_some_and(|schedule| cohort.try_join(schedule, account.waited, now)) {
            account.served -= cohort.served;
            account.response -= cohort.response;
            account.counted = Time::NEVER;
            members.swap(first_other, place);
        }
    }

    /// Whether a user is in the cohort of its cell.
    pub(super) fn is_in_cohort(&self, user: UserIndex) -> bool {
        !self.of_user[user.position()].counted.is_finite()
    }

    /// Adds the results of a user's requests in a cohort to the user's account, when the user leaves the cohort.
    pub(super) fn leave(&mut self, user: UserIndex, cohort: &Cohort) {
        let account = &mut self.of_user[user.position()];
        *account = account.apart_from(cohort);
    }

    /// Adds the links passed by the requests of a cohort.
    pub(super) fn add_hops(&mut self, hops: f64) {
        self.hops += hops;
    }

    /// Switches a user, who has just been accounted for, to a path or to several routes with this (mean) delay.
    pub(super) fn take(&mut self, user: UserIndex, delay: &PathDelay) {
        self.of_user[user.position()].waited = delay.waited;
        if let Some(failed) = self.failed.get_mut(user.position()) {
            *failed = delay.failed;
        }
    }

    /// The results of all requests of a user so far, the number of requests sent, and the number of links passed by
    /// those since the last accounting. `unserved` are requests that are accounted for as served, and are not.
    pub(super) fn sent(
        &self,
        user: UserIndex,
        cohort: &Cohort,
        delay: Option<&PathDelay>,
        unserved: Unserved,
        now: Time,
    ) -> (UserResults, u64, f64) {
        let account = &self.of_user[user.position()];
        let account = if self.is_in_cohort(user) { account.apart_from(cohort) } else { *account };
        let count = account.until(delay, now).less(self.failed_since(user, delay, now));
        let (reached, lost) = (account.served + count.served, self.lost[user.position()] + count.lost);
        let emitted = reached.floor() as u64 + lost.floor() as u64;
        let (served, lost) = ((reached - unserved.count()).max(0.0), lost + unserved.lost);
        // Mean rates, and shares of requests lost through calls, yield fractions of requests. They are not reported
        // until they add up to a whole request.
        let whole = served.floor();
        let part = if served > 0.0 { whole / served } else { 0.0 };
        let mut response = account.response + count.response;
        if unserved.count() > 0.0 {
            response = Duration::of((response.units() - unserved.response).max(0.0));
        }
        let results = UserResults { served: whole as u64, lost: lost.floor() as u64, response: response * part };
        (results, emitted.max(results.served + results.lost), count.hops)
    }

    /// The share of the requests since the last accounting that were lost because a call of the serving instance was
    /// lost.
    fn failed_since(&self, user: UserIndex, delay: Option<&PathDelay>, now: Time) -> f64 {
        let (Some(before), Some(delay)) = (self.failed.get(user.position()), delay) else { return 0.0 };
        let span = (now - self.of_user[user.position()].counted).units();
        if span > 0.0 { ((delay.failed - before) / span).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The number of links passed by all accounted requests.
    pub(super) fn hops(&self) -> f64 {
        self.hops
    }
}

impl Account {
    /// The results of the requests sent since the last accounting, without losses through calls.
    fn until(&self, delay: Option<&PathDelay>, now: Time) -> Count {
        let count = |schedule| Count::new(schedule, delay, self.waited, Span { from: self.counted, until: now });
        self.schedule.map_or_else(Count::default, count)
    }

    /// The account of a member of a cohort, with the results of the member's requests in the cohort added.
    fn apart_from(&self, cohort: &Cohort) -> Account {
        Account {
            counted: cohort.since,
            waited: cohort.waited,
            served: self.served + cohort.served,
            response: self.response + cohort.response,
            ..*self
        }
    }
}
