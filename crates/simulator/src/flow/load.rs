//! The load of links and instances, and how long requests wait for them.
//!
//! The wait has two parts. Work that arrives faster than it can be served builds up a *backlog*, which grows and
//! shrinks linearly between two changes of traffic. Requests also wait for each other below full utilisation, because
//! they arrive irregularly; this part is estimated as the mean wait of an M/D/1 queue. Both are integrated over time:
//! the mean wait over a span is the difference of two integrals, divided by the length of the span.

use std::collections::BTreeMap;

use mario_domain::{Duration, Time};
use mario_scenario::{LinkIndex, Network, Topology};
use serde::{Deserialize, Serialize};

use super::queue::{OVERLOADED, Queue, ServerIndex};

use crate::network::Pace;
use crate::population::AgentIndex;

/// How busy links and instances are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    links: Vec<Server>,
    instances: Vec<Server>,
    /// The queues of the servers that are overloaded, or were and have not caught up.
    queues: BTreeMap<ServerIndex, Queue>,
}

/// A server in the sense of queueing theory: one direction of a link, or an instance.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct Server {
    pace: Pace,
    /// The arrival rate of requests, per unit of time.
    rate: f64,
    /// The utilisation: the work that arrives per unit of time, as a share of the capacity. Above 1, a backlog grows.
    pub(super) busy: f64,
    /// The backlog at `since`: the time that the server needs to serve it.
    pub(super) backlog: f64,
    pub(super) since: Time,
    /// The integral of the wait over time, until `since`.
    waited: f64,
}

/// The links that requests pass, and the instance that they reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LinkPath<'a> {
    pub(super) links: &'a [LinkIndex],
    pub(super) agent: AgentIndex,
}

/// The delay and losses of requests on a path.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct PathDelay {
    /// The delay without queueing.
    pub(super) takes: Duration,
    /// The integral over time, until now, of the total wait on the path. If the instance calls others,
    /// `CallFlow::complete` adds the integral of the time that its calls take.
    pub(super) waited: f64,
    /// The number of links, or its mean over several paths.
    pub(super) hops: f64,
    /// The integral over time, up to now, of the share of requests that are lost because a call of the instance is
    /// lost.
    pub(super) failed: f64,
}

/// Upper limit of the utilisation in the M/D/1 formula, which diverges at 1. Overload is covered by the backlog.
const BUSY_MAX: f64 = 0.95;

impl Load {
    /// Whether a restored load is valid for this topology and this number of instances.
    pub(super) fn is_of(&self, topology: &Topology, network: Network, instances: usize) -> bool {
        let fresh = Load::new(topology, network, 0);
        self.instances.len() == instances
            && self.links.len() == fresh.links.len()
            && self.links.iter().zip(&fresh.links).all(|(one, other)| one.pace == other.pace)
            && self.queues.iter().all(|(server, queue)| self.has(*server) && queue.is_valid())
    }

    /// A load of zero, with memory reserved for `instances` instances.
    pub(super) fn new(topology: &Topology, network: Network, instances: usize) -> Load {
        let link = |position| topology.link(LinkIndex(position as u32));
        let links = (0..topology.link_count()).map(|position| Server::new(Pace::of_link(link(position), network)));
        Load { links: links.collect(), instances: Vec::with_capacity(instances), queues: BTreeMap::new() }
    }

    #[cfg(test)]
    pub(super) fn empty() -> Load {
        Load { links: Vec::new(), instances: Vec::new(), queues: BTreeMap::new() }
    }

    /// Whether there is such a server.
    pub(super) fn has(&self, server: ServerIndex) -> bool {
        match server {
            ServerIndex::Link(link) => (link.0 as usize) < self.links.len(),
            ServerIndex::Instance(agent) => agent.position() < self.instances.len(),
        }
    }

    /// Whether requests wait anywhere because of an overload, or were lost with an overloaded instance.
    pub(super) fn has_queues(&self) -> bool {
        !self.queues.is_empty()
    }

