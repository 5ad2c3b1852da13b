//! To the nearest instance; instances that are equally near take turns.

use mario_colony::{ApplicationIndex, NodeIndex};
use rustc_hash::FxHashMap;

use crate::routing::{Client, Route, Terrain};
use crate::scenario::Metric;

/// Routes are found when a request needs one, and kept until the placement of the application, the infrastructure or the
/// access point of the user changes.
pub(crate) struct Nearest {
    metric: Metric,
    /// For each application, a number that changes with its placement.
    versions: Vec<u32>,
    /// For each user, the routes in use and the version of the application that they belong to.
    of_user: Vec<(u32, u32)>,
    /// For each application and access point, its routes.
    known: Vec<FxHashMap<NodeIndex, u32>>,
    sets: Vec<RouteSet>,
    /// Places in `sets` that are free again, by application.
    free: Vec<u32>,
    found: Vec<NodeIndex>,
}

/// Routes to equally near instances.
#[derive(Clone, Default)]
struct RouteSet {
    routes: Vec<Route>,
    /// Whose turn it is.
    turn: u32,
}

impl Nearest {
    pub(crate) fn new(metric: Metric, users: usize, applications: usize) -> Nearest {
        Nearest {
            metric,
            versions: vec![1; applications],
            of_user: vec![(0, 0); users],
            known: vec![FxHashMap::default(); applications],
            sets: Vec::new(),
            free: Vec::new(),
            found: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn route(&mut self, client: Client, terrain: &mut Terrain<'_>) -> Option<Route> {
        let (set, version) = self.of_user[client.user as usize];
        let current = self.versions[client.application.position()];
        let set = if version == current {
            set
        } else {
            let set = self.find(client, terrain);
            self.of_user[client.user as usize] = (set, current);
            set
        };
        let set = &mut self.sets[set as usize];
        let route = *set.routes.get(set.turn as usize)?;
        set.turn = if set.turn as usize + 1 == set.routes.len() { 0 } else { set.turn + 1 };
        Some(route)
    }

    fn find(&mut self, client: Client, terrain: &mut Terrain<'_>) -> u32 {
        if let Some(known) = self.known[client.application.position()].get(&client.access_point) {
            return *known;
        }
        let placement = terrain.placement;
        let is_wanted = |node| !placement.on_node(client.application, node).is_empty();
        terrain.paths.nearest(terrain.topology, client.access_point, self.metric, is_wanted, &mut self.found);
        let index = self.free.pop().unwrap_or_else(|| {
            self.sets.push(RouteSet::default());
            self.sets.len() as u32 - 1
        });
        let set = &mut self.sets[index as usize];
        set.routes.clear();
        set.turn = 0;
        for node in &self.found {
            let path = terrain.paths.path_found(terrain.topology, client.access_point, *node);
            let agents = placement.on_node(client.application, *node);
            set.routes.extend(agents.iter().map(|agent| Route { path, agent: *agent }));
        }
        self.known[client.application.position()].insert(client.access_point, index);
        index
    }

    pub(crate) fn forget(&mut self, application: ApplicationIndex) {
        let known = &mut self.known[application.position()];
        let first = self.free.len();
        self.free.extend(known.drain().map(|(_, set)| set));
        // The order of a map is not to decide which memory is used next.
        self.free[first..].sort_unstable();
        self.versions[application.position()] += 1;
    }

    pub(crate) fn forget_all(&mut self) {
        for application in 0..self.versions.len() {
            self.forget(ApplicationIndex::at(application));
        }
    }

    pub(crate) fn user_moved(&mut self, user: u32) {
        self.of_user[user as usize].1 = 0;
    }
}
