//! Propagates changed rates through the call graph.

use smallvec::SmallVec;

use mario_domain::Time;

use super::super::load::Load;
use super::super::schedule::Schedule;
use super::super::window::Window;
use super::super::{Flow, FlowCell, FlowWorld, Mode};
use super::{
    CallCell, CallContext, CallFlow, CallRoute, Caller, Contribution, Entry, Parts, Walk, WorkItem, parts, requests,
};
use crate::population::AgentIndex;
use crate::routing::{CellIndex, Nearest};

impl Flow {
    /// Updates the requests that the users of a cell send to instances that make calls, after the users or routes of
    /// the cell may have changed.
    #[inline]
    pub(in crate::flow) fn note_users(&mut self, index: CellIndex, router: &Nearest, world: &FlowWorld<'_>) {
        if self.calls.is_some() {
            self.update_contribution(index, router, world);
        }
    }

    #[inline(never)]
    fn update_contribution(&mut self, index: CellIndex, router: &Nearest, world: &FlowWorld<'_>) {
        if world.scenario.applications[router.application(index).position()].stages.is_empty() {
            return;
        }
        let cell = &self.cells[index.position()];
        let is_sending = !matches!(cell.mode, Mode::Idle);
        let agents: SmallVec<[AgentIndex; 2]> =
            cell.routes.iter().filter(|_| is_sending).map(|route| route.agent).collect();
        let of_user = |schedule: Schedule| parts(schedule.rate(), self.window);
        let total: Parts = self.sending(&cell.members).map(|(_, schedule)| of_user(schedule)).sum();
        let share = if agents.is_empty() { 0.0 } else { (total / agents.len() as Parts).floor() };
        let Some(calls) = &mut self.calls else { return };
        let new = Contribution { agents, share };
        let old = calls.users.insert(index, new.clone()).unwrap_or_default();
        if old != new {
            let rank = calls.rank[router.application(index).position()];
            calls.arrive(&old.agents, -old.share, rank);
            calls.arrive(&new.agents, new.share, rank);
        }
    }

    /// Puts cells whose routes may have changed, and calling instances whose inflow is dropped, on the work list.
    pub(in crate::flow) fn note_stale(&mut self, cells: &[CellIndex], router: &Nearest, world: &FlowWorld<'_>) {
        let Some(calls) = &mut self.calls else { return };
        for cell in cells.iter().filter(|cell| calls.cells.contains_key(cell)) {
            calls.work_list.insert((calls.rank[router.application(*cell).position()], WorkItem::Cell(*cell)));
        }
        for agent in self.cleared.iter().filter(|agent| calls.callers.contains_key(agent)) {
            let application = world.routing.population.agent(*agent).application();
            calls.work_list.insert((calls.rank[application.position()], WorkItem::Caller(*agent)));
        }
    }

    /// Processes the work list until all rates are consistent.
    pub(crate) fn settle_calls(&mut self, router: &mut Nearest, world: &mut FlowWorld<'_>) {
        let Some(mut calls) = self.calls.take() else { return };
        while let Some((rank, item)) = calls.work_list.pop_first() {
            match item {
                WorkItem::Cell(cell) => self.distribute(&mut calls, cell, rank, router, world),
                WorkItem::Caller(agent) => calls.enter(agent, &self.load, router, world),
            }
        }
        calls.start(&self.load, CallContext::of(world));
        self.calls = Some(calls);
        // The router may have created cells for calls, and users may join them later.
        if self.cells.len() < router.cell_count() {
            self.cells.resize_with(router.cell_count(), FlowCell::default);
        }
    }

    /// Routes the calls of a cell to the instances that are now the nearest.
    fn distribute(
        &mut self,
        calls: &mut CallFlow,
        index: CellIndex,
        rank: u32,
        router: &mut Nearest,
        world: &mut FlowWorld<'_>,
    ) {
        let Some(total) = calls.cells.get(&index).map(|cell| cell.total) else { return };
        let mut routes: SmallVec<[CallRoute; 1]> = SmallVec::new();
        if total > 0.0 {
            let found: SmallVec<[_; 2]> = router.routes(index, &mut world.routing).into();
            routes.extend(found.into_iter().map(|route| CallRoute::new(route, world)));
        }
        let share = if routes.is_empty() { 0.0 } else { (total / routes.len() as Parts).floor() };
        let cell = calls.cells.get(&index).cloned().unwrap_or_default();
        let is_moved = routes.iter().any(|route| self.is_cleared[route.endpoint.agent.position()]);
        if cell.routes == routes && cell.share.to_bits() == share.to_bits() && !is_moved {
            return;
        }
        if cell.routes != routes {
            // Requests on the old routes are accounted for before the routes change.
            for caller in cell.callers.keys() {
                calls.count(*caller, &self.load, CallContext::of(world));
            }
        }
        self.carry(&cell.routes, -cell.share, world.now);
        self.carry(&routes, share, world.now);
        let agents =
            |routes: &[CallRoute]| routes.iter().map(|route| route.endpoint.agent).collect::<SmallVec<[_; 2]>>();
        if !world.scenario.applications[router.application(index).position()].stages.is_empty() {
            calls.arrive(&agents(&cell.routes), -cell.share, rank);
            calls.arrive(&agents(&routes), share, rank);
        }
        calls.cells.insert(index, CallCell { share, routes, ..cell });
    }