    /// The queue of a server; `None` if it is not overloaded and has no backlog of an overload.
    pub(super) fn queue(&self, server: ServerIndex) -> Option<&Queue> {
        self.queues.get(&server)
    }

    /// The servers with a queue on a path.
    pub(super) fn queued(&self, path: LinkPath<'_>) -> impl Iterator<Item = ServerIndex> {
        let links = path.links.iter().map(|link| ServerIndex::Link(*link));
        links.chain([ServerIndex::Instance(path.agent)]).filter(|server| self.queues.contains_key(server))
    }

    /// The time that a request takes on a path without waiting.
    pub(super) fn takes(&self, path: LinkPath<'_>) -> Duration {
        let links = path.links.iter().map(|link| self.links[link.0 as usize].pace.takes);
        links.fold(self.instances[path.agent.position()].pace.takes, |sum, takes| sum + takes)
    }

    /// Adds an instance with this service time per request.
    pub(super) fn add_instance(&mut self, service_time: Duration) {
        self.instances.push(Server::new(Pace { takes: service_time, occupied: service_time }));
    }

    /// Clears the backlog of an instance that is removed. Requests that wait because of an overload are lost.
    pub(super) fn remove_instance(&mut self, agent: AgentIndex, now: Time) {
        let server = &mut self.instances[agent.position()];
        server.advance(now);
        server.backlog = 0.0;
        if let Some(queue) = self.queues.get_mut(&ServerIndex::Instance(agent)) {
            queue.end(now);
        }
    }

    /// The arrival rate at an instance, per unit of time.
    pub(super) fn rate_at(&self, agent: AgentIndex) -> f64 {
        self.instances[agent.position()].rate
    }

    /// Pauses an instance for `delay`. Requests queue in the meantime.
    pub(super) fn delay_instance(&mut self, agent: AgentIndex, delay: Duration, now: Time) {
        let server = &mut self.instances[agent.position()];
        server.advance(now);
        server.backlog += delay.units();
        if let Some(queue) = self.queues.get_mut(&ServerIndex::Instance(agent)) {
            queue.change(*server);
        }
    }

    /// The delay of requests on a path.
    pub(super) fn delay(&self, path: LinkPath<'_>, now: Time) -> PathDelay {
        let mut delay = PathDelay::default();
        for link in path.links {
            delay.go_over(&self.links[link.0 as usize], now);
        }
        delay.end_at(&self.instances[path.agent.position()], now);
        delay
    }

    /// The longest time for which a request occupies a single server on a path.
    pub(super) fn slowest(&self, path: LinkPath<'_>) -> f64 {
        let links = path.links.iter().map(|link| &self.links[link.0 as usize]);
        let all = links.chain([&self.instances[path.agent.position()]]);
        all.map(|server| server.pace.occupied.units()).fold(0.0, f64::max)
    }

    /// Adds a request rate to a path; the rate may be negative. Returns the delay of requests on it.
    pub(super) fn add(&mut self, path: LinkPath<'_>, rate: f64, now: Time) -> PathDelay {
        let mut delay = PathDelay::default();
        self.add_on(path, rate, now, &mut delay);
        delay
    }

    /// Moves a request rate from one path to another. Returns the delays of requests on both.
    pub(super) fn shift(&mut self, from: LinkPath<'_>, to: LinkPath<'_>, rate: f64, now: Time) -> [PathDelay; 2] {
        let shared = from.links.iter().zip(to.links).take_while(|(one, other)| one == other).count();
        let mut left = PathDelay::default();
        for link in &from.links[..shared] {
            let server = &mut self.links[link.0 as usize];
            // The rate of a shared link stays the same. Advancing it here makes later accesses at this time cheap.
            server.advance(now);
            left.go_over(server, now);
        }
        let mut taken = left;
        self.add_on(LinkPath { links: &from.links[shared..], ..from }, -rate, now, &mut left);
        self.add_on(LinkPath { links: &to.links[shared..], ..to }, rate, now, &mut taken);
        [left, taken]
    }

