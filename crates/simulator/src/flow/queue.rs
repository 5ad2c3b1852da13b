//! The queue of a server that has more work than it can do: which of the requests sent to it have been served.
//!
//! The backlog at the time when a request is sent says how long it waits ([`Server`]). Requests are served first come,
//! first served. So at any time there is a *head*: the time before which all requests that have been served were sent.
//! The requests sent since then wait. A server thus never serves more than its capacity.

use std::collections::VecDeque;

use mario_domain::{Duration, Time};
use mario_scenario::LinkIndex;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::load::{LinkPath, Load, Server};
use super::schedule::Schedule;
use crate::population::AgentIndex;

/// A server that a request occupies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) enum ServerIndex {
    Link(LinkIndex),
    Instance(AgentIndex),
}

/// The queue of a server, from the time when its utilisation exceeded 1 until its backlog is empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Queue {
    /// The states of the server since the head was sent, each from the time of a change of its utilisation on.
    states: VecDeque<Server>,
    /// The head at the time when the server was removed. Requests that were sent later are lost.
    ended: Option<Time>,
}

/// A server above this utilisation is overloaded. The tolerance is for rounding errors of sums of rates.
pub(super) const OVERLOADED: f64 = 1.0 + 1e-9;

impl Queue {
    /// Whether a restored queue is valid.
    pub(super) fn is_valid(&self) -> bool {
        !self.states.is_empty() && self.states.iter().all(Server::is_finite)
    }

    /// Notes the state of the server after a change. Returns whether any request waits, or may wait soon.
    pub(super) fn change(&mut self, server: Server) -> bool {
        if self.ended.is_some() {
            return true;
        }
        if server.backlog <= 0.0 && server.busy <= OVERLOADED {
            return false;
        }
        if self.states.back().is_some_and(|last| last.since == server.since) {
            self.states.pop_back();
        }
        self.states.push_back(server);
        // The states before that of the head are not needed any more.
        while self.states.get(1).is_some_and(|second| second.first_served() <= server.since) {
            self.states.pop_front();
        }
        true
    }

    /// Notes that the server is removed. The requests that wait for it are lost.
    pub(super) fn end(&mut self, now: Time) {
        if self.ended.is_none() {
            self.ended = Some(self.head(now));
        }
    }

    /// The time before which all served requests were sent. Never later than `now`, and never earlier than before.
    pub(super) fn head(&self, now: Time) -> Time {
        if let Some(ended) = self.ended {
            return ended;
        }
        let mut until = now;
        for state in self.states.iter().rev() {
            let first_served = state.first_served();
            if first_served <= now {
                let is_empty = state.busy <= 0.0;
                return if is_empty { until } else { until.min(state.since + (now - first_served) / state.busy) };
            }
            until = state.since;
        }
        until
    }

    /// The integral of the wait over the send times, up to this time.
    fn waited_at(&self, time: Time) -> f64 {
        let state = self.states.iter().rev().find(|state| state.since <= time).or(self.states.front());
        state.map_or(0.0, |state| state.waited_until(time))
    }
}

/// Requests that were sent along one path, and of which some may still wait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Batch {
    /// The servers with a queue on the path, each with the integral of its wait at `until`.
    servers: SmallVec<[(ServerIndex, f64); 1]>,
    schedule: Schedule,
    /// The share of the requests of the schedule that take the path.
    share: f64,
    from: Time,
    until: Time,
    /// The time that a request takes on the path without waiting.
    takes: Duration,
}

/// Requests that were accounted for as served, and are not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Unserved {
    /// Requests that wait.
    pub(super) waiting: f64,
    /// Requests that are lost because the server that they waited for was removed.
    pub(super) lost: f64,
    /// The total response time that was accounted for both.
    pub(super) response: f64,
}

impl Unserved {
    pub(super) fn count(self) -> f64 {
        self.waiting + self.lost
    }

    pub(super) fn add(&mut self, other: Unserved) {
        self.waiting += other.waiting;
        self.lost += other.lost;
        self.response += other.response;
    }
}

impl Batch {
    /// Whether a restored batch is valid for a load.
    pub(super) fn is_of(&self, load: &Load) -> bool {
        self.servers.iter().all(|(server, _)| load.has(*server))
    }

