//! Routing of client requests: the instance and the path.
//!
//! One file for each strategy: [`nearest`] is the default, [`least_used`] is the prototype's.

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

/// The route of a client request: the instance and the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Route {
    pub(crate) path: PathIndex,
    pub(crate) agent: AgentIndex,
}

/// The sender of a client request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    pub(crate) user: UserIndex,
    pub(crate) access_point: NodeIndex,
    pub(crate) application: ApplicationIndex,
}

/// The state of the world that routing depends on.
pub(crate) struct Terrain<'a> {
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

    /// The number of cells.
    pub(crate) fn cell_count(&self) -> usize {
        match self {
            Router::Nearest(router) => router.cell_count(),
            Router::LeastUsed(_) => 0,
        }
    }

    /// Whether the router is consistent with a scenario.
    pub(crate) fn holds_together(&self, scenario: &Scenario, agents: usize) -> bool {
        match (self, scenario.routing) {
            (Router::Nearest(router), Routing::Nearest(metric)) => router.holds_together(scenario, metric, agents),
            (Router::LeastUsed(_), Routing::LeastUsed) => true,
            _ => false,
        }
    }

    /// The route of a client request that is sent now; `None` when no instance is reachable.
    #[inline]
    pub(crate) fn route(&mut self, client: Client, terrain: &mut Terrain<'_>) -> Option<Route> {
        match self {
            Router::Nearest(router) => router.route(client, terrain),
            Router::LeastUsed(router) => router.route(client, terrain),
        }
    }

    /// The route of a request that an instance on a node sends to an application now; `None` if no instance of it is
    /// reachable.
    pub(crate) fn route_from(
        &mut self,
        node: NodeIndex,
        application: ApplicationIndex,
        terrain: &mut Terrain<'_>,
    ) -> Option<Route> {
        match self {
            Router::Nearest(router) => router.route_from(node, application, terrain),
            // The prototype's routing applies only to users; scenarios with calls have another one.
            Router::LeastUsed(_) => None,
        }
    }

    /// Updates routes after an instance has come to a node.
    pub(crate) fn instance_came(&mut self, application: ApplicationIndex, node: NodeIndex, terrain: &Terrain<'_>) {
        match self {
            Router::Nearest(router) => router.instance_came(application, node, terrain),
            Router::LeastUsed(router) => router.clear(),
        }
    }

    /// Updates routes after an instance has left a node.
    pub(crate) fn instance_left(&mut self, application: ApplicationIndex, node: NodeIndex, terrain: &Terrain<'_>) {
        match self {
            Router::Nearest(router) => router.instance_left(application, node, terrain),
            Router::LeastUsed(router) => router.clear(),
        }
    }

    /// Updates routes after nodes or links went up or down.
    pub(crate) fn infrastructure_changed(&mut self, terrain: &Terrain<'_>) {
        match self {
            Router::Nearest(router) => router.infrastructure_changed(terrain),
            Router::LeastUsed(router) => router.clear(),
        }
    }

    /// Updates the route of a user who moved to another access point.
    pub(crate) fn user_moved(&mut self, user: UserIndex) {
        match self {
            Router::Nearest(router) => router.user_moved(user),
            // The prototype keeps an entry for each access point that the user has been at.
            Router::LeastUsed(_) => {}
        }
    }

    /// The entries of the prototype's routing table that lead to an instance, in the order of insertion.
    pub(crate) fn entries(&self, agent: AgentIndex) -> impl Iterator<Item = &RouteEntry> {
        match self {
            Router::Nearest(_) => None,
            Router::LeastUsed(router) => Some(router.entries(agent)),
        }
        .into_iter()
        .flatten()
    }
}
