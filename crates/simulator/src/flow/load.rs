//! How busy links and instances are, and how long requests wait for them.
//!
//! Two parts. What comes faster than it can be served piles up: the *backlog*, which grows and shrinks evenly between two
//! changes of traffic, and is kept exactly. And requests wait for each other even where all can be served, because they come
//! in no order: that part is what the theory of queues says of one server. Both are summed up over time, so that the mean
//! wait over any span is the difference of two sums, whatever happened in between.

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

/// One direction of a link, or an instance: something that requests wait for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
struct Server {
    pace: Pace,
    /// How many requests come in a unit of time.
    rate: f64,
    /// How much work comes in a unit of time; it can do 1.
    busy: f64,
    /// How much work was waiting at `since`.
    backlog: f64,
    since: Time,
    /// How long a request would have waited, summed up over time until `since`.
    waited: f64,
}

/// What requests go over, and the instance that they come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Track<'a> {
    pub(super) links: &'a [LinkIndex],
    pub(super) agent: AgentIndex,
}

/// What requests meet on their way.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Passage {
    /// How long it takes where nothing waits.
    pub(super) takes: Duration,
    /// How long a request would have waited, summed up over time until now.
    pub(super) waited: f64,
    /// How many links it is.
    pub(super) hops: f64,
    /// Which share of requests would have been lost beyond the instance, summed up over time until now.
    pub(super) failed: f64,
}

/// Beyond this share, the theory says that queues grow without end, which is what the backlog is for.
const BUSY_MAX: f64 = 0.95;

impl Load {
    /// Whether a restored load is valid for this topology and this number of instances.
    pub(super) fn is_of(&self, topology: &Topology, network: Network, instances: usize) -> bool {
        let founded = Load::new(topology, network, 0);
        self.instances.len() == instances
            && self.links.len() == founded.links.len()
            && self.links.iter().zip(&founded.links).all(|(one, other)| one.pace == other.pace)
    }

    /// Nothing goes over links yet; there is room for so many instances.
    pub(super) fn new(topology: &Topology, network: Network, instances: usize) -> Load {
        let link = |position| topology.link(LinkIndex(position as u32));
        let links = (0..topology.link_count()).map(|position| Server::new(Pace::of_link(link(position), network)));
        Load { links: links.collect(), instances: Vec::with_capacity(instances) }
    }

    /// A new instance, which takes so long for a request.
    pub(super) fn add_instance(&mut self, service_time: Duration) {
        self.instances.push(Server::new(Pace { takes: service_time, occupied: service_time }));
    }

    /// Nothing waits for an instance any more.
    pub(super) fn clear_instance(&mut self, agent: AgentIndex, now: Time) {
        let server = &mut self.instances[agent.position()];
        server.advance(now);
        server.backlog = 0.0;
    }

    /// How many requests come to an instance in a unit of time.
    pub(super) fn rate_at(&self, agent: AgentIndex) -> f64 {
        self.instances[agent.position()].rate
    }

    /// An instance does nothing for a while: what comes waits.
    pub(super) fn delay_instance(&mut self, agent: AgentIndex, delay: Duration, now: Time) {
        let server = &mut self.instances[agent.position()];
        server.advance(now);
        server.backlog += delay.units();
    }

    /// What requests meet on a track.
    pub(super) fn passage(&self, track: Track<'_>, now: Time) -> Passage {
        let mut passage = Passage::default();
        for link in track.links {
            passage.go_over(&self.links[link.0 as usize], now);
        }
        passage.end_at(&self.instances[track.agent.position()], now);
        passage
    }

    /// How long the slowest server on a track is occupied by a request.
    pub(super) fn slowest(&self, track: Track<'_>) -> f64 {
        let links = track.links.iter().map(|link| &self.links[link.0 as usize]);
        let all = links.chain([&self.instances[track.agent.position()]]);
        all.map(|server| server.pace.occupied.units()).fold(0.0, f64::max)
    }

