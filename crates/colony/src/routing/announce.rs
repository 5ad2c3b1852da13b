//! Announcements to neighbours, and the handling of theirs. Updates are numbered, so duplicate, late and missing ones
//! are detected.

use std::collections::{BTreeMap, BTreeSet};

use mario_domain::{ApplicationId, NodeId};

use super::applications::{Entry, LEAVING, Next, is_plausible, through};
use super::message::{RouteAnnouncement, RouteLabel, RoutingMessage, Update};
use super::{Cause, Neighbour, Router, RouterEffect, Step};

/// The routes to be announced at the end of a step, in one message per neighbour, or several if they exceed the limits
/// of one message.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    routes: BTreeMap<NodeId, BTreeMap<ApplicationId, Option<RouteLabel>>>,
    tables: BTreeSet<NodeId>,
}

impl Outbox {
    fn add(&mut self, neighbour: &NodeId, application: &ApplicationId, label: Option<RouteLabel>) {
        self.routes.entry(neighbour.clone()).or_default().insert(application.clone(), label);
    }

    /// Adds a label, unless the outbox already has an announcement of the application to the neighbour.
    pub(crate) fn add_unless_there(&mut self, neighbour: &NodeId, application: &ApplicationId, label: RouteLabel) {
        self.routes.entry(neighbour.clone()).or_default().entry(application.clone()).or_insert(Some(label));
    }

    pub(crate) fn forget(&mut self, neighbour: &NodeId) {
        self.routes.remove(neighbour);
        self.tables.remove(neighbour);
    }
}

