//! To the nearest instance; instances that are equally near take turns.
//!
//! Users of one application at one access point are a *cell*: they have the same routes, and take turns together. Routes
//! are found when they are needed, and kept until an instance comes or goes that is, or was, among the nearest of the cell.

use mario_colony::{ApplicationIndex, NodeIndex};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::field::{Field, Frontier, Ground};
use crate::routing::{Client, Route, Terrain};
use crate::scenario::Metric;

/// Which cell.
pub(crate) type CellIndex = u32;

const NO_CELL: CellIndex = CellIndex::MAX;

#[derive(Serialize, Deserialize)]
pub(crate) struct Nearest {
    metric: Metric,
    fields: Vec<Field>,
    of_user: Vec<CellIndex>,
    known: FxHashMap<(ApplicationIndex, NodeIndex), CellIndex>,
    cells: Vec<Cell>,
    /// Cells whose routes are to be found anew, since somebody last asked.
    stale: Vec<CellIndex>,
    #[serde(skip)]
    frontier: Frontier,
    #[serde(skip)]
    region: Vec<NodeIndex>,
    #[serde(skip)]
    found: Vec<NodeIndex>,
}

/// The users of one application at one access point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cell {
    application: ApplicationIndex,
    access_point: NodeIndex,
    is_stale: bool,
    /// The routes to the nearest instances.
    routes: SmallVec<[Route; 1]>,
    /// Whose turn it is.
    turn: u32,
}

impl Nearest {
    pub(crate) fn new(metric: Metric, users: usize, applications: usize) -> Nearest {
        Nearest {
            metric,
            fields: vec![Field::default(); applications],
            of_user: vec![NO_CELL; users],
            known: FxHashMap::default(),
            cells: Vec::new(),
            stale: Vec::new(),
            frontier: Frontier::default(),
            region: Vec::new(),
            found: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn route(&mut self, client: Client, terrain: &mut Terrain<'_>) -> Option<Route> {
        let mut index = self.of_user[client.user as usize];
        if index == NO_CELL {
            index = self.cell(client.application, client.access_point);
            self.of_user[client.user as usize] = index;
        }
        if self.cells[index as usize].is_stale {
            self.find(index, terrain);
        }
        let cell = &mut self.cells[index as usize];
        let route = *cell.routes.get(cell.turn as usize)?;
        cell.turn = if cell.turn as usize + 1 == cell.routes.len() { 0 } else { cell.turn + 1 };
        Some(route)
    }

    /// The cell of an application at an access point.
    pub(crate) fn cell(&mut self, application: ApplicationIndex, access_point: NodeIndex) -> CellIndex {
        *self.known.entry((application, access_point)).or_insert_with(|| {
            self.cells.push(Cell { application, access_point, is_stale: true, routes: SmallVec::new(), turn: 0 });
            self.cells.len() as CellIndex - 1
        })
    }

    /// The routes of a cell, found anew if they must be.
    pub(crate) fn routes(&mut self, index: CellIndex, terrain: &mut Terrain<'_>) -> &[Route] {
        if self.cells[index as usize].is_stale {
            self.find(index, terrain);
        }
        &self.cells[index as usize].routes
    }

    /// Cells whose routes may be different now, since the last call.
    pub(crate) fn take_stale(&mut self, stale: &mut Vec<CellIndex>) {
        stale.clear();
        stale.append(&mut self.stale);
    }

    fn find(&mut self, index: CellIndex, terrain: &mut Terrain<'_>) {
        let cell = &mut self.cells[index as usize];
        cell.is_stale = false;
        cell.turn = 0;
        cell.routes.clear();
        let Some(field) = self.fields.get(cell.application.position()) else { return };
        terrain.paths.descend(terrain.topology, cell.access_point, self.metric, field, &mut self.found);
        for node in &self.found {
            let path = terrain.paths.path_found(terrain.topology, cell.access_point, *node);
            let agents = terrain.placement.on_node(cell.application, *node);
            cell.routes.extend(agents.iter().map(|agent| Route { path, agent: *agent }));
        }
    }

    /// An instance of an application has come to a node.
    pub(crate) fn instance_came(&mut self, application: ApplicationIndex, node: NodeIndex, terrain: &Terrain<'_>) {
        let field = &mut self.fields[application.position()];
        if field.is_empty() {
            *field = Field::new(terrain.topology.node_count());
        }
        field.add(terrain.ground(self.metric), node, &mut self.frontier, &mut self.region);
        self.forget_region(application);
    }

    /// An instance of an application has left a node.
    pub(crate) fn instance_left(&mut self, application: ApplicationIndex, node: NodeIndex, terrain: &Terrain<'_>) {
        let hosts = |node| !terrain.placement.on_node(application, node).is_empty();
        let field = &mut self.fields[application.position()];
        field.remove(terrain.ground(self.metric), node, hosts, &mut self.frontier, &mut self.region);
        self.forget_region(application);
    }

    fn forget_region(&mut self, application: ApplicationIndex) {
        for node in &self.region {
            if let Some(index) = self.known.get(&(application, *node)) {
                let cell = &mut self.cells[*index as usize];
                if !cell.is_stale {
                    cell.is_stale = true;
                    self.stale.push(*index);
                }
            }
        }
    }

    /// Nodes or links went or came.
    pub(crate) fn infrastructure_changed(&mut self, terrain: &Terrain<'_>) {
        for (position, field) in self.fields.iter_mut().enumerate().filter(|(_, field)| !field.is_empty()) {
            let application = ApplicationIndex::at(position);
            let hosts = |node| !terrain.placement.on_node(application, node).is_empty();
            field.rebuild(terrain.ground(self.metric), hosts, &mut self.frontier);
        }
        for (index, cell) in (0..).zip(&mut self.cells) {
            if !cell.is_stale {
                cell.is_stale = true;
                self.stale.push(index);
            }
        }
    }

    pub(crate) fn user_moved(&mut self, user: u32) {
        self.of_user[user as usize] = NO_CELL;
    }
}

impl Terrain<'_> {
    fn ground(&self, metric: Metric) -> Ground<'_> {
        Ground { topology: self.topology, paths: self.paths, metric }
    }
}
