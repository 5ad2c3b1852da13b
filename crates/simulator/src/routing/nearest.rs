//! Routes to the nearest instance, round robin between equally near ones.
//!
//! The users of one application at one access point form a *cell*: they have the same routes, and share one round
//! robin. Calls to the application from instances on the same node belong to the same cell. Routes are computed on
//! demand, and cached until one of the nearest instances of the cell is removed, an equally near or nearer one is
//! added, or a node or link goes up or down.

use mario_scenario::{ApplicationIndex, Metric, NodeIndex, Scenario, Topology, UserIndex, indices};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::field::{Destination, Field, Frontier, MetricGraph};
use crate::flow::PREFETCHES;
use crate::paths::{PathBuilder, PathIndex};
use crate::routing::{Client, Route, RoutingContext};

indices! {
    /// The index of a cell.
    pub(crate) CellIndex;
}

const NO_CELL: CellIndex = CellIndex(u32::MAX);

#[derive(Serialize, Deserialize)]
pub(crate) struct Nearest {
    metric: Metric,
    nodes: usize,
    /// For each application, its distance field, which also has the cell of each node.
    fields: Vec<Field>,
    cells: Vec<Cell>,
    /// Cells whose routes have become stale. Drained by `route`, `route_from` and `take_stale`.
    stale: Vec<CellIndex>,
    /// Used only if messages are simulated: the cells of users, and the rotation of each cell.
    of_user: Vec<CellIndex>,
    rotations: Vec<Rotation>,
    /// Used only if traffic is modelled as rates: for cells that have, or once had, several paths, the slots of all
    /// paths but the first.
    further: FxHashMap<CellIndex, Vec<PathIndex>>,
    #[serde(skip)]
    scratch: Box<Scratch>,
}

/// Reusable memory.
#[derive(Default)]
struct Scratch {
    frontier: Frontier,
    ends: Vec<NodeIndex>,
    path_builder: PathBuilder,
    /// The application of the path in `path_builder`, and its end; `None` if the path may be outdated.
    recent: Option<(ApplicationIndex, Destination)>,
    routes: Vec<Route>,
}

/// The users of one application at one access point, and the calls to it from that node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Cell {
    application: ApplicationIndex,
    access_point: NodeIndex,
    /// Used only if traffic is modelled as rates: the path to the nearest node with an instance, or to the first of
    /// several. Overwritten when the routes change.
    path: Option<PathIndex>,
}

/// Round robin of the requests of a cell between the nearest instances.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rotation {
    is_stale: bool,
    /// The routes to the nearest instances.
    routes: SmallVec<[Route; 1]>,
    /// The index of the next route.
    turn: u32,
}

impl Default for Rotation {
    fn default() -> Rotation {
        Rotation { is_stale: true, routes: SmallVec::new(), turn: 0 }
    }
}

/// Who refers to a computed path, which decides whether it may be overwritten.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeper {
    /// The cell alone. The path may be overwritten when the cell's routes change.
    Cell,
    /// Messages in transit. The path must not be overwritten.
    Messages,
}

impl Nearest {
    pub(crate) fn new(metric: Metric, nodes: usize, applications: usize) -> Nearest {
        Nearest {
            metric,
            nodes,
            fields: vec![Field::default(); applications],
            cells: Vec::new(),
            stale: Vec::new(),
            of_user: Vec::new(),
            rotations: Vec::new(),
            further: FxHashMap::default(),
            scratch: Box::default(),
        }
    }

    pub(crate) fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// Whether the routes are consistent with a scenario.
    pub(crate) fn is_consistent(&self, scenario: &Scenario, metric: Metric, agents: usize) -> bool {
        let nodes = scenario.topology.node_count();
        let rotations = self.rotations.len();
        let turns =
            |rotation: &Rotation| rotation.routes.is_empty() || (rotation.turn as usize) < rotation.routes.len();
        self.metric == metric
            && self.nodes == nodes
            && self.fields.len() == scenario.applications.len()
            && self.fields.iter().all(|field| field.is_consistent(&scenario.topology, agents))
            && self.of_user.len() <= scenario.users.len()
            && self.of_user.iter().all(|cell| *cell == NO_CELL || cell.position() < rotations)
            && rotations <= self.cells.len()
            && (rotations == 0 || self.stale.iter().all(|cell| cell.position() < rotations))
            && self.rotations.iter().all(turns)
    }

    /// The route of the next message of a user; `None` if no instance is reachable.
    #[inline]
    pub(crate) fn route(&mut self, client: Client, context: &mut RoutingContext<'_>) -> Option<Route> {
        for cell in self.stale.drain(..) {
            self.rotations[cell.position()].is_stale = true;
        }
        let index = match self.of_user.get(client.user.position()) {
            Some(index) if *index != NO_CELL => *index,
            _ => self.find_cell(client),
        };
        self.next_route(index, context)
    }

