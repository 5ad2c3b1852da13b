//! The parts of the simulation on which traffic depends.

use mario_domain::Time;
use mario_scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::inflow::ArrivalPath;
use super::load::LinkPath;
use crate::population::AgentIndex;
use crate::routing::{Route, RoutingContext};

/// The current state of the world, as far as traffic depends on it.
pub(crate) struct FlowWorld<'a> {
    pub(crate) now: Time,
    pub(crate) scenario: &'a Scenario,
    pub(crate) routing: RoutingContext<'a>,
}

/// An instance, and the path of requests to it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Endpoint {
    pub(super) agent: AgentIndex,
    pub(super) path: ArrivalPath,
}

impl FlowWorld<'_> {
    pub(super) fn link_path(&self, route: Route) -> LinkPath<'_> {
        LinkPath { links: self.routing.paths.links(route.path), agent: route.agent }
    }

    pub(super) fn endpoint(&self, route: Route) -> Endpoint {
        let paths = &self.routing.paths;
        let path = ArrivalPath { neighbour: paths.last_hop(route.path), latency: paths.latency(route.path) };
        Endpoint { agent: route.agent, path }
    }
}
