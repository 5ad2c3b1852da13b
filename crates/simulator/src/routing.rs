//! Routing of client requests and calls: chooses the instance and the path.
//!
//! Each strategy has its own file: [`nearest`] is the default, [`least_used`] is that of the prototype.

mod field;
mod least_used;
mod nearest;

use mario_scenario::{ApplicationIndex, NodeIndex, Routing, Scenario, Topology, UserIndex};
use serde::{Deserialize, Serialize};

use crate::paths::{PathIndex, Paths};
use crate::placement::Placement;
use crate::population::{AgentIndex, Population};

pub(crate) use field::Field;
pub(crate) use least_used::RouteEntry;
pub(crate) use nearest::{CellIndex, Nearest};

/// The route of a client request or a call: the instance and the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Route {
    pub(crate) path: PathIndex,
    pub(crate) agent: AgentIndex,
}

/// The sender of client requests: a user at an access point, and the application that the user wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub(crate) user: UserIndex,
    pub(crate) access_point: NodeIndex,
    pub(crate) application: ApplicationIndex,
}

/// The state of the world that routing depends on.
pub(crate) struct RoutingContext<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) paths: &'a mut Paths,
    pub(crate) placement: &'a Placement,
    pub(crate) population: &'a Population,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum Router {
    Nearest(Nearest),
    LeastUsed(least_used::LeastUsed),
}

impl Router {
    pub(crate) fn new(scenario: &Scenario) -> Router {
        match scenario.routing {
            Routing::Nearest(metric) => {
                Router::Nearest(Nearest::new(metric, scenario.topology.node_count(), scenario.applications.len()))
            }
            Routing::LeastUsed => Router::LeastUsed(least_used::LeastUsed::default()),
        }
    }

    /// The number of cells; 0 for the prototype's routing.
    pub(crate) fn cell_count(&self) -> usize {
        match self {
            Router::Nearest(router) => router.cell_count(),
            Router::LeastUsed(_) => 0,
        }
    }

    /// Whether the router is consistent with a scenario. Entries of the prototype's routing table are not checked.
    pub(crate) fn is_consistent(&self, scenario: &Scenario, agents: usize) -> bool {
        match (self, scenario.routing) {
            (Router::Nearest(router), Routing::Nearest(metric)) => router.is_consistent(scenario, metric, agents),
            (Router::LeastUsed(_), Routing::LeastUsed) => true,
            _ => false,
        }
    }

    /// The route of a client request that is sent now; `None` if no instance is reachable.
    #[inline]
    pub(crate) fn route(&mut self, client: Client, context: &mut RoutingContext<'_>) -> Option<Route> {
        match self {
            Router::Nearest(router) => router.route(client, context),
            Router::LeastUsed(router) => router.route(client, context),
        }
    }

    /// The route of a request that an instance on `node` sends to an application now; `None` if no instance of the
    /// application is reachable.
    pub(crate) fn route_from(
        &mut self,
        node: NodeIndex,
        application: ApplicationIndex,
        context: &mut RoutingContext<'_>,
    ) -> Option<Route> {
        match self {
            Router::Nearest(router) => router.route_from(node, application, context),
            // The prototype's routing applies only to users; scenarios with calls do not use it.
            Router::LeastUsed(_) => None,
        }
    }

    /// Discards the cached routes that an instance added to a node may change; with the prototype's routing, the whole
    /// table.
    pub(crate) fn instance_added(
        &mut self,
        application: ApplicationIndex,
        node: NodeIndex,
        context: &RoutingContext<'_>,
    ) {
        match self {
            Router::Nearest(router) => router.instance_added(application, node, context),
            Router::LeastUsed(router) => router.clear(),
        }
    }

    /// Discards the cached routes that the removal of an instance from a node may change; with the prototype's routing,
    /// the whole table.
    pub(crate) fn instance_removed(
        &mut self,
        application: ApplicationIndex,
        node: NodeIndex,
        context: &RoutingContext<'_>,
    ) {
        match self {
            Router::Nearest(router) => router.instance_removed(application, node, context),
            Router::LeastUsed(router) => router.clear(),
        }
    }

    /// Discards all cached routes after nodes or links went up or down.
    pub(crate) fn infrastructure_changed(&mut self, context: &RoutingContext<'_>) {
        match self {
            Router::Nearest(router) => router.infrastructure_changed(context),
            Router::LeastUsed(router) => router.clear(),
        }
    }

    /// Forgets the cell of a user whose access point changed, with the default routing.
    pub(crate) fn user_moved(&mut self, user: UserIndex) {
        match self {
            Router::Nearest(router) => router.user_moved(user),
            // The prototype keeps an entry for each access point that the user has been at.
            Router::LeastUsed(_) => {}
        }
    }

    /// The entries of the prototype's routing table that lead to an instance, in the order of insertion; empty for the
    /// default routing.
    pub(crate) fn entries(&self, agent: AgentIndex) -> impl Iterator<Item = &RouteEntry> {
        match self {
            Router::Nearest(_) => None,
            Router::LeastUsed(router) => Some(router.entries(agent)),
        }
        .into_iter()
        .flatten()
    }
}
