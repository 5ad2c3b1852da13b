//! Reroutes cells after the placement or the infrastructure changed.

use std::hint::black_box;

use mario_scenario::{LinkIndex, UserIndex};
use smallvec::SmallVec;

use super::calls::CallContext;
use super::load::LinkPath;
use super::{Endpoint, Flow, FlowWorld, Mode};
use crate::paths::Paths;
use crate::routing::{CellIndex, Nearest, Route};

/// How many cells are prefetched together: enough to overlap their cache misses, and few enough that they are still
/// cached when they are used.
pub(crate) const PREFETCHES: usize = 16;

/// With fewer cells, all of them fit into the CPU cache, and prefetching does not pay.
const CELLS_IN_CPU_CACHE: usize = 10_000;

/// A former route, with a copy of its links: its path slot may be reused while the new routes are computed.
struct Former {
    endpoint: Endpoint,
    links: SmallVec<[LinkIndex; 16]>,
}

impl Former {
    fn new(route: Route, world: &FlowWorld<'_>) -> Former {
        Former { endpoint: world.endpoint(route), links: SmallVec::from_slice(world.link_path(route).links) }
    }

    fn link_path(&self) -> LinkPath<'_> {
        LinkPath { links: &self.links, agent: self.endpoint.agent }
    }
}

impl Flow {
    /// Reroutes the cells whose routes may have changed since the last call, drops the inflow of cleared instances
    /// and the backlog of removed ones, and updates calls.
    pub(crate) fn settle(&mut self, router: &mut Nearest, world: &mut FlowWorld<'_>) {
        let mut stale = std::mem::take(&mut self.stale);
        router.take_stale(&mut stale);
        self.note_stale(&stale, router, world);
        stale.retain(|cell| cell.position() < self.cells.len());
        // In order of index, because consecutive cells are adjacent in memory. The sort is stable because stable sorts
        // are faster on input that consists of sorted runs, one per instance here.
        stale.sort();
        let mut cleared = std::mem::take(&mut self.cleared);
        for agent in &cleared {
            self.is_cleared[agent.position()] = true;
            self.inflows.change(*agent).clear(&mut self.round_robins);
            // The requests that wait for a moved instance move with it.
            if !world.routing.population.agent(*agent).is_alive() {
                self.load.remove_instance(*agent, world.now);
            }
        }
        for cells in stale.chunks(PREFETCHES) {
            if self.is_large() {
                black_box(router.prefetch_for(cells, world.routing.topology));
                self.prefetch_for(cells, world.routing.paths);
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

    /// Prefetches the state that rerouting these cells will change.
    ///
    /// Rerouting follows pointers from the cell to its path and to users outside the cohort, and from there to links
    /// and instances. Each level is read for all cells before the next level, so that the cache misses overlap.
    fn prefetch_for(&self, cells: &[CellIndex], paths: &Paths) {
        let cells = cells.iter().filter_map(|cell| self.cells.get(cell.position()));
        let routes = || cells.clone().flat_map(|cell| &cell.routes);
        let mut count = cells.clone().map(|cell| cell.members.len()).sum::<usize>();
        let alone = cells.clone().flat_map(|cell| &cell.members[cell.cohort.users() as usize..]);
        let mut sum = alone.map(|user| self.accounts.prefetch_for(*user)).sum::<f64>();
        for route in routes() {
            count += paths.links(route.path).len() + self.inflows.prefetch_for(route.agent);
            sum += paths.latency(route.path).units() + self.load.prefetch_instance(route.agent);
        }
        count += routes().map(|route| paths.links(route.path).first().map_or(0, |link| link.0 as usize)).sum::<usize>();
        sum += routes().map(|route| self.load.prefetch_links(paths.links(route.path))).sum::<f64>();
        black_box((count, sum));
    }

    /// Prefetches the state that will change when these users move to these cells.
    pub(crate) fn prefetch_moves(&self, moves: &[(UserIndex, CellIndex)], paths: &Paths) {
        let cells = moves.iter().flat_map(|(user, to)| [self.cell_of_user[user.position()], Some(*to)]);
        self.prefetch_for(&cells.flatten().collect::<SmallVec<[CellIndex; 2 * PREFETCHES]>>(), paths);
    }

    /// Whether the state is so large that prefetching pays.
    pub(crate) fn is_large(&self) -> bool {
        self.cells.len() >= CELLS_IN_CPU_CACHE
    }

    fn reroute(&mut self, index: CellIndex, router: &mut Nearest, world: &mut FlowWorld<'_>) {
        let cell = &mut self.cells[index.position()];
        if cell.members.is_empty() {
            // Routes are computed again when a user arrives.
            cell.routes.clear();
            return;
        }
        if !matches!(cell.mode, Mode::Plain) {
            self.close(index, world);
            self.cells[index.position()].routes = SmallVec::from_slice(router.routes(index, &mut world.routing));
            self.open(index, world);
            return;
        }
        let former = Former::new(cell.routes[0], world);
        cell.routes = SmallVec::from_slice(router.routes(index, &mut world.routing));
        if let [to] = cell.routes[..] {
            if former.link_path() != world.link_path(to) || self.is_cleared[to.agent.position()] {
                self.keep_waiting(index, None, &[former.link_path()], CallContext::of(world));
                self.shift(index, &former, to, world);
            }
            return;
        }
        cell.mode = Mode::Idle;
        self.keep_waiting(index, None, &[former.link_path()], CallContext::of(world));
        self.part(index, former.link_path(), former.endpoint, CallContext::of(world));
        self.open(index, world);
    }

    /// Moves the requests of a cell's users from one route to another. Has the effect of [`Flow::part`] and
    /// [`Flow::open`].
    fn shift(&mut self, index: CellIndex, former: &Former, route: Route, world: &FlowWorld<'_>) {
        let (from, to) = (former.endpoint, world.endpoint(route));
        let [left, taken] =
            self.shift_load(former.link_path(), world.link_path(route), self.rate_of(index), CallContext::of(world));
        let cell = &mut self.cells[index.position()];
        let (mut members, mut cohort) = (std::mem::take(&mut cell.members), cell.cohort);
        let together = cohort.users();
        if together > 0 {
            self.accounts.add_hops(cohort.switch_path(&left, &taken, world.now));
            self.end_stay(together, from, cohort.schedule(), world.now);
        }
        for place in together as usize..members.len() {
            let user = members[place];
            let Some(schedule) = self.accounts.schedule(user) else { continue };
            self.end_stay(1, from, schedule, world.now);
            self.accounts.count(user, Some(&left), world.now);
            self.accounts.take(user, &taken);
            self.accounts.add_to_cohort(&mut cohort, &mut members, place, world.now);
        }
        self.begin_stays(&members, &cohort, to, world.now);
        let cell = &mut self.cells[index.position()];
        (cell.members, cell.cohort) = (members, cohort);
    }
}
