//! The requests of users and calls that wait at overloaded servers.
//!
//! Accounts count a request as served when it is sent, with the time that it will take. Behind an overloaded server it
//! may not be served until the end of the run. So whenever requests are accounted for, those that may still wait are
//! kept as a [`Batch`], and every report subtracts those that are not served yet.

use std::collections::{BTreeMap, BTreeSet};

use mario_scenario::UserIndex;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::calls::{CallContext, CallFlow};
use super::load::{LinkPath, Load};
use super::queue::{Batch, ServerIndex, Unserved};
use super::{Flow, FlowWorld, Mode};
use crate::routing::CellIndex;

/// The accounted requests of users that may still wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    of_user: BTreeMap<UserIndex, Vec<Batch>>,
}

impl Waiting {
    /// Whether restored batches are valid for this number of users and this load.
    pub(super) fn is_consistent(&self, users: usize, load: &Load) -> bool {
        let is_user = |user: &UserIndex| user.position() < users;
        self.of_user.iter().all(|(user, batches)| is_user(user) && batches.iter().all(|batch| batch.is_of(load)))
    }
}

/// The servers with a queue on a path and on the paths of all calls that its instance makes.
pub(super) fn queued(load: &Load, calls: Option<&CallFlow>, path: LinkPath<'_>) -> SmallVec<[ServerIndex; 1]> {
    let mut servers: SmallVec<[ServerIndex; 1]> = load.queued(path).collect();
    if let Some(calls) = calls {
        calls.add_queued(path.agent, load, &mut BTreeSet::new(), &mut servers);
        servers.sort();
        servers.dedup();
    }
    servers
}

impl Flow {
    /// Keeps the requests that may still wait, of one user of a cell or of all, before they are accounted for and take
    /// other paths. Users share their requests evenly among `paths`.
    pub(super) fn keep_waiting(
        &mut self,
        index: CellIndex,
        only: Option<UserIndex>,
        paths: &[LinkPath<'_>],
        context: CallContext<'_>,
    ) {
        if !self.load.has_queues() {
            return;
        }
        let now = context.now;
        let cell = &self.cells[index.position()];
        let users: SmallVec<[UserIndex; 4]> =
            only.map_or_else(|| cell.members.clone(), |user| SmallVec::from_slice(&[user]));
        let cohort = cell.cohort;
        for path in paths {
            let servers = queued(&self.load, self.calls.as_deref(), *path);
            if servers.is_empty() {
                continue;
            }
            for user in &users {
                let Some(schedule) = self.accounts.schedule(*user) else { continue };
                let span = (self.accounts.counted(*user, &cohort), now);
                let share = 1.0 / paths.len() as f64;
                let batch = Batch::new(&servers, *path, (schedule, share), span, &self.load);
                let unserved = batch.unserved(&self.load, now);
                if unserved.lost > 0.0 {
                    self.accounts.lose(*user, unserved);
                } else if unserved.waiting > 0.0 {
                    let load = &self.load;
                    let batches = self.waiting.of_user.entry(*user).or_default();
                    batches.retain(|batch| batch.unserved(load, now).count() > 0.0);
                    batches.push(batch);
                }
            }
        }
    }

    /// The same for a user who leaves a cell, unless the cell is closed for that, which keeps the requests of all users.
    pub(super) fn keep_waiting_of_leaver(&mut self, index: CellIndex, user: UserIndex, world: &FlowWorld<'_>) {
        let cell = &self.cells[index.position()];
        let is_closed = match cell.mode {
            Mode::Plain => false,
            Mode::RoundRobin(_) => cell.routes.len() < 2,
            Mode::Idle => true,
        };
        if !is_closed {
            self.keep_waiting_of(index, Some(user), world);
        }
    }

    /// The same for the current paths of a cell.
    pub(super) fn keep_waiting_of(&mut self, index: CellIndex, only: Option<UserIndex>, world: &FlowWorld<'_>) {
        if !self.load.has_queues() || matches!(self.cells[index.position()].mode, Mode::Idle) {
            return;
        }
        let routes = self.cells[index.position()].routes.clone();
        let paths: SmallVec<[LinkPath<'_>; 2]> = routes.iter().map(|route| world.link_path(*route)).collect();
        self.keep_waiting(index, only, &paths, CallContext::of(world));
    }

    /// The requests of a user that are accounted for as served, or will be in this report, and are not served yet.
    pub(super) fn unserved(&self, user: UserIndex, world: &FlowWorld<'_>) -> Unserved {
        let mut sum = Unserved::default();
        if !self.load.has_queues() {
            return sum;
        }
        for batch in self.waiting.of_user.get(&user).into_iter().flatten() {
            sum.add(batch.unserved(&self.load, world.now));
        }
        let (Some(cell), Some(schedule)) = (self.cell_of_user[user.position()], self.accounts.schedule(user)) else {
            return sum;
        };
        let cell = &self.cells[cell.position()];
        if matches!(cell.mode, Mode::Idle) {
            return sum;
        }
        let span = (self.accounts.counted(user, &cell.cohort), world.now);
        let share = 1.0 / cell.routes.len() as f64;
        for route in &cell.routes {
            let path = world.link_path(*route);
            let servers = queued(&self.load, self.calls.as_deref(), path);
            if !servers.is_empty() {
                let batch = Batch::new(&servers, path, (schedule, share), span, &self.load);
                sum.add(batch.unserved(&self.load, world.now));
            }
        }
        sum
    }
}
