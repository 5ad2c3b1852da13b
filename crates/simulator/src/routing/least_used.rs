//! The prototype's routing table.
//!
//! The first request of a user from an access point creates an entry, if an instance is reachable. The table is cleared
//! whenever an instance is added, moved or removed, and whenever a node or link goes up or down. Of the instances with
//! the fewest hops, the entry leads to the one with the fewest entries; ties go to the one that became a candidate
//! first. The path of the entry leads to the *first* of those instances in the order of their creation, even if another
//! one is chosen.

use mario_scenario::{NodeIndex, UserIndex};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::paths::{PathBuilder, PathIndex};
use crate::population::AgentIndex;
use crate::routing::{Client, Route, RoutingContext};

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct LeastUsed {
    by_client: FxHashMap<(UserIndex, NodeIndex), Route>,
    /// For each instance, its entries in the order of insertion.
    entries: FxHashMap<AgentIndex, Vec<RouteEntry>>,
    /// How often each instance was chosen, in the order in which instances first became candidates.
    used: Vec<(AgentIndex, u32)>,
    #[serde(skip)]
    found: Vec<NodeIndex>,
    #[serde(skip)]
    path_builder: PathBuilder,
}

/// An entry of the routing table.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RouteEntry {
    pub(crate) access_point: NodeIndex,
    pub(crate) path: PathIndex,
}

impl LeastUsed {
    #[inline]
    pub(crate) fn route(&mut self, client: Client, context: &mut RoutingContext<'_>) -> Option<Route> {
        let key = (client.user, client.access_point);
        if let Some(route) = self.by_client.get(&key) {
            return Some(*route);
        }
        let route = self.find(client, context)?;
        self.by_client.insert(key, route);
        let entry = RouteEntry { access_point: client.access_point, path: route.path };
        self.entries.entry(route.agent).or_default().push(entry);
        Some(route)
    }

    fn find(&mut self, client: Client, context: &mut RoutingContext<'_>) -> Option<Route> {
        let placement = context.placement;
        let is_wanted = |node| !placement.on_node(client.application, node).is_empty();
        context.paths.nearest(context.topology, client.access_point, is_wanted, &mut self.found);
        let nearest = |agent: &AgentIndex| self.found.contains(&context.population.agent(*agent).node());
        let mut candidates = placement.agents(client.application).iter().filter(nearest);
        let first = candidates.next()?;
        let node = context.population.agent(first).node();
        context.paths.trace(client.access_point, node, &mut self.path_builder);
        let path = context.paths.path(context.topology, node, &self.path_builder);
        let chosen = least_used(&mut self.used, std::iter::once(first).chain(candidates));
        Some(Route { path, agent: chosen })
    }

    pub(crate) fn clear(&mut self) {
        self.by_client.clear();
        self.entries.clear();
        self.used.clear();
    }

    pub(crate) fn entries(&self, agent: AgentIndex) -> impl Iterator<Item = &RouteEntry> {
        self.entries.get(&agent).into_iter().flatten()
    }
}

/// The candidate that was chosen least often; in case of a tie, the one that became a candidate first. Counts this
/// choice.
fn least_used(used: &mut Vec<(AgentIndex, u32)>, candidates: impl Iterator<Item = AgentIndex>) -> AgentIndex {
    let mut best: Option<usize> = None;
    for agent in candidates {
        let place = used.iter().position(|(known, _)| *known == agent).unwrap_or_else(|| {
            used.push((agent, 0));
            used.len() - 1
        });
        if best.is_none_or(|best| (used[place].1, place) < (used[best].1, best)) {
            best = Some(place);
        }
    }
    let place = best.expect("at least one candidate");
    used[place].1 += 1;
    used[place].0
}
