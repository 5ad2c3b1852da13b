//! Client requests in transit.

use mario_colony::routing::{Forwarding, Trail, forward};
use mario_domain::NodeId;

use super::{Event, Network, Request, id, number};

impl Network {
    /// Sends a client request from a node.
    pub fn ask(&mut self, application: usize, node: usize) {
        let request = Request { application, trail: Trail::new(), path_back: Vec::new() };
        self.arrive(node, None, request);
    }

    pub(super) fn arrive(&mut self, at: usize, from: Option<usize>, mut request: Request) {
        let Some(router) = &self.routers[at] else {
            self.tally.broken += 1;
            return;
        };
        if let Some(from) = from
            && !self.link_between(from, at).is_some_and(|link| self.works(link))
        {
            self.tally.broken += 1;
            return;
        }
        request.trail.arrive(&id(at));
        let routes = router.routes();
        let is_working = |next: &NodeId| self.link_between(at, number(next)).is_some_and(|link| self.works(link));
        match forward(routes.get(&self.applications[request.application]), &request.trail, is_working) {
            Forwarding::Here => {
                self.tally.served += 1;
                self.tally.hops += request.trail.visited.len() as u64 - 1;
            }
            Forwarding::To(next) => {
                request.trail.leave();
                request.path_back.push(at);
                self.travel(at, number(next), request);
            }
            Forwarding::Back => match request.path_back.pop() {
                Some(back) => self.travel(at, back, request),
                None => self.fail(at, request.application),
            },
            Forwarding::UsedUp => self.tally.used_up += 1,
        }
    }

    fn fail(&mut self, at: usize, application: usize) {
        if self.distances(application)[at].is_some() {
            self.tally.failed += 1;
        }
    }

    fn travel(&mut self, from: usize, to: usize, request: Request) {
        let link = self.link_between(from, to).expect("neighbours");
        let at = self.now + f64::from(self.links[link].cost) / 1_000.0;
        self.schedule(at, Event::Arrive { at: to, from: Some(from), request });
    }
}
