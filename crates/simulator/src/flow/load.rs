//! The load of links and instances, and how long requests wait for them.
//!
//! Two parts. Work that arrives faster than it can be served builds up the *backlog*, which grows and shrinks linearly
//! between two changes of traffic, and is exact. And requests wait for each other even where all can be served, because
//! they arrive at random: that part is the mean wait of an M/D/1 queue. Both are integrated over time, so that the mean
//! wait over any span is the difference of two integrals, whatever happened in between.

use mario_domain::{Duration, Time};
use mario_scenario::{LinkIndex, Network, Topology};
use serde::{Deserialize, Serialize};

use crate::network::Pace;
use crate::population::AgentIndex;

/// How busy links and instances are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    links: Vec<Server>,
    instances: Vec<Server>,
}

/// A server in the sense of queueing theory: one direction of a link, or an instance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
struct Server {
    pace: Pace,
    /// The arrival rate of requests.
    rate: f64,
    /// The utilisation: work per unit of time, of a capacity of 1.
    busy: f64,
    /// The backlog at `since`.
    backlog: f64,
    since: Time,
    /// The integral of the wait over time, until `since`.
    waited: f64,
}

/// The links that requests go over, and the instance that they reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Track<'a> {
    pub(super) links: &'a [LinkIndex],
    pub(super) agent: AgentIndex,
}

/// The delay and losses of requests on a track.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Passage {
    /// The delay without queueing.
    pub(super) takes: Duration,
    /// The integral of the wait over time, until now.
    pub(super) waited: f64,
    /// The number of links.
    pub(super) hops: f64,
    /// The integral over time, up to now, of the share of requests lost beyond the instance.
    pub(super) failed: f64,
}

/// Beyond this utilisation, the formula grows without bound, which is what the backlog is for.
const BUSY_MAX: f64 = 0.95;

impl Load {
    /// Whether a restored load is valid for this topology and this number of instances.
    pub(super) fn is_of(&self, topology: &Topology, network: Network, instances: usize) -> bool {
        let founded = Load::new(topology, network, 0);
        self.instances.len() == instances
            && self.links.len() == founded.links.len()
            && self.links.iter().zip(&founded.links).all(|(one, other)| one.pace == other.pace)
    }

    /// Without load; with capacity for `instances` instances.
    pub(super) fn new(topology: &Topology, network: Network, instances: usize) -> Load {
        let link = |position| topology.link(LinkIndex(position as u32));
        let links = (0..topology.link_count()).map(|position| Server::new(Pace::of_link(link(position), network)));
        Load { links: links.collect(), instances: Vec::with_capacity(instances) }
    }

    /// Adds an instance with this service time per request.
    pub(super) fn add_instance(&mut self, service_time: Duration) {
        self.instances.push(Server::new(Pace { takes: service_time, occupied: service_time }));
    }

    /// Clears the backlog of an instance.
    pub(super) fn clear_instance(&mut self, agent: AgentIndex, now: Time) {
        let server = &mut self.instances[agent.position()];
        server.advance(now);
        server.backlog = 0.0;
    }

    /// The arrival rate at an instance.
    pub(super) fn rate_at(&self, agent: AgentIndex) -> f64 {
        self.instances[agent.position()].rate
    }

    /// Pauses an instance, while requests queue.
    pub(super) fn delay_instance(&mut self, agent: AgentIndex, delay: Duration, now: Time) {
        let server = &mut self.instances[agent.position()];
        server.advance(now);
        server.backlog += delay.units();
    }

    /// The passage of requests on a track.
    pub(super) fn passage(&self, track: Track<'_>, now: Time) -> Passage {
        let mut passage = Passage::default();
        for link in track.links {
            passage.go_over(&self.links[link.0 as usize], now);
        }
        passage.end_at(&self.instances[track.agent.position()], now);
        passage
    }

    /// The longest time for which a request occupies a single server on a track.
    pub(super) fn slowest(&self, track: Track<'_>) -> f64 {
        let links = track.links.iter().map(|link| &self.links[link.0 as usize]);
        let all = links.chain([&self.instances[track.agent.position()]]);
        all.map(|server| server.pace.occupied.units()).fold(0.0, f64::max)
    }

    /// Adds a request rate to a track; a negative one removes it. Returns the passage of requests on it.
    pub(super) fn add(&mut self, track: Track<'_>, rate: f64, now: Time) -> Passage {
        let mut passage = Passage::default();
        self.add_on(track, rate, now, &mut passage);
        passage
    }

    /// Moves a request rate from one track to another. Returns the passages of both.
    pub(super) fn shift(&mut self, from: Track<'_>, to: Track<'_>, rate: f64, now: Time) -> [Passage; 2] {
        let shared = from.links.iter().zip(to.links).take_while(|(one, other)| one == other).count();
        let mut left = Passage::default();
        for link in &from.links[..shared] {
            let server = &mut self.links[link.0 as usize];
            // Brings a link up to date that other cells may change at the same time.
            server.advance(now);
            left.go_over(server, now);
        }
        let mut taken = left;
        self.add_on(Track { links: &from.links[shared..], ..from }, -rate, now, &mut left);
        self.add_on(Track { links: &to.links[shared..], ..to }, rate, now, &mut taken);
        [left, taken]
    }

    /// Prefetches what a change of load on links needs.
    pub(super) fn prefetch_links(&self, links: &[LinkIndex]) -> f64 {
        links.iter().map(|link| self.links[link.0 as usize].since.units()).sum()
    }