    /// The route of the next request from an instance on `node` to an application.
    pub(crate) fn route_from(
        &mut self,
        node: NodeIndex,
        application: ApplicationIndex,
        context: &mut RoutingContext<'_>,
    ) -> Option<Route> {
        for cell in self.stale.drain(..) {
            self.rotations[cell.position()].is_stale = true;
        }
        let index = self.cell(application, node);
        self.prepare_rotation(index);
        self.next_route(index, context)
    }

    #[inline]
    fn next_route(&mut self, index: CellIndex, context: &mut RoutingContext<'_>) -> Option<Route> {
        if self.rotations[index.position()].is_stale {
            self.find(index, Keeper::Messages, context);
            let rotation = &mut self.rotations[index.position()];
            (rotation.is_stale, rotation.turn) = (false, 0);
            rotation.routes.clear();
            rotation.routes.extend_from_slice(&self.scratch.routes);
        }
        let rotation = &mut self.rotations[index.position()];
        let route = *rotation.routes.get(rotation.turn as usize)?;
        rotation.turn = if rotation.turn as usize + 1 == rotation.routes.len() { 0 } else { rotation.turn + 1 };
        Some(route)
    }

    fn find_cell(&mut self, client: Client) -> CellIndex {
        let index = self.cell(client.application, client.access_point);
        if self.of_user.len() <= client.user.position() {
            self.of_user.resize(client.user.position() + 1, NO_CELL);
        }
        self.of_user[client.user.position()] = index;
        self.prepare_rotation(index);
        index
    }

    fn prepare_rotation(&mut self, index: CellIndex) {
        if self.rotations.len() <= index.position() {
            self.rotations.resize_with(index.position() + 1, Rotation::default);
        }
    }

    /// The cell of an application at an access point.
    pub(crate) fn cell(&mut self, application: ApplicationIndex, access_point: NodeIndex) -> CellIndex {
        let field = &mut self.fields[application.position()];
        field.prepare(self.nodes);
        field.cell(access_point).unwrap_or_else(|| {
            let index = CellIndex::at(self.cells.len());
            field.add_cell(access_point, index);
            self.cells.push(Cell { application, access_point, path: None });
            index
        })
    }

    /// The application of a cell.
    pub(crate) fn application(&self, cell: CellIndex) -> ApplicationIndex {
        self.cells[cell.position()].application
    }

    /// Creates the cells of the initial clients. They are numbered by application and access point, so that cells that
    /// share their nearest instance, and so change together, tend to be close in memory. Returns the number of cells.
    pub(crate) fn expect(&mut self, mut clients: Vec<(ApplicationIndex, NodeIndex)>) -> usize {
        clients.sort_unstable();
        clients.dedup();
        self.cells.reserve_exact(clients.len());
        for (application, access_point) in clients {
            self.cell(application, access_point);
        }
        self.cells.len()
    }

    /// Prefetches the entries of the distance field that the routes of these cells need: those of the first three nodes
    /// of each path. The rest of a path is usually shared with other cells. The return value only keeps the reads from
    /// being optimised away.
    pub(crate) fn prefetch_for(&self, cells: &[CellIndex], topology: &Topology) -> f64 {
        let place = |cell: &CellIndex| {
            let cell = &self.cells[cell.position()];
            (&self.fields[cell.application.position()], cell.access_point)
        };
        let mut places: SmallVec<[(&Field, NodeIndex); PREFETCHES]> = cells.iter().map(place).collect();
        for _ in 0..2 {
            for (field, node) in &mut places {
                *node = field.next(topology, *node).unwrap_or(*node);
            }
        }
        places.iter().map(|(field, node)| field.distance(*node)).sum()
    }

    /// The current routes of a cell. Their paths are valid until the next call for the same cell, which overwrites
    /// them.
    pub(crate) fn routes(&mut self, index: CellIndex, context: &mut RoutingContext<'_>) -> &[Route] {
        self.find(index, Keeper::Cell, context);
        &self.scratch.routes
    }

    /// Replaces the content of `stale` with the cells whose routes may have changed since the last call.
    pub(crate) fn take_stale(&mut self, stale: &mut Vec<CellIndex>) {
        stale.clear();
        stale.append(&mut self.stale);
    }