    /// Adds a rate to each of these routes. A negative rate reduces the load.
    fn carry(&mut self, routes: &[CallRoute], share: Parts, now: Time) {
        if share == 0.0 {
            return;
        }
        let rate = requests(share) / self.window.units();
        for route in routes {
            let (agent, path) = (route.endpoint.agent, route.endpoint.path);
            self.load.add(route.link_path(), rate, now);
            // The inflow of a removed or moved instance is already cleared, and the agent of a frozen one continues to
            // see the requests that would have reached it.
            let is_kept = self.is_cleared[agent.position()] || self.frozen.contains(&agent);
            if share > 0.0 || !is_kept {
                self.inflows.change(agent).flow_in(path, requests(share), Window { length: self.window, now });
            }
        }
    }
}

impl CallFlow {
    /// Adds a rate to the arrivals at each of these instances. The rate may be negative.
    fn arrive(&mut self, agents: &[AgentIndex], share: Parts, rank: u32) {
        for agent in agents {
            self.callers.entry(*agent).or_default().arrivals += share;
            self.work_list.insert((rank, WorkItem::Caller(*agent)));
        }
    }

    /// Replaces the calls of an instance by those for its current arrivals, sent from its current node.
    fn enter(&mut self, agent: AgentIndex, load: &Load, router: &mut Nearest, world: &FlowWorld<'_>) {
        let context = CallContext::of(world);
        let node = world.routing.population.agent(agent).node();
        let Some(arrivals) = self.callers.get(&agent).map(|caller| caller.arrivals) else { return };
        let mut entries: SmallVec<[Entry; 2]> = SmallVec::new();
        if arrivals > 0.0 {
            for call in context.stages(agent).iter().flat_map(|stage| &stage.calls) {
                let cell = router.cell(call.application, node);
                entries.push(Entry { cell, amount: arrivals * Parts::from(call.requests), waited: 0.0, failed: 0.0 });
            }
        }
        self.count(agent, load, context);
        let caller = self.callers.entry(agent).or_default();
        let old = std::mem::replace(&mut caller.entries, entries.clone());
        let changes = old.iter().map(|entry| (entry, -1)).chain(entries.iter().map(|entry| (entry, 1)));
        for (entry, sign) in changes {
            let cell = self.cells.entry(entry.cell).or_default();
            cell.total += f64::from(sign) * entry.amount;
            let calls = cell.callers.entry(agent).or_default();
            *calls = calls.saturating_add_signed(sign);
            if *calls == 0 {
                cell.callers.remove(&agent);
            }
            self.work_list.insert((self.rank[router.application(entry.cell).position()], WorkItem::Cell(entry.cell)));
        }
    }

    /// Accounts for the calls of an instance since the last accounting, before its calls or their routes change.
    fn count(&mut self, agent: AgentIndex, load: &Load, context: CallContext<'_>) {
        self.to_start.insert(agent);
        let Some(caller) = self.callers.get(&agent) else { return };
        let span = (context.now - caller.since).units();
        if span <= 0.0 {
            return;
        }
        let walk = Walk::new(load, context);
        let (called, failed) = self.until(caller, agent, &walk);
        let counted = self.counted(caller, agent, &walk);
        self.keep_waiting(agent, load, context);
        for (call, account) in counted {
            self.accounts[call].add(&account);
        }
        if let Some(caller) = self.callers.get_mut(&agent) {
            (caller.called, caller.failed, caller.since) = (called, failed, context.now);
        }
    }

    /// Stores the integrals on the current routes, from which the next accounting starts.
    fn start(&mut self, load: &Load, context: CallContext<'_>) {
        for agent in std::mem::take(&mut self.to_start) {
            let Some(caller) = self.callers.get(&agent) else { continue };
            let walk = Walk::new(load, context);
            let entries: SmallVec<[Entry; 2]> = caller
                .entries
                .iter()
                .map(|entry| {
                    let cell = self.cells.get(&entry.cell);
                    let delay = cell.and_then(|cell| self.delay(cell, &walk)).unwrap_or_default();
                    Entry { waited: delay.waited, failed: delay.failed, ..*entry }
                })
                .collect();
            let Caller { entries: known, since, .. } = self.callers.entry(agent).or_default();
            (*known, *since) = (entries, context.now);
        }
    }
}
