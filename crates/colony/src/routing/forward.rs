//! Chooses the next hop of a client request.

use std::collections::BTreeMap;
use std::sync::Arc;

use mario_domain::{ApplicationId, NodeId};

/// How many nodes may forward a request with a new [`Trail`].
pub const HOPS_MAX: u8 = 64;

/// A snapshot of the next hops of all applications, which any number of threads may read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Routes {
    applications: BTreeMap<ApplicationId, Arc<Hops>>,
}

/// The hops for requests to one application.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hops {
    /// Whether requests go to an instance here.
    pub is_here: bool,
    /// Neighbours, the best first: the next hop, the neighbour to which an instance moved, then others that claim to
    /// have a route.
    pub next: Vec<NodeId>,
}

/// The path of a request so far, which the request carries with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trail {
    /// How many more nodes may forward the request.
    pub hops_left: u8,
    /// The nodes that the request has visited, including those that it came back from.
    pub visited: Vec<NodeId>,
}

/// How a node handles a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwarding<'a> {
    /// An instance here answers the request.
    Here,
    /// The request goes to a neighbour.
    To(&'a NodeId),
    /// No neighbour is left to try: the request goes back to the previous node, which tries another neighbour. At the
    /// first node, the client gets an error.
    Back,
    /// The request has no hops left.
    UsedUp,
}

/// Where a request goes next: here if requests go to an instance here, else to the best neighbour that it has not
/// visited and whose link works. `is_working` returns whether the link to a neighbour accepts requests.
pub fn forward<'a>(hops: Option<&'a Hops>, trail: &Trail, is_working: impl Fn(&NodeId) -> bool) -> Forwarding<'a> {
    let Some(hops) = hops else { return Forwarding::Back };
    if hops.is_here {
        return Forwarding::Here;
    }
    if trail.hops_left == 0 {
        return Forwarding::UsedUp;
    }
    let next = hops.next.iter().find(|next| !trail.visited.contains(next) && is_working(next));
    next.map_or(Forwarding::Back, Forwarding::To)
}

impl Routes {
    /// The hops of an application; `None` if there is neither an instance here nor a neighbour to try.
    pub fn get(&self, application: &ApplicationId) -> Option<&Hops> {
        self.applications.get(application).map(Arc::as_ref)
    }

    /// All applications with an instance here or a neighbour to try.
    pub fn iter(&self) -> impl Iterator<Item = (&ApplicationId, &Hops)> {
        self.applications.iter().map(|(application, hops)| (application, hops.as_ref()))
    }

    pub(super) fn set(&mut self, application: &ApplicationId, hops: Hops) {
        if hops == Hops::default() {
            self.applications.remove(application);
        } else {
            self.applications.insert(application.clone(), Arc::new(hops));
        }
    }
}

impl Trail {
    /// The trail of a request that a client has just sent to a node.
    pub fn new() -> Trail {
        Trail { hops_left: HOPS_MAX, visited: Vec::new() }
    }

    /// Records that the request arrived on a node.
    pub fn arrive(&mut self, node: &NodeId) {
        if !self.visited.contains(node) {
            self.visited.push(node.clone());
        }
    }

    /// Records that the request leaves for a neighbour.
    pub fn leave(&mut self) {
        self.hops_left = self.hops_left.saturating_sub(1);
    }
}

impl Default for Trail {
    fn default() -> Trail {
        Trail::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: i64) -> NodeId {
        NodeId::number(number)
    }

    #[test]
    fn goes_to_the_best_neighbour_that_works_and_was_not_visited_else_back() {
        let hops = Hops { is_here: false, next: vec![node(1), node(2), node(3)] };
        let mut trail = Trail::new();
        assert_eq!(forward(Some(&hops), &trail, |_| true), Forwarding::To(&node(1)));
        assert_eq!(forward(Some(&hops), &trail, |next| *next != node(1)), Forwarding::To(&node(2)));
        trail.arrive(&node(1));
        trail.arrive(&node(2));
        assert_eq!(forward(Some(&hops), &trail, |_| true), Forwarding::To(&node(3)));
        trail.arrive(&node(3));
        assert_eq!(forward(Some(&hops), &trail, |_| true), Forwarding::Back);
        assert_eq!(forward(None, &trail, |_| true), Forwarding::Back);
    }

    #[test]
    fn a_request_is_answered_here_on_its_last_hop_and_ends_beyond_it() {
        let trail = Trail { hops_left: 0, visited: Vec::new() };
        let here = Hops { is_here: true, next: vec![node(1)] };
        assert_eq!(forward(Some(&here), &trail, |_| true), Forwarding::Here);
        let elsewhere = Hops { is_here: false, ..here };
        assert_eq!(forward(Some(&elsewhere), &trail, |_| true), Forwarding::UsedUp);
    }
}
