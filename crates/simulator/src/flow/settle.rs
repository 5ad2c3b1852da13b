//! Instances came and went: cells are routed anew.

use std::hint::black_box;

use mario_scenario::{LinkIndex, UserIndex};
use smallvec::SmallVec;

use super::calls::Beyond;
use super::load::Track;
use super::{Flow, FlowWorld, Mode, Reach};
use crate::paths::Paths;
use crate::routing::{CellIndex, Nearest, Route};

/// So many cells are glanced at together: enough for memory to work on, and few enough to be still there when needed.
pub(crate) const PREFETCHES: usize = 16;

/// With fewer cells than this, all of them are at hand anyway.
const CELLS_AT_HAND: usize = 10_000;

/// A route as it was. When the new ones of a cell are found, its path may be another one.
struct Former {
    reach: Reach,
    links: SmallVec<[LinkIndex; 16]>,
}

impl Former {
    fn new(route: Route, world: &FlowWorld<'_>) -> Former {
        Former { reach: world.reach(route), links: SmallVec::from_slice(world.track(route).links) }
    }

    fn track(&self) -> Track<'_> {
        Track { links: &self.links, agent: self.reach.agent }
    }
}

impl Flow {
    /// Instances came and went: cells whose routes are others now are routed anew.
    pub(crate) fn settle(&mut self, router: &mut Nearest, world: &mut FlowWorld<'_>) {
        let mut stale = std::mem::take(&mut self.stale);
        router.take_stale(&mut stale);
        self.note_stale(&stale, router, world);
        stale.retain(|cell| cell.position() < self.cells.len());
        // Instances come and go all over the world, and cells that are numbered one after another lie together.
        // A stable sort makes use of the order in which each instance left its own.
        stale.sort();
        let mut cleared = std::mem::take(&mut self.cleared);
        for agent in &cleared {
            self.is_cleared[agent.position()] = true;
            self.inflows.change(*agent).clear(&mut self.turns);
            self.load.clear_instance(*agent, world.now);
        }
        for cells in stale.chunks(PREFETCHES) {
            if self.is_large() {
                black_box(router.prefetch_for(cells, world.terrain.topology));
                self.prefetch_for(cells, world.terrain.paths);
            }
            for cell in cells {
                self.reroute(*cell, router, world);
                self.note_users(*cell, router, world);
            }
        }
        self.settle_calls(router, world);
        for agent in cleared.drain(..) {
            self.is_cleared[agent.position()] = false;
        }
        self.cleared = cleared;
        self.stale = stale;
    }

    /// Reads a little of what will be changed for these cells, so that it is fetched from memory for all at once.
    ///
    /// A change goes from the cell to its path and to users who are counted by themselves, and from there to links and instances. Here each part of the way
    /// is gone for all of them before the next, so that memory has as many things to fetch at a time as it can.
    fn prefetch_for(&self, cells: &[CellIndex], paths: &Paths) {
        let cells = cells.iter().filter_map(|cell| self.cells.get(cell.position()));
        let routes = || cells.clone().flat_map(|cell| &cell.routes);
        let mut count = cells.clone().map(|cell| cell.members.len()).sum::<usize>();
        let alone = cells.clone().flat_map(|cell| &cell.members[cell.crowd.users() as usize..]);
        let mut sum = alone.map(|user| self.accounts.prefetch_for(*user)).sum::<f64>();
        for route in routes() {
            count += paths.links(route.path).len() + self.inflows.prefetch_for(route.agent);
            sum += paths.latency(route.path).units() + self.load.prefetch_instance(route.agent);
        }
        count += routes().map(|route| paths.links(route.path).first().map_or(0, |link| link.0 as usize)).sum::<usize>();
        sum += routes().map(|route| self.load.prefetch_links(paths.links(route.path))).sum::<f64>();
        black_box((count, sum));
    }

    /// Reads a little of what will be changed when these users go to these cells.
    pub(crate) fn prefetch_moves(&self, moves: &[(UserIndex, CellIndex)], paths: &Paths) {
        let cells = moves.iter().flat_map(|(user, to)| [self.cell_of_user[user.position()], Some(*to)]);
        self.prefetch_for(&cells.flatten().collect::<SmallVec<[CellIndex; 2 * PREFETCHES]>>(), paths);
    }

    /// Whether there is so much that a prefetch ahead saves time.
    pub(crate) fn is_large(&self) -> bool {
        self.cells.len() >= CELLS_AT_HAND
    }

    fn reroute(&mut self, index: CellIndex, router: &mut Nearest, world: &mut FlowWorld<'_>) {
        let cell = &mut self.cells[index.position()];
        if cell.members.is_empty() {
            // The routes are found when somebody comes.
            cell.routes.clear();
            return;
        }
        if !matches!(cell.mode, Mode::Plain) {
            self.close(index, world);
            self.cells[index.position()].routes = SmallVec::from_slice(router.routes(index, &mut world.terrain));
            self.open(index, world);
            return;
        }
        let former = Former::new(cell.routes[0], world);
        cell.routes = SmallVec::from_slice(router.routes(index, &mut world.terrain));
        if let [to] = cell.routes[..] {
            if former.track() != world.track(to) || self.is_cleared[to.agent.position()] {
                self.shift(index, &former, to, world);
            }
            return;
        }
        cell.mode = Mode::Idle;
        self.part(index, former.track(), former.reach, Beyond::of(world));
        self.open(index, world);
    }

    /// The users of a cell, all of whose requests go to one instance, take another route: closes and opens it in one.
    fn shift(&mut self, index: CellIndex, former: &Former, route: Route, world: &FlowWorld<'_>) {
        let (from, to) = (former.reach, world.reach(route));
        let [left, taken] = self.shift_load(former.track(), world.track(route), self.rate_of(index), Beyond::of(world));
        let cell = &mut self.cells[index.position()];
        let (mut members, mut crowd) = (std::mem::take(&mut cell.members), cell.crowd);
        let together = crowd.users();
        if together > 0 {
            self.accounts.add_hops(crowd.turn(&left, &taken, world.now));
            self.end_stay(together, from, crowd.schedule(), world.now);
        }
        for place in together as usize..members.len() {
            let user = members[place];
            let Some(schedule) = self.accounts.schedule(user) else { continue };
            self.end_stay(1, from, schedule, world.now);
            self.accounts.count(user, Some(&left), world.now);
            self.accounts.take(user, &taken);
            self.accounts.gather(&mut crowd, &mut members, place, world.now);
        }
        self.begin_stays(&members, &crowd, to, world.now);
        let cell = &mut self.cells[index.position()];
        (cell.members, cell.crowd) = (members, crowd);
    }
}
