//! Where client requests go: put together from the copies here, the links, and what neighbours told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use mario_domain::{ApplicationId, NodeId};

use super::copies::Copies;
use crate::links::Links;
use crate::seams::{NextHop, Routes};

/// The routes of a node, and what they are made of. A clone is a handle to the same.
#[derive(Clone)]
pub(crate) struct Board {
    node: String,
    colony: String,
    routes: Arc<ArcSwap<Routes>>,
    told: Arc<Mutex<ToldRoutes>>,
    copies: Copies,
    links: Links,
}

/// What is not known from copies and links.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToldRoutes {
    /// For each application, the neighbours by which it is reached, the nearest first.
    pub(crate) next_hops: BTreeMap<ApplicationId, Vec<NodeId>>,
    /// For each application, its host names and path prefixes.
    pub(crate) names: BTreeMap<ApplicationId, (Vec<String>, Vec<String>)>,
}

impl Board {
    pub(crate) fn new(node: &NodeId, colony: &str, copies: Copies, links: Links) -> Board {
        let (node, colony) = (crate::traffic::written(node.id()), colony.to_ascii_lowercase());
        let routes = Arc::new(ArcSwap::from_pointee(Routes { node: node.clone(), ..Routes::default() }));
        Board { node, colony, routes, told: Arc::default(), copies, links }
    }

    /// The snapshot that the data plane reads.
    pub(crate) fn routes(&self) -> &Arc<ArcSwap<Routes>> {
        &self.routes
    }

    /// Sets what neighbours told, and publishes.
    pub(crate) fn set_told(&self, told: ToldRoutes) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = told;
        self.publish();
    }

    /// Puts the routes together again.
    pub(crate) fn publish(&self) {
        // Held until the end, so that of two who publish at once the later one wins with the newer facts.
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let copies = self.copies.serving();
        let hop = |neighbour: &NodeId| {
            let (link, latency_quanta) = self.links.data(neighbour)?;
            Some(NextHop { neighbour: neighbour.clone(), link, latency_quanta })
        };
        let next_hops: BTreeMap<ApplicationId, Vec<NextHop>> = told
            .next_hops
            .iter()
            .map(|(application, neighbours)| (application.clone(), neighbours.iter().filter_map(hop).collect()))
            .collect();
        let mut hosts = BTreeMap::new();
        let mut prefixes = Vec::new();
        // Everywhere, an application is reached by its id, which its certificate carries: `shop` and `shop.COLONY`.
        for application in copies.keys().chain(next_hops.keys()) {
            let id = application.to_string().to_ascii_lowercase();
            hosts.insert(format!("{id}.{}", self.colony), application.clone());
            hosts.insert(id, application.clone());
        }
        for (application, (own_hosts, own_prefixes)) in &told.names {
            hosts.extend(own_hosts.iter().map(|host| (host.clone(), application.clone())));
            prefixes.extend(own_prefixes.iter().map(|prefix| (prefix.clone(), application.clone())));
        }
        prefixes.sort_by(|one: &(String, ApplicationId), other| {
            other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other))
        });
        prefixes.dedup_by(|one, other| one.0 == other.0);
        self.routes.store(Arc::new(Routes { node: self.node.clone(), copies, next_hops, hosts, prefixes }));
    }
}
