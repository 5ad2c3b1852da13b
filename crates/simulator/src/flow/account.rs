//! What became of the client requests of each user.
//!
//! A user's requests are counted when the user's way changes, and not before: until then, how long they took follows from
//! what servers on the way keep of themselves ([`Passage`]). So whoever looks in between changes nothing.

use mario_domain::{Duration, Time};
use mario_scenario::UserIndex;
use serde::{Deserialize, Serialize};

use super::crowd::Crowd;
use super::load::Passage;
use super::schedule::Schedule;
use super::window::Span;
use crate::recorder::Sent;

/// What became of the client requests of all users.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Accounts {
    of_user: Vec<Account>,
    /// Apart from the rest: nearly nothing is lost.
    lost: Vec<f64>,
    /// Over how many links requests went.
    hops: f64,
    /// Which share of requests on the user's way had been lost beyond their instance when they were last counted, summed up over time; empty where
    /// no application calls another.
    failed: Vec<f64>,
}

/// One user. All that a change of way needs, in one line of a cache.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[repr(align(64))]
struct Account {
    /// `None` while the user does not send.
    schedule: Option<Schedule>,
    /// Orders users whose requests are sent at the same time: who arrived later is first, then by number.
    arrival: Time,
    /// Until when the user's requests have been counted; infinite while that is known of the crowd which the user is in.
    counted: Time,
    /// How long requests on the user's way had waited until then, summed up over time.
    waited: f64,
    served: f64,
    response: Duration,
}

/// What became of requests.
#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) served: f64,
    pub(super) response: Duration,
    lost: f64,
    pub(super) hops: f64,
}

impl Count {
    /// Of what a user sent in a span, all along one way on which requests had waited so long before; `None` when there was none.
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
    /// The same, with a share of what was served lost after all.
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
    /// Whether there is one for each of `users` users.
    pub(super) fn are_of(&self, users: usize) -> bool {
        self.of_user.len() == users && self.lost.len() == users && [0, users].contains(&self.failed.len())
    }

    pub(super) fn new(users: usize, has_calls: bool) -> Accounts {
        let failed = if has_calls { vec![0.0; users] } else { Vec::new() };
        Accounts { of_user: vec![Account::default(); users], lost: vec![0.0; users], hops: 0.0, failed }
    }

    /// A user begins to send.
    pub(super) fn begin(&mut self, user: UserIndex, schedule: Schedule, now: Time) {
        let account = &mut self.of_user[user.position()];
        account.schedule = Some(schedule);
        (account.arrival, account.counted) = (now, now);
    }

    /// A user sends no more.
    pub(super) fn end(&mut self, user: UserIndex) {
        self.of_user[user.position()].schedule = None;
    }

    /// When a user sends.
    pub(super) fn schedule(&self, user: UserIndex) -> Option<Schedule> {
        self.of_user[user.position()].schedule
    }

    /// When a user came, and so began to send.
    pub(super) fn arrival(&self, user: UserIndex) -> Time {
        self.of_user[user.position()].arrival
    }

    /// Reads a little of what a change of way needs.
    pub(super) fn prefetch_for(&self, user: UserIndex) -> f64 {
        self.of_user[user.position()].counted.units()
    }

    /// Counts what a user sent since it was last counted, all along one way; `None` when there was none.
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

    /// The user at this place, who has just been counted, joins the crowd of the cell, if it is one of them. Those in the crowd are
    /// first among the members.
    pub(super) fn gather(&mut self, crowd: &mut Crowd, members: &mut [UserIndex], place: usize, now: Time) {
        let account = &mut self.of_user[members[place].position()];
        let first_other = crowd.users() as usize;
        if !self.failed.is_empty() {
            // What is lost beyond an instance is counted user by user.
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

    /// A user is in a crowd no more.
    pub(super) fn leave(&mut self, user: UserIndex, crowd: &Crowd) {
        let account = &mut self.of_user[user.position()];
        *account = account.apart_from(crowd);
    }

    /// Requests of all users of a crowd went over so many links.
    pub(super) fn add_hops(&mut self, hops: f64) {
        self.hops += hops;
    }

    /// A user who has just been counted takes another way.
    pub(super) fn take(&mut self, user: UserIndex, passage: &Passage) {
        self.of_user[user.position()].waited = passage.waited;
        if let Some(failed) = self.failed.get_mut(user.position()) {
            *failed = passage.failed;
        }
    }

    /// What became of all that a user has sent until now, and over how many links it went since the user was counted last.
    pub(super) fn sent(&self, user: UserIndex, crowd: &Crowd, passage: Option<&Passage>, now: Time) -> (Sent, f64) {
        let account = &self.of_user[user.position()];
        let account = if self.is_in_crowd(user) { account.apart_from(crowd) } else { *account };
        let count = account.until(passage, now).less(self.failed_since(user, passage, now));
        let (served, lost) = (account.served + count.served, self.lost[user.position()] + count.lost);
        // Where only a mean is known, parts of requests wait until they are whole.
        let whole = served.floor();
        let part = if served > 0.0 { whole / served } else { 0.0 };
        let response = (account.response + count.response) * part;
        (Sent { served: whole as u64, lost: lost.floor() as u64, response }, count.hops)
    }

    /// Which share of what a user sent since it was last counted was lost beyond its instance.
    fn failed_since(&self, user: UserIndex, passage: Option<&Passage>, now: Time) -> f64 {
        let (Some(before), Some(passage)) = (self.failed.get(user.position()), passage) else { return 0.0 };
        let span = (now - self.of_user[user.position()].counted).units();
        if span > 0.0 { ((passage.failed - before) / span).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Over how many links the requests went that have been counted.
    pub(super) fn hops(&self) -> f64 {
        self.hops
    }
}

impl Account {
    /// What became of what the user sent since it was last counted.
    fn until(&self, passage: Option<&Passage>, now: Time) -> Count {
        let count = |schedule| Count::new(schedule, passage, self.waited, Span { from: self.counted, until: now });
        self.schedule.map_or_else(Count::default, count)
    }

    /// The account by itself of a user who is in a crowd.
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
