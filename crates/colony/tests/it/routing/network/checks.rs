//! The invariants that always hold, and those of a quiescent network.

use std::collections::BTreeSet;

use super::{Network, number};

impl Network {
    /// The distance of each node to the nearest instance over working links, by Dijkstra's algorithm; `None` if no
    /// instance is reachable.
    pub fn distances(&self, application: usize) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.nodes()];
        let alive = self.hosts[application].values().filter(|(host, _)| self.routers[*host].is_some());
        let mut open: BTreeSet<(u32, usize)> = alive.map(|(host, _)| (0, *host)).collect();
        while let Some((distance, node)) = open.pop_first() {
            if distances[node].is_some() {
                continue;
            }
            distances[node] = Some(distance);
            for link in self.adjacent[node].iter().filter(|link| self.works(**link)) {
                let [one, other] = self.links[*link].ends;
                let next = if one == node { other } else { one };
                if distances[next].is_none() {
                    open.insert((distance + self.links[*link].cost, next));
                }
            }
        }
        distances
    }

    /// Checks the invariants that always hold, for one node: following next hops over working links from it does not
    /// loop, it uses only feasible labels, and it announces no route to the next hop of that route. If the link to a
    /// next hop works and no labels are forged, the next hop has announced a label at least as good as the one in use.
    pub(super) fn check(&self, node: usize) {
        let Some(router) = &self.routers[node] else { return };
        for application in &self.applications {
            let (mut at, mut steps) = (node, 0);
            while let Some(next) = self.routers[at].as_ref().and_then(|router| router.next_hop(application)) {
                let next = number(next);
                if !self.link_between(at, next).is_some_and(|link| self.works(link)) {
                    break;
                }
                at = next;
                steps += 1;
                assert!(
                    steps <= self.nodes(),
                    "at {}: requests for {application} from {node} go in a circle",
                    self.now
                );
            }
            let Some(next) = router.next_hop(application) else { continue };
            let [announced, heard] = router.labels(application, next);
            let heard = heard.expect("a next hop has announced a label");
            let best = router.best_announced(application);
            assert!(best.is_none_or(|best| heard.is_better_than(best)), "{node} uses a label that is not feasible");
            assert!(announced.is_none(), "{node} announces to its next hop a route through it");
            let neighbour = number(next);
            if !self.is_forging && self.link_between(node, neighbour).is_some_and(|link| self.works(link)) {
                let best = self.routers[neighbour].as_ref().and_then(|router| router.best_announced(application));
                assert!(
                    best.is_some_and(|best| !heard.is_better_than(best)),
                    "{neighbour} has forgotten what it announced"
                );
            }
        }
    }

    /// Checks the invariants of a quiescent network: each running node has the right distance, or none if no instance
    /// is reachable, and following next hops leads to an instance at that distance.
    pub fn check_quiet(&self) {
        for application in 0..self.applications.len() {
            let distances = self.distances(application);
            for (node, distance) in distances.into_iter().enumerate() {
                let Some(router) = &self.routers[node] else { continue };
                let name = &self.applications[application];
                assert_eq!(router.distance(name), distance, "node {node}, application {name}, at {}", self.now);
                let Some(expected) = distance else { continue };
                let (mut at, mut cost) = (node, 0);
                while let Some(next) = self.routers[at].as_ref().and_then(|router| router.next_hop(name)) {
                    let link = self.link_between(at, number(next)).expect("neighbours");
                    assert!(self.works(link));
                    cost += self.links[link].cost;
                    at = number(next);
                }
                assert_eq!(cost, expected, "the way from {node}");
                assert!(self.hosts[application].values().any(|(host, _)| *host == at), "{at} has no instance");
            }
        }
    }
}
