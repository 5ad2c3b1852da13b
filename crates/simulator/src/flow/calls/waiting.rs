//! The requests of calls that wait at overloaded servers: see [`super::super::waiting`].

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::super::load::Load;
use super::super::queue::{Batch, ServerIndex, Unserved};
use super::super::schedule::Schedule;
use super::super::waiting::queued;
use super::{CallAccount, CallContext, CallFlow, Caller, requests};
use crate::population::AgentIndex;

impl CallFlow {
    /// Whether restored batches are valid for a load.
    pub(in crate::flow) fn is_waiting_valid(&self, load: &Load) -> bool {
        self.waiting.iter().all(|(call, batch)| *call < self.accounts.len() && batch.is_of(load))
    }

    /// Adds the servers with a queue on the paths of all calls that an instance makes, directly and indirectly.
    /// `visited` are instances whose calls were added before.
    pub(in crate::flow) fn add_queued(
        &self,
        agent: AgentIndex,
        load: &Load,
        visited: &mut BTreeSet<AgentIndex>,
        servers: &mut SmallVec<[ServerIndex; 1]>,
    ) {
        let Some(caller) = self.callers.get(&agent).filter(|_| visited.insert(agent)) else { return };
        for cell in caller.entries.iter().filter_map(|entry| self.cells.get(&entry.cell)) {
            for route in &cell.routes {
                servers.extend(load.queued(route.link_path()));
                self.add_queued(route.endpoint.agent, load, visited, servers);
            }
        }
    }

    /// The requests of an instance's calls since the last accounting that may wait, each with the index of its call.
    fn batches(
        &self,
        caller: &Caller,
        agent: AgentIndex,
        load: &Load,
        context: CallContext<'_>,
    ) -> Vec<(usize, Batch)> {
        let mut batches = Vec::new();
        if !load.has_queues() {
            return batches;
        }
        let first = self.first_call[context.population.agent(agent).application().position()] as usize;
        let period = context.scenario.agents.period.units();
        for (place, entry) in caller.entries.iter().enumerate() {
            let Some(cell) = self.cells.get(&entry.cell) else { continue };
            let schedule = Schedule::Mean { arrival: caller.since, rate: requests(entry.amount) / period };
            let share = 1.0 / cell.routes.len() as f64;
            for route in &cell.routes {
                let servers = queued(load, Some(self), route.link_path());
                if !servers.is_empty() {
                    let span = (caller.since, context.now);
                    let batch = Batch::new(&servers, route.link_path(), (schedule, share), span, load);
                    batches.push((first + place, batch));
                }
            }
        }
        batches
    }

    /// Keeps the requests of an instance's calls that may still wait, when they are accounted for.
    pub(super) fn keep_waiting(&mut self, agent: AgentIndex, load: &Load, context: CallContext<'_>) {
        let Some(caller) = self.callers.get(&agent) else { return };
        let batches = self.batches(caller, agent, load, context);
        if batches.is_empty() {
            return;
        }
        let now = context.now;
        self.waiting.retain(|(_, batch)| batch.unserved(load, now).count() > 0.0);
        for (call, batch) in batches {
            if batch.unserved(load, now).count() > 0.0 {
                self.waiting.push((call, batch));
            }
        }
    }

    /// Subtracts the requests that are not served from the accounts of a report.
    pub(super) fn subtract_unserved(&self, accounts: &mut [CallAccount], load: &Load, context: CallContext<'_>) {
        if !load.has_queues() {
            return;
        }
        let callers = self.callers.iter();
        let current = callers.flat_map(|(agent, caller)| self.batches(caller, *agent, load, context));
        for (call, batch) in self.waiting.iter().cloned().chain(current) {
            if let Some(account) = accounts.get_mut(call) {
                account.subtract(batch.unserved(load, context.now));
            }
        }
    }
}

impl CallAccount {
    fn subtract(&mut self, unserved: Unserved) {
        if unserved.count() > 0.0 {
            self.served = (self.served - unserved.count()).max(0.0);
            self.lost += unserved.lost;
            self.response = (self.response - unserved.response).max(0.0);
        }
    }
}