    /// So many more requests per unit of time take a track; fewer if the number is negative. Gives what requests meet on it.
    pub(super) fn add(&mut self, track: Track<'_>, rate: f64, now: Time) -> Passage {
        let mut passage = Passage::default();
        self.add_on(track, rate, now, &mut passage);
        passage
    }

    /// So many requests per unit of time change from one track to another. Gives what requests meet on both.
    pub(super) fn shift(&mut self, from: Track<'_>, to: Track<'_>, rate: f64, now: Time) -> [Passage; 2] {
        let shared = from.links.iter().zip(to.links).take_while(|(one, other)| one == other).count();
        let mut left = Passage::default();
        for link in &from.links[..shared] {
            let server = &mut self.links[link.0 as usize];
            // Others who change their track now share some of these links.
            server.advance(now);
            left.go_over(server, now);
        }
        let mut taken = left;
        self.add_on(Track { links: &from.links[shared..], ..from }, -rate, now, &mut left);
        self.add_on(Track { links: &to.links[shared..], ..to }, rate, now, &mut taken);
        [left, taken]
    }

    /// Reads a little of what a change of load on links needs.
    pub(super) fn prefetch_links(&self, links: &[LinkIndex]) -> f64 {
        links.iter().map(|link| self.links[link.0 as usize].since.units()).sum()
    }

    /// Reads a little of what a change of load on an instance needs.
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

    /// The mean of several ways; `None` when there is none.
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

    /// So many more requests come in a unit of time.
    fn add(&mut self, rate: f64, now: Time) {
        self.advance(now);
        self.rate += rate;
        // What is left of sums of fractions is nothing.
        self.busy = (self.busy + rate * self.pace.occupied.units()).max(0.0);
    }

    /// Goes on to a later time; nothing has changed in between.
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

    /// The backlog after a while, and how long a request would have waited, summed up over time until then.
    fn after(&self, span: Duration) -> (f64, f64) {
        let span = span.units();
        let waited = self.waited + span * wait(self.busy, self.pace.occupied).units();
        let growth = self.busy - 1.0;
        if self.backlog <= 0.0 && growth <= 0.0 {
            return (0.0, waited);
        }
        // Until the end, or until nothing is left.
        let until = if growth < 0.0 { span.min(self.backlog / -growth) } else { span };
        let backlog = (self.backlog + growth * until).max(0.0);
        (backlog, waited + f64::midpoint(self.backlog, backlog) * until)
    }
}

/// The mean wait for a server that takes always the same time, when requests come at random.
fn wait(busy: f64, service: Duration) -> Duration {
    let busy = busy.clamp(0.0, BUSY_MAX);
    service * busy / (2.0 * (1.0 - busy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_that_of_the_textbook() {
        // Half busy: half of a service time on average.
        assert!((wait(0.5, Duration::of(3.0)).units() - 1.5).abs() < 1e-12);
        assert!(wait(0.0, Duration::of(3.0)).units().abs() < 1e-12);
        assert!(wait(7.0, Duration::of(1.0)).is_finite());
    }

    /// A server that takes so little for a request that requests do not wait for each other.
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
        // Half of its time is left for the backlog, so ten units of time are enough.
        is_about(at(&server, 14.0), (3.0, 41.0));
        is_about(at(&server, 100.0), (0.0, 50.0));
        server.advance(Time::at(14.0));
        is_about(at(&server, 100.0), (0.0, 50.0));
    }

    #[test]
    fn the_mean_wait_over_a_span_is_that_of_what_came_in_it() {
        // A quarter busy, then half, then not at all: each for ten units of time.
        let mut server = Server::new(Pace { takes: Duration::of(3.0), occupied: Duration::of(3.0) });
        server.add(0.25 / 3.0, Time::ZERO);
        server.add(0.25 / 3.0, Time::at(10.0));
        server.add(-0.5 / 3.0, Time::at(20.0));
        let expected = 10.0 * (wait(0.25, Duration::of(3.0)) + wait(0.5, Duration::of(3.0))).units();
        assert!((server.waited_until(Time::at(30.0)) - expected).abs() < 1e-9);
    }
}
