//! The routes of client requests, computed from the copies and dormant instances here, the links, and the neighbours'
//! routes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use mario_domain::{ApplicationId, NodeId};

use super::copies::Copies;
use crate::links::Links;
use crate::seams::{DormantInstance, NextHop, Routes};

/// The routes of a node, and their sources. A clone is a handle to the same board.
#[derive(Clone)]
pub(crate) struct Board {
    node: String,
    routes: Arc<ArcSwap<Routes>>,
    announced: Arc<Mutex<AnnouncedRoutes>>,
    dormant: Arc<Mutex<BTreeMap<ApplicationId, Vec<DormantInstance>>>>,
    copies: Copies,
    links: Links,
}

/// The routes through neighbours, and the names of all applications, including those here.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnnouncedRoutes {
    /// For each application, the neighbours that have a route to it, the best first.
    pub(crate) next_hops: BTreeMap<ApplicationId, Vec<NodeId>>,
    /// Host names and their applications.
    pub(crate) hosts: BTreeMap<String, ApplicationId>,
    /// Path prefixes and their applications, the longest first.
    pub(crate) prefixes: Vec<(String, ApplicationId)>,
    /// Whether every configured neighbour has sent its routes in the current session with it.
    pub(crate) are_complete: bool,
}

impl Board {
    pub(crate) fn new(node: &NodeId, copies: Copies, links: Links) -> Board {
        let node = crate::traffic::encode_id(node.id());
        let routes = Arc::new(ArcSwap::from_pointee(Routes { node: node.clone(), ..Routes::default() }));
        Board { node, routes, announced: Arc::default(), dormant: Arc::default(), copies, links }
    }

    /// The shared cell from which the data plane reads the current snapshot.
    pub(crate) fn routes(&self) -> &Arc<ArcSwap<Routes>> {
        &self.routes
    }

    /// Sets the routes through neighbours and the names, and publishes the result.
    pub(crate) fn set_announced(&self, announced: AnnouncedRoutes) {
        *self.announced.lock().unwrap_or_else(PoisonError::into_inner) = announced;
        self.publish();
    }

    /// Sets which instances here are dormant, and publishes the result.
    pub(crate) fn set_dormant(&self, dormant: BTreeMap<ApplicationId, Vec<DormantInstance>>) {
        *self.dormant.lock().unwrap_or_else(PoisonError::into_inner) = dormant;
        self.publish();
    }

    /// Recomputes the routes and publishes them.
    pub(crate) fn publish(&self) {
        // Held until the end: concurrent calls run one after the other, so that the last one publishes the newest
        // state.
        let announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        let copies = self.copies.serving();
        let hop = |neighbour: &NodeId| {
            let (link, latency_quanta) = self.links.data(neighbour)?;
            Some(NextHop { neighbour: neighbour.clone(), link, latency_quanta })
        };
        let next_hops: BTreeMap<ApplicationId, Vec<NextHop>> = announced
            .next_hops
            .iter()
            .map(|(application, neighbours)| (application.clone(), neighbours.iter().filter_map(hop).collect()))
            .collect();
        let (hosts, prefixes, are_complete) =
            (announced.hosts.clone(), announced.prefixes.clone(), announced.are_complete);
        let dormant = self.dormant.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let routes = Routes { node: self.node.clone(), copies, next_hops, hosts, prefixes, dormant, are_complete };
        self.routes.store(Arc::new(routes));
    }
}