impl Step<'_> {
    /// Sends the announcements.
    pub(super) fn flush(&mut self) {
        let Outbox { mut routes, tables } = std::mem::take(&mut self.outbox);
        for neighbour in &tables {
            routes.entry(neighbour.clone()).or_default();
        }
        let limits = self.router.config.limits;
        let (most, names_most) = (limits.routes_per_update_max.max(1), limits.names_per_update_max.max(1));
        for (neighbour, routes) in routes {
            let Router { neighbours, applications, .. } = &mut *self.router;
            let Some(known) = neighbours.get_mut(&neighbour) else { continue };
            let mut is_table = tables.contains(&neighbour);
            let mut announced = routes.into_iter().map(|(application, label)| {
                let entry = applications.get_mut(&application).filter(|_| label.is_some());
                let names = entry.and_then(|entry| entry.unannounced_names(&neighbour));
                RouteAnnouncement { application, label, names }
            });
            let mut next = announced.next();
            // An empty table is sent too, so that the neighbour knows that there are no routes here.
            while next.is_some() || is_table {
                known.sent += 1;
                let (mut routes, mut named) = (Vec::new(), 0);
                while let Some(route) = next.take_if(|_| routes.len() < most && named < names_most) {
                    named += usize::from(route.names.is_some());
                    routes.push(route);
                    next = announced.next();
                }
                let message = RoutingMessage::Update(Update { number: known.sent, is_table, routes });
                self.effects.push(RouterEffect::Send { to: neighbour.clone(), message });
                is_table = false;
            }
        }
    }

    /// Announces a label to a neighbour, and records it as announced.
    pub(super) fn announce(&mut self, neighbour: &NodeId, application: &ApplicationId, label: RouteLabel) {
        if let Some(entry) = self.router.applications.get_mut(application) {
            entry.announce(neighbour, label);
            self.outbox.add(neighbour, application, Some(label));
        }
    }

    /// Withdraws a route from a neighbour that knows it.
    pub(super) fn retract(&mut self, neighbour: &NodeId, application: &ApplicationId) {
        let entry = self.router.applications.get_mut(application);
        if let Some(entry) = entry
            && entry.announced.remove(neighbour).is_some()
        {
            // The neighbour may drop the names, so they are sent again with the next label.
            entry.announced_names.remove(neighbour);
            self.outbox.add(neighbour, application, None);
        }
    }

    /// Announces the whole table to a neighbour: labels announced to it earlier, unchanged, because a larger metric
    /// might be infeasible for it, and all other routes that do not lead through it.
    pub(super) fn announce_table(&mut self, neighbour: &NodeId) {
        let Router { applications, neighbours, .. } = &*self.router;
        let label = |entry: &Entry| {
            let fresh = if entry.next.is_by(neighbour) { None } else { entry.label(neighbours) };
            entry.announced.get(neighbour).copied().or(fresh)
        };
        let table: Vec<(ApplicationId, RouteLabel)> =
            applications.iter().filter_map(|(application, entry)| Some((application.clone(), label(entry)?))).collect();
        self.outbox.forget(neighbour);
        self.outbox.tables.insert(neighbour.clone());
        for entry in self.router.applications.values_mut() {
            entry.announced_names.remove(neighbour);
        }
        for (application, label) in table {
            self.announce(neighbour, &application, label);
        }
    }

    /// Announces urgent changes: a route that a neighbour does not know, a shorter path by another next hop, a newer
    /// sequence that a neighbour waits for, an instance that is about to end, or whose copy is healthy now. Nothing is announced to the next hop, and
    /// an earlier announcement to it is withdrawn, since the route leads through it.
    pub(super) fn announce_urgent(&mut self, application: &ApplicationId, has_changed: bool) {
        let Router { applications, neighbours, .. } = &mut *self.router;
        let Some(entry) = applications.get_mut(application) else { return };
        let Some(label) = entry.label(neighbours) else { return };
        let mut announced = Vec::new();
        for neighbour in neighbours.keys() {
            if entry.next.is_by(neighbour) {
                continue;
            }
            let is_waited_for = entry.waiting.get(neighbour).is_some_and(|sequence| *sequence <= label.sequence);
            let is_urgent = match entry.announced.get(neighbour) {
                None => true,
                Some(before) => {
                    let is_nearer = has_changed && label.metric < before.metric;
                    let begins_to_leave = label.metric >= LEAVING && before.metric < LEAVING;
                    let begins_to_stay = label.metric < LEAVING && before.metric >= LEAVING;
                    (is_waited_for || is_nearer || begins_to_leave || begins_to_stay) && label.is_better_than(*before)
                }
            };
            if is_waited_for {
                entry.waiting.remove(neighbour);
            }
            if is_urgent {
                announced.push(neighbour.clone());
            }
        }
        let through_it = match &entry.next {
            Next::By(next) if entry.announced.contains_key(next) => Some(next.clone()),
            _ => None,
        };
        for neighbour in announced {
            self.announce(&neighbour, application, label);
        }
        if let Some(next) = through_it {
            self.retract(&next, application);
        }
    }

    /// Handles an update of a neighbour, and ignores a duplicate or late one. If an earlier update is missing, asks for
    /// the whole table, which each tick repeats until the table arrives.
    pub(super) fn updated(&mut self, from: &NodeId, update: Update) {
        let Update { number, is_table, routes } = update;
        let Some(known) = self.router.neighbours.get_mut(from) else { return };
        let is_mark = routes.is_empty() && !is_table;
        if number < known.received || number == known.received && !is_mark {
            // The update is a duplicate, or late: a later one arrived first.
            return;
        }
        let is_gap = number > known.received.saturating_add(u64::from(!is_mark));
        known.received = number;
        if is_table {
            known.is_behind = false;
        } else if is_gap && !known.is_behind {
            known.is_behind = true;
            self.effects.push(RouterEffect::Send { to: from.clone(), message: RoutingMessage::Repeat });
        }
        let mut affected: BTreeMap<ApplicationId, Cause> = BTreeMap::new();
        if is_table {
            let listed = |application: &ApplicationId| routes.iter().any(|route| route.application == *application);
            for application in self.heard_from(from).into_iter().filter(|application| !listed(application)) {
                self.hear(from, &application, None);
                affected.insert(application, Cause::Retracted);
            }
        }
        let names_max = self.router.config.limits.names_max;
        for RouteAnnouncement { application, label, names } in routes {
            let is_heard = self.hear(from, &application, label);
            let is_named = names.is_some_and(|names| self.take_names(&application, names, names_max));
            if is_heard || is_named {
                let cause = if label.is_none() { Cause::Retracted } else { Cause::Other };
                affected.insert(application, cause);
            }
        }
        for (application, cause) in affected {
            self.settle(&application, cause);
        }
    }

    /// Stores a neighbour's announcement for one application; `None` withdraws the route. Returns whether the stored
    /// label changed; it does not if the announcement is rejected, because a table is full or the sequence is not
    /// plausible.
    fn hear(&mut self, from: &NodeId, application: &ApplicationId, label: Option<RouteLabel>) -> bool {
        let limits = self.router.config.limits;
        let Router { applications, neighbours, refused, .. } = &mut *self.router;
        let Some(neighbour) = neighbours.get_mut(from) else { return false };
        let known = applications.len();
        let entry = applications.get_mut(application);
        let Some(label) = label else {
            let was_heard = entry.is_some_and(|entry| entry.heard.remove(from).is_some());
            neighbour.heard -= usize::from(was_heard);
            return was_heard;
        };
        let is_known = entry.as_ref().is_some_and(|entry| entry.heard.contains_key(from));
        let newest = entry.as_ref().map_or(0, |entry| entry.newest_sequence());
        let has_room = entry.is_some() || known < limits.applications_max;
        let is_allowed = is_known || neighbour.heard < limits.routes_per_neighbour_max;
        if !has_room || !is_allowed || !is_plausible(label.sequence, newest) {
            *refused += 1;
            return false;
        }
        neighbour.heard += usize::from(!is_known);
        let entry = applications.entry(application.clone()).or_default();
        entry.heard.insert(from.clone(), label) != Some(label)
    }

    /// Announces changes that were not urgent, and asks neighbours whose updates are missing for their tables. Repeats
    /// the number of the last update to neighbours that may have missed it, and at an exact tick to all neighbours,
    /// except those that get an update now.
    pub(super) fn tick(&mut self) {
        let timing = self.router.config.timing;
        self.router.next_tick = self.now + timing.tick;
        self.router.ticks += 1;
        let is_exact = self.router.ticks.is_multiple_of(timing.exact_every.max(1));
        let applications: Vec<ApplicationId> = self.router.applications.keys().cloned().collect();
        for application in applications {
            self.announce_drift(&application, is_exact);
        }
        let Router { neighbours, .. } = &mut *self.router;
        for (neighbour, known) in neighbours {
            if known.is_behind {
                self.effects.push(RouterEffect::Send { to: neighbour.clone(), message: RoutingMessage::Repeat });
            }
            if (known.marked < known.sent || is_exact) && !self.outbox.routes.contains_key(neighbour) {
                known.marked = known.sent;
                let message =
                    RoutingMessage::Update(Update { number: known.sent, is_table: false, routes: Vec::new() });
                self.effects.push(RouterEffect::Send { to: neighbour.clone(), message });
            }
        }
    }

    /// If the instance that requests go to is about to end, asks the neighbour with the shortest infeasible path for a
    /// newer sequence, provided that this path leads to an instance that stays.
    pub(super) fn look_for_others(&mut self, application: &ApplicationId) {
        let Router { applications, neighbours, .. } = &*self.router;
        let Some(entry) = applications.get(application) else { return };
        let Some(label) = entry.label(neighbours).filter(|label| label.metric >= LEAVING) else { return };
        let better = better_infeasible(entry, label, neighbours).filter(|(_, metric)| *metric < LEAVING);
        let better = better.and_then(|(neighbour, _)| Some((neighbour.clone(), entry.heard.get(neighbour)?.sequence)));
        if let Some((neighbour, heard)) = better {
            self.ask(&neighbour, application, label.sequence.max(heard.saturating_add(1)));
        }
    }

    /// Announces a metric that has changed by at least the part that
    /// [`RouterLimits::drift_part`](super::RouterLimits::drift_part) defines, or at all if `is_exact`. A larger metric
    /// is announced only with a newer sequence, because it might be infeasible for the neighbours; the next hop is
    /// asked for one. A neighbour with a much shorter infeasible path is asked, too.
    fn announce_drift(&mut self, application: &ApplicationId, is_exact: bool) {
        let part = self.router.config.limits.drift_part;
        let Router { applications, neighbours, .. } = &*self.router;
        let Some(entry) = applications.get(application) else { return };
        let Some(label) = entry.label(neighbours) else { return };
        let is_much = |change: u32, of: u32| change > 0 && (is_exact || change.saturating_mul(part) >= of);
        let (mut announced, mut is_sequence_needed) = (Vec::new(), false);
        for (neighbour, before) in entry.announced.iter().filter(|(neighbour, _)| !entry.next.is_by(neighbour)) {
            if is_much(label.metric.abs_diff(before.metric), before.metric) {
                if label.is_better_than(*before) {
                    announced.push(neighbour.clone());
                } else {
                    is_sequence_needed = true;
                }
            }
        }
        let better = better_infeasible(entry, label, neighbours);
        let better = better.filter(|(_, metric)| is_much(label.metric - metric, label.metric));
        let better = better.map(|(neighbour, _)| neighbour.clone());
        let next = match &entry.next {
            Next::By(next) if is_sequence_needed => Some(next.clone()),
            _ => None,
        };
        let wanted = entry.needed_sequence().max(label.sequence.saturating_add(1));
        for neighbour in announced {
            self.announce(&neighbour, application, label);
        }
        for neighbour in better.into_iter().chain(next) {
            self.ask(&neighbour, application, wanted);
        }
    }
}

/// The neighbour with the shortest infeasible path, and the metric of that path; `None` if no infeasible path is
/// shorter than that of `label`.
fn better_infeasible<'a>(
    entry: &'a Entry,
    label: RouteLabel,
    neighbours: &BTreeMap<NodeId, Neighbour>,
) -> Option<(&'a NodeId, u32)> {
    let infeasible = entry.heard.iter().filter(|(_, heard)| !entry.is_feasible(**heard));
    let ways =
        infeasible.filter_map(|(neighbour, heard)| Some((neighbour, through(*heard, neighbour, neighbours)?.metric)));
    ways.filter(|(_, metric)| *metric < label.metric).min_by_key(|(_, metric)| *metric)
}