    /// The requests of a schedule between two times, the later of which is now, along a path with these queues.
    pub(super) fn new(
        servers: &[ServerIndex],
        path: LinkPath<'_>,
        (schedule, share): (Schedule, f64),
        (from, now): (Time, Time),
        load: &Load,
    ) -> Batch {
        let with_wait = |server: &ServerIndex| {
            let waited = load.queue(*server).map_or(0.0, |queue| queue.waited_at(now));
            (*server, waited)
        };
        let servers = servers.iter().map(with_wait).collect();
        Batch { servers, schedule, share, from, until: now, takes: load.takes(path) }
    }

    /// The requests of the batch that are not served by `now`. The slowest of several queues on the path decides, so
    /// that none of its servers serves more than it can.
    pub(super) fn unserved(&self, load: &Load, now: Time) -> Unserved {
        let queues = || self.servers.iter().filter_map(|(server, until)| Some((load.queue(*server)?, *until)));
        let Some(head) = queues().map(|(queue, _)| queue.head(now)).min() else { return Unserved::default() };
        let head = head.max(self.from);
        let span = (self.until - head).units();
        if span <= 0.0 {
            return Unserved::default();
        }
        let count = self.schedule.count(head, self.until) * self.share;
        let waited: f64 = queues().map(|(queue, until)| (until - queue.waited_at(head)).max(0.0)).sum();
        let response = count * (self.takes.units() + waited / span);
        let is_lost = queues().any(|(queue, _)| queue.ended.is_some());
        if is_lost {
            Unserved { lost: count, response, waiting: 0.0 }
        } else {
            Unserved { waiting: count, response, lost: 0.0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load with one instance that serves a request in one unit of time.
    fn load() -> Load {
        let mut load = Load::empty();
        load.add_instance(Duration::of(1.0));
        load
    }

    const PATH: LinkPath<'static> = LinkPath { links: &[], agent: AgentIndex(0) };
    const SERVER: ServerIndex = ServerIndex::Instance(AgentIndex(0));

    fn rate(rate: f64) -> Schedule {
        Schedule::Mean { arrival: Time::ZERO, rate }
    }

    #[test]
    fn an_overloaded_server_serves_its_capacity_and_the_rest_waits() {
        let mut load = load();
        load.add(PATH, 2.0, Time::ZERO);
        let now = Time::at(100.0);
        let batch = Batch::new(&[SERVER], PATH, (rate(2.0), 1.0), (Time::ZERO, now), &load);
        let unserved = batch.unserved(&load, now);
        assert!((unserved.waiting - 100.0).abs() < 1e-9, "{unserved:?}");
        // The later half of the requests waits: those sent from 50 on, with waits from 50 to 100. The M/D/1 part of the
        // wait is the same for all.
        let steady = load.queue(SERVER).map_or(0.0, |queue| queue.waited_at(Time::at(1.0))) - 0.5;
        assert!((unserved.response - 100.0 * (1.0 + 75.0 + steady)).abs() < 1e-6, "{unserved:?} {steady}");
        // They are served when the overload is over, one in each unit of time.
        load.add(PATH, -2.0, now);
        let later = |time: f64| batch.unserved(&load, Time::at(time)).waiting;
        assert!((later(130.0) - 70.0).abs() < 1e-9 && later(200.0).abs() < 1e-9, "{} {}", later(130.0), later(200.0));
    }

    #[test]
    fn the_head_never_recedes_and_counts_what_was_served() {
        let mut load = load();
        let (mut sent, mut before, mut rate_now) = (0.0, Time::ZERO, 0.0);
        for (step, next) in [3.0, 1.0, 0.0, 0.5, 4.0, 0.0, 0.0].into_iter().enumerate() {
            let now = Time::at(step as f64 * 10.0);
            load.add(PATH, next - rate_now, now);
            rate_now = next;
            for part in 1..=10 {
                let time = now + Duration::of(f64::from(part));
                sent += rate_now;
                let head = load.queue(SERVER).map_or(time, |queue| queue.head(time));
                assert!(head >= before && head <= time, "{head} after {before} at {time}");
                before = head;
            }
        }
        assert!(sent > 60.0);
    }

    #[test]
    fn requests_that_wait_for_a_removed_server_are_lost() {
        let mut load = load();
        load.add(PATH, 2.0, Time::ZERO);
        let now = Time::at(100.0);
        let batch = Batch::new(&[SERVER], PATH, (rate(2.0), 1.0), (Time::ZERO, now), &load);
        load.remove_instance(AgentIndex(0), now);
        load.add(PATH, -2.0, now);
        let unserved = batch.unserved(&load, Time::at(500.0));
        assert!((unserved.lost - 100.0).abs() < 1e-9 && unserved.waiting == 0.0, "{unserved:?}");
    }
}
