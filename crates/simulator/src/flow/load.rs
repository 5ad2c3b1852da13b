//! How busy links and instances are, and how long requests wait for them.
//!
//! Two parts. What comes faster than it can be served piles up: the *backlog*, which grows and shrinks evenly between two
//! changes of traffic, and is kept exactly. And requests wait for each other even where all can be served, because they come
//! in no order: that part is what the theory of queues says of one server.

use mario_colony::AgentIndex;
use serde::{Deserialize, Serialize};

use super::CellWay;
use crate::network::Links;
use crate::paths::Paths;

/// How busy links and instances are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    links: Vec<Server>,
    instances: Vec<Server>,
}

/// One direction of a link, or an instance: something that requests wait for.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Server {
    /// How much work comes in a unit of time; it can do 1.
    busy: f64,
    /// How much work was waiting at `since`.
    backlog: f64,
    since: f64,
    /// The backlog, summed up over time until `since`.
    waited: f64,
}

/// Beyond this share, the theory says that queues grow without end, which is what the backlog is for.
const BUSY_MAX: f64 = 0.95;

/// What traffic goes over.
#[derive(Clone, Copy)]
pub(super) struct Carriers<'a> {
    pub(super) paths: &'a Paths,
    pub(super) links: &'a Links,
    /// How long the instance takes for a request.
    pub(super) service_time: f64,
    pub(super) now: f64,
}

impl Load {
    pub(super) fn new(links: usize) -> Load {
        Load { links: vec![Server::default(); links], instances: Vec::new() }
    }

    /// A new instance.
    pub(super) fn add_instance(&mut self) {
        self.instances.push(Server::default());
    }

    /// Nothing waits for an instance any more.
    pub(super) fn clear_instance(&mut self, agent: AgentIndex) {
        let server = &mut self.instances[agent.position()];
        server.backlog = 0.0;
    }

    /// So many more requests per unit of time take a way; fewer if the number is negative.
    pub(super) fn add(&mut self, way: &CellWay, rate: f64, carriers: Carriers<'_>) {
        let Carriers { paths, links, service_time, now } = carriers;
        for link in paths.links(way.path) {
            self.links[link.0 as usize].add(rate * links.occupied(*link), now);
        }
        self.instances[way.agent.position()].add(rate * service_time, now);
    }

    /// How long a request takes along a way apart from the backlog, and how many links it takes.
    pub(super) fn travel(&self, way: &CellWay, carriers: Carriers<'_>) -> (f64, f64) {
        let Carriers { paths, links, service_time, .. } = carriers;
        let all = paths.links(way.path);
        let takes = |link| links.takes(link) + wait(self.links[link.0 as usize].busy, links.occupied(link));
        let time: f64 = all.iter().map(|link| takes(*link)).sum();
        let served = service_time + wait(self.instances[way.agent.position()].busy, service_time);
        (time + served, all.len() as f64)
    }

    /// The backlog of everything on a way, summed up over time until now.
    pub(super) fn waited(&self, way: &CellWay, carriers: Carriers<'_>) -> f64 {
        let links = carriers.paths.links(way.path).iter().map(|link| &self.links[link.0 as usize]);
        let servers = links.chain([&self.instances[way.agent.position()]]);
        servers.map(|server| server.at(carriers.now).waited).sum()
    }
}

impl Server {
    fn add(&mut self, work: f64, now: f64) {
        *self = self.at(now);
        // What is left of sums of fractions is nothing.
        self.busy = (self.busy + work).max(0.0);
    }

    /// The same at a later time, when nothing has changed in between.
    fn at(self, now: f64) -> Server {
        let (span, growth) = (now - self.since, self.busy - 1.0);
        if span <= 0.0 {
            return self;
        }
        if self.backlog <= 0.0 && growth <= 0.0 {
            return Server { since: now, ..self };
        }
        // Until now, or until nothing is left.
        let until = if growth < 0.0 { span.min(self.backlog / -growth) } else { span };
        let backlog = (self.backlog + growth * until).max(0.0);
        let waited = self.waited + f64::midpoint(self.backlog, backlog) * until;
        Server { backlog, since: now, waited, ..self }
    }
}

/// The mean wait for a server that takes always the same time, when requests come at random.
fn wait(busy: f64, service: f64) -> f64 {
    let busy = busy.clamp(0.0, BUSY_MAX);
    service * busy / (2.0 * (1.0 - busy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_that_of_the_textbook() {
        // Half busy: half of a service time on average.
        assert!((wait(0.5, 3.0) - 1.5).abs() < 1e-12);
        assert!(wait(0.0, 3.0).abs() < 1e-12);
        assert!(wait(7.0, 1.0).is_finite());
    }

    #[test]
    fn a_backlog_grows_and_drains_evenly() {
        let mut server = Server::default();
        server.add(1.5, 0.0);
        let full = server.at(10.0);
        assert!((full.backlog - 5.0).abs() < 1e-12 && (full.waited - 25.0).abs() < 1e-12, "{full:?}");
        server.add(-1.0, 10.0);
        // Half of its time is left for the backlog, so ten units of time are enough.
        let half = server.at(14.0);
        assert!((half.backlog - 3.0).abs() < 1e-12 && (half.waited - 41.0).abs() < 1e-12, "{half:?}");
        let empty = server.at(100.0);
        assert!(empty.backlog.abs() < 1e-12 && (empty.waited - 50.0).abs() < 1e-12, "{empty:?}");
        assert!((half.at(100.0).waited - empty.waited).abs() < 1e-12, "looking in between changes nothing");
    }
}