    /// Prefetches what a change of load on an instance needs.
    pub(super) fn prefetch_instance(&self, agent: AgentIndex) -> f64 {
        self.instances[agent.position()].since.units()
    }

    fn add_on(&mut self, track: Track<'_>, rate: f64, now: Time, passage: &mut Passage) {
        for link in track.links {
            let server = &mut self.links[link.0 as usize];
            server.add(rate, now);
            passage.go_over(server, now);
        }
        let server = &mut self.instances[track.agent.position()];
        server.add(rate, now);
        passage.end_at(server, now);
    }
}

impl Passage {
    fn go_over(&mut self, link: &Server, now: Time) {
        self.end_at(link, now);
        self.hops += 1.0;
    }

    fn end_at(&mut self, server: &Server, now: Time) {
        self.takes += server.pace.takes;
        self.waited += server.waited_until(now);
    }

    /// The mean of several passages; `None` if there are none.
    pub(super) fn mean(passages: impl ExactSizeIterator<Item = Passage>) -> Option<Passage> {
        let count = passages.len() as f64;
        let sum = passages.reduce(|sum, one| Passage {
            takes: sum.takes + one.takes,
            waited: sum.waited + one.waited,
            hops: sum.hops + one.hops,
            failed: sum.failed + one.failed,
        })?;
        Some(Passage {
            takes: sum.takes / count,
            waited: sum.waited / count,
            hops: sum.hops / count,
            failed: sum.failed / count,
        })
    }
}

impl Server {
    fn new(pace: Pace) -> Server {
        Server { pace, rate: 0.0, busy: 0.0, backlog: 0.0, since: Time::ZERO, waited: 0.0 }
    }

    /// Adds to the arrival rate.
    fn add(&mut self, rate: f64, now: Time) {
        self.advance(now);
        self.rate += rate;
        // Rounding errors of sums must not leave a negative load.
        self.busy = (self.busy + rate * self.pace.occupied.units()).max(0.0);
    }

    /// Advances to a later time, without a change in between.
    fn advance(&mut self, now: Time) {
        let span = now - self.since;
        if span <= Duration::ZERO {
            return;
        }
        (self.backlog, self.waited) = self.after(span);
        self.since = now;
    }

    fn waited_until(&self, now: Time) -> f64 {
        let span = now - self.since;
        if span <= Duration::ZERO { self.waited } else { self.after(span).1 }
    }

    /// The backlog after a span, and the integral of the wait until then.
    fn after(&self, span: Duration) -> (f64, f64) {
        let span = span.units();
        let waited = self.waited + span * wait(self.busy, self.pace.occupied).units();
        let growth = self.busy - 1.0;
        if self.backlog <= 0.0 && growth <= 0.0 {
            return (0.0, waited);
        }
        // The time until the end of the span or until the backlog is empty, whichever is earlier.
        let until = if growth < 0.0 { span.min(self.backlog / -growth) } else { span };
        let backlog = (self.backlog + growth * until).max(0.0);
        (backlog, waited + f64::midpoint(self.backlog, backlog) * until)
    }
}

/// The mean wait of an M/D/1 queue: constant service time, random arrivals.
fn wait(busy: f64, service: Duration) -> Duration {
    let busy = busy.clamp(0.0, BUSY_MAX);
    service * busy / (2.0 * (1.0 - busy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_wait_equals_the_m_d_1_formula() {
        // At utilisation 1/2: half a service time on average.
        assert!((wait(0.5, Duration::of(3.0)).units() - 1.5).abs() < 1e-12);
        assert!(wait(0.0, Duration::of(3.0)).units().abs() < 1e-12);
        assert!(wait(7.0, Duration::of(1.0)).is_finite());
    }

    /// A server with such a short service time that requests do not wait for each other.
    fn swift() -> Server {
        Server::new(Pace { takes: Duration::of(1e-15), occupied: Duration::of(1e-15) })
    }

    #[test]
    fn a_backlog_grows_and_drains_evenly() {
        let at = |server: &Server, time: f64| {
            let time = Time::at(time);
            let mut later = *server;
            later.advance(time);
            assert!((later.waited - server.waited_until(time)).abs() < 1e-12, "both ways to look are one");
            (later.backlog, later.waited)
        };
        let is_about = |found: (f64, f64), expected: (f64, f64)| {
            assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9, "{found:?}");
        };
        let mut server = swift();
        server.add(1.5e15, Time::ZERO);
        is_about(at(&server, 10.0), (5.0, 25.0));
        server.add(-1e15, Time::at(10.0));
        // Half of the capacity is left to drain the backlog, so ten units of time suffice.
        is_about(at(&server, 14.0), (3.0, 41.0));
        is_about(at(&server, 100.0), (0.0, 50.0));
        server.advance(Time::at(14.0));
        is_about(at(&server, 100.0), (0.0, 50.0));
    }

    #[test]
    fn the_mean_wait_over_a_span_is_that_of_the_requests_in_it() {
        // Utilisation 1/4, then 1/2, then 0: each for ten units of time.
        let mut server = Server::new(Pace { takes: Duration::of(3.0), occupied: Duration::of(3.0) });
        server.add(0.25 / 3.0, Time::ZERO);
        server.add(0.25 / 3.0, Time::at(10.0));
        server.add(-0.5 / 3.0, Time::at(20.0));
        let expected = 10.0 * (wait(0.25, Duration::of(3.0)) + wait(0.5, Duration::of(3.0))).units();
        assert!((server.waited_until(Time::at(30.0)) - expected).abs() < 1e-9);
    }
}