    /// Prefetches links whose load will change. The return value only keeps the reads from being optimised away.
    pub(super) fn prefetch_links(&self, links: &[LinkIndex]) -> f64 {
        links.iter().map(|link| self.links[link.0 as usize].since.units()).sum()
    }

    /// Prefetches an instance whose load will change. The return value only keeps the read from being optimised away.
    pub(super) fn prefetch_instance(&self, agent: AgentIndex) -> f64 {
        self.instances[agent.position()].since.units()
    }

    fn add_on(&mut self, path: LinkPath<'_>, rate: f64, now: Time, delay: &mut PathDelay) {
        for link in path.links {
            let server = &mut self.links[link.0 as usize];
            server.add(rate, now);
            delay.go_over(server, now);
            note(&mut self.queues, ServerIndex::Link(*link), *server);
        }
        let server = &mut self.instances[path.agent.position()];
        server.add(rate, now);
        delay.end_at(server, now);
        note(&mut self.queues, ServerIndex::Instance(path.agent), *server);
    }
}

/// Notes a change of a server that has a queue or is overloaded.
#[inline]
fn note(queues: &mut BTreeMap<ServerIndex, Queue>, index: ServerIndex, server: Server) {
    if server.busy > OVERLOADED {
        queues.entry(index).or_default().change(server);
    } else if !queues.is_empty()
        && let Some(queue) = queues.get_mut(&index)
        && !queue.change(server)
    {
        queues.remove(&index);
    }
}

impl PathDelay {
    fn go_over(&mut self, link: &Server, now: Time) {
        self.end_at(link, now);
        self.hops += 1.0;
    }

    fn end_at(&mut self, server: &Server, now: Time) {
        self.takes += server.pace.takes;
        self.waited += server.waited_until(now);
    }

    /// The mean of several delays; `None` without any.
    pub(super) fn mean(delays: impl ExactSizeIterator<Item = PathDelay>) -> Option<PathDelay> {
        let count = delays.len() as f64;
        let sum = delays.reduce(|sum, one| PathDelay {
            takes: sum.takes + one.takes,
            waited: sum.waited + one.waited,
            hops: sum.hops + one.hops,
            failed: sum.failed + one.failed,
        })?;
        Some(PathDelay {
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

    /// Advances to a later time. The rate was constant in between.
    fn advance(&mut self, now: Time) {
        let span = now - self.since;
        if span <= Duration::ZERO {
            return;
        }
        (self.backlog, self.waited) = self.after(span);
        self.since = now;
    }

    /// Whether all numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        let numbers = [self.rate, self.busy, self.backlog, self.waited];
        numbers.into_iter().all(f64::is_finite) && self.since.is_finite()
    }

    /// When the first of the requests sent since the last change is served.
    pub(super) fn first_served(&self) -> Time {
        self.since + Duration::of(self.backlog)
    }

    pub(super) fn waited_until(&self, now: Time) -> f64 {
        let span = now - self.since;
        if span <= Duration::ZERO { self.waited } else { self.after(span).1 }
    }

    /// The backlog after a span, and the integral of the wait up to its end.
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

/// The mean wait of an M/D/1 queue: Poisson arrivals, constant service time.
fn wait(busy: f64, service: Duration) -> Duration {
    let busy = busy.clamp(0.0, BUSY_MAX);
    service * busy / (2.0 * (1.0 - busy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_wait_equals_the_m_d_1_formula() {
        // At utilisation 1/2, the mean wait is half a service time.
        assert!((wait(0.5, Duration::of(3.0)).units() - 1.5).abs() < 1e-12);
        assert!(wait(0.0, Duration::of(3.0)).units().abs() < 1e-12);
        assert!(wait(7.0, Duration::of(1.0)).is_finite());
    }

    /// A server whose service time is so short that requests do not wait for each other.
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
