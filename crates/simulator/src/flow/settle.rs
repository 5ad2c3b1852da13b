//! Reroutes cells after instances came and went.

use std::hint::black_box;

use mario_scenario::{LinkIndex, UserIndex};
use smallvec::SmallVec;

use super::calls::Beyond;
use super::load::Track;
use super::{Flow, FlowWorld, Mode, Reach};
use crate::paths::Paths;
use crate::routing::{CellIndex, Nearest, Route};

/// How many cells are prefetched together: enough to overlap their cache misses, and few enough to be still cached when
/// needed.
pub(crate) const PREFETCHES: usize = 16;

/// With fewer cells than this, all of them fit into the cache anyway.
const CELLS_AT_HAND: usize = 10_000;

/// A former route. Its path may have been reused when the new routes of the cell are computed.
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
    /// Reroutes the cells whose routes changed because instances came and went.
    pub(crate) fn settle(&mut self, router: &mut Nearest, world: &mut FlowWorld<'_>) {
        let mut stale = std::mem::take(&mut self.stale);
        router.take_stale(&mut stale);
        self.note_stale(&stale, router, world);
        stale.retain(|cell| cell.position() < self.cells.len());
        // Instances come and go all over the world, and consecutive cells are adjacent in memory. A stable sort
        // benefits from the order in which each instance lists its own.
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

    /// Prefetches what will be changed for these cells, so that their cache misses overlap.
    ///
    /// A change goes from the cell to its path and to users with accounts of their own, and from there to links and
    /// instances. Here each step is done for all cells before the next, so that their cache misses overlap.
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

    /// Prefetches what will be changed when these users move to these cells.
    pub(crate) fn prefetch_moves(&self, moves: &[(UserIndex, CellIndex)], paths: &Paths) {
        let cells = moves.iter().flat_map(|(user, to)| [self.cell_of_user[user.position()], Some(*to)]);
        self.prefetch_for(&cells.flatten().collect::<SmallVec<[CellIndex; 2 * PREFETCHES]>>(), paths);
    }

    /// Whether the state is so large that prefetching pays.
    pub(crate) fn is_large(&self) -> bool {
        self.cells.len() >= CELLS_AT_HAND
    }

    fn reroute(&mut self, index: CellIndex, router: &mut Nearest, world: &mut FlowWorld<'_>) {
        let cell = &mut self.cells[index.position()];
        if cell.members.is_empty() {
            // The routes are computed when a user arrives.
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

    /// Moves the users of a cell from one route to another, with all requests to one instance: closes and opens their
    /// accounts in one step.
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