    fn find(&mut self, index: CellIndex, keeper: Keeper, context: &mut RoutingContext<'_>) {
        let Cell { application, access_point, .. } = self.cells[index.position()];
        let field = &mut self.fields[application.position()];
        field.refresh(access_point);
        self.scratch.routes.clear();
        let recent = self.scratch.recent.filter(|recent| recent.0 == application).map(|recent| recent.1);
        let destination =
            field.follow(context.graph(self.metric), access_point, recent, &mut self.scratch.path_builder);
        self.scratch.recent = Some((application, destination));
        match destination {
            Destination::Nowhere => {}
            Destination::One(node, agent) => {
                let path = self.path(index, 0, node, keeper, context);
                if let Some(agent) = agent {
                    self.scratch.routes.push(Route { path, agent });
                    return;
                }
                let agents = context.placement.on_node(application, node);
                self.scratch.routes.extend(agents.iter().map(|agent| Route { path, agent: *agent }));
                if let [agent] = agents {
                    self.fields[application.position()].remember(node, *agent);
                    self.scratch.recent = Some((application, Destination::One(node, Some(*agent))));
                }
            }
            Destination::Several => {
                let mut ends = std::mem::take(&mut self.scratch.ends);
                context.paths.descend(context.topology, access_point, self.metric, field, &mut ends);
                for (place, node) in ends.iter().enumerate() {
                    context.paths.trace(access_point, *node, &mut self.scratch.path_builder);
                    let path = self.path(index, place, *node, keeper, context);
                    let agents = context.placement.on_node(application, *node);
                    self.scratch.routes.extend(agents.iter().map(|agent| Route { path, agent: *agent }));
                }
                self.scratch.ends = ends;
                self.scratch.recent = None;
            }
        }
    }

    /// Returns the index of the path just found. For [`Keeper::Cell`], the path overwrites the cell's earlier path with
    /// the same `place`, the index of its end among the nearest nodes; for [`Keeper::Messages`], it is stored if it is
    /// new.
    fn path(
        &mut self,
        cell: CellIndex,
        place: usize,
        end: NodeIndex,
        keeper: Keeper,
        context: &mut RoutingContext<'_>,
    ) -> PathIndex {
        let RoutingContext { topology, paths, .. } = context;
        if keeper == Keeper::Messages {
            return paths.path(topology, end, &self.scratch.path_builder);
        }
        if place == 0 {
            let own = &mut self.cells[cell.position()].path;
            return *own.insert(paths.renew(topology, *own, end, &self.scratch.path_builder));
        }
        let further = self.further.entry(cell).or_default();
        let path = paths.renew(topology, further.get(place - 1).copied(), end, &self.scratch.path_builder);
        if further.len() < place {
            further.push(path);
        }
        path
    }

    /// Updates the distance field after an instance was added to a node, and marks the cells concerned as stale.
    pub(crate) fn instance_added(
        &mut self,
        application: ApplicationIndex,
        node: NodeIndex,
        context: &RoutingContext<'_>,
    ) {
        let field = &mut self.fields[application.position()];
        field.prepare(self.nodes);
        self.scratch.recent = None;
        field.add(context.graph(self.metric), node, &mut self.scratch.frontier, &mut self.stale);
    }

    /// Updates the distance field after an instance was removed from a node, and marks the cells concerned as stale.
    pub(crate) fn instance_removed(
        &mut self,
        application: ApplicationIndex,
        node: NodeIndex,
        context: &RoutingContext<'_>,
    ) {
        let hosts = |node| !context.placement.on_node(application, node).is_empty();
        let field = &mut self.fields[application.position()];
        self.scratch.recent = None;
        field.remove(context.graph(self.metric), node, hosts, &mut self.scratch.frontier, &mut self.stale);
    }

    /// Recomputes the distance fields after nodes or links went up or down, and marks all cells as stale.
    pub(crate) fn infrastructure_changed(&mut self, context: &RoutingContext<'_>) {
        self.scratch.recent = None;
        for (position, field) in self.fields.iter_mut().enumerate().filter(|(_, field)| !field.is_empty()) {
            let agents = context.placement.agents(ApplicationIndex::at(position)).iter();
            let hosts = agents.map(|agent| context.population.agent(agent).node());
            field.rebuild(context.graph(self.metric), hosts, &mut self.scratch.frontier);
        }
        for cell in &self.cells {
            self.fields[cell.application.position()].forget(cell.access_point, &mut self.stale);
        }
    }

    pub(crate) fn user_moved(&mut self, user: UserIndex) {
        if let Some(cell) = self.of_user.get_mut(user.position()) {
            *cell = NO_CELL;
        }
    }
}

impl RoutingContext<'_> {
    fn graph(&self, metric: Metric) -> MetricGraph<'_> {
        MetricGraph { topology: self.topology, paths: self.paths, metric }
    }
}
