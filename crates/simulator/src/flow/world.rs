//! The parts of the simulation on which traffic depends.

use mario_domain::Time;
use mario_scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::inflow::Way;
use super::load::Track;
use crate::population::AgentIndex;
use crate::routing::{Route, Terrain};

/// The current state of the world, as far as traffic depends on it.
pub(crate) struct FlowWorld<'a> {
    pub(crate) now: Time,
    pub(crate) scenario: &'a Scenario,
    pub(crate) terrain: Terrain<'a>,
}

/// An instance, and the path of requests to it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Reach {
    pub(super) agent: AgentIndex,
    pub(super) way: Way,
}

impl FlowWorld<'_> {
    pub(super) fn track(&self, route: Route) -> Track<'_> {
        Track { links: self.terrain.paths.links(route.path), agent: route.agent }
    }

    pub(super) fn reach(&self, route: Route) -> Reach {
        let paths = &self.terrain.paths;
        let way = Way { neighbour: paths.last_hop(route.path), latency: paths.latency(route.path) };
        Reach { agent: route.agent, way }
    }
}
