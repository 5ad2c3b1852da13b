//! The state of a router for one application, and the choice of the next hop.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mario_domain::{Duration, InstanceId, NodeId, Time};

use super::message::RouteLabel;
use super::names::Names;
use super::{Hops, Neighbour};

/// The state of a router for one application.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// The instances here that accept requests and stay.
    pub(crate) hosted: BTreeSet<InstanceId>,
    /// The instances here that are about to end, or whose copies are not healthy yet.
    pub(crate) leaving: BTreeSet<InstanceId>,
    /// The sequence that this node announces while it hosts an instance.
    pub(crate) sequence: u64,
    /// The labels that neighbours announced.
    pub(crate) heard: BTreeMap<NodeId, RouteLabel>,
    /// The labels announced to neighbours.
    pub(crate) announced: BTreeMap<NodeId, RouteLabel>,
    /// The best label ever announced, which only gets better; `None` before the first.
    pub(crate) best_announced: Option<RouteLabel>,
    pub(crate) next: Next,
    /// The neighbour that took an instance from here, and until when requests are forwarded there.
    pub(crate) moved: Option<(NodeId, Time)>,
    /// The search for a route, if one is in progress.
    pub(crate) search: Option<Search>,
    /// Until this time the announced label is not withdrawn, although there is no route.
    pub(crate) held_until: Option<Time>,
    /// The neighbours that wait for a newer sequence, and the sequence that each needs.
    pub(crate) waiting: BTreeMap<NodeId, u64>,
    /// The last rate-limited request to each neighbour: the sequence, and when it was sent.
    pub(crate) asked: BTreeMap<NodeId, (u64, Time)>,
    pub(crate) forget_at: Option<Time>,
    /// The names under which clients reach the application; `None` if unknown.
    pub(crate) names: Option<Arc<Names>>,
    /// The version of the names announced to each neighbour.
    pub(crate) announced_names: BTreeMap<NodeId, u64>,
}

/// The next hop of requests for an application.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Next {
    #[default]
    Nowhere,
    Here,
    By(NodeId),
}

/// A search for a route: neighbours are asked for a newer sequence at time `at`, and again `after` later, with backoff.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Search {
    pub(crate) at: Time,
    pub(crate) after: Duration,
}

/// Sequences up to this one are always plausible; a larger one only if it exceeds the newest known sequence, or this
/// one, by at most `STEP_MAX`. So a hostile neighbour cannot exhaust the sequences.
const FREELY_RAISED_MAX: u64 = 1 << 62;
const STEP_MAX: u64 = 1 << 20;

/// The metric of an instance that is about to end or has no healthy copy: about 18 minutes in microseconds, so larger than the metric of any
/// real path to an instance that stays.
pub(crate) const LEAVING: u32 = 1 << 30;

/// Whether a sequence from a neighbour is accepted; `known` is the newest known sequence.
pub(crate) fn is_plausible(sequence: u64, known: u64) -> bool {
    sequence <= known.max(FREELY_RAISED_MAX).saturating_add(STEP_MAX)
}

impl Next {
    pub(crate) fn is_by(&self, neighbour: &NodeId) -> bool {
        matches!(self, Next::By(next) if next == neighbour)
    }
}

impl Entry {
    /// Whether a label may be used: it is better than every label that this node announced.
    pub(crate) fn is_feasible(&self, label: RouteLabel) -> bool {
        self.best_announced.is_none_or(|best| label.is_better_than(best))
    }

    /// The next hop: this node if it hosts an instance that stays, else the neighbour with the shortest feasible path.
    /// Ties are broken in favour of the previous next hop. An instance here that is about to end is used only if no
    /// feasible path leads to an instance that stays.
    pub(crate) fn select(&self, before: &Next, neighbours: &BTreeMap<NodeId, Neighbour>) -> Next {
        if !self.hosted.is_empty() {
            return Next::Here;
        }
        let feasible = self.heard.iter().filter(|(_, label)| self.is_feasible(**label));
        let ways = feasible.filter_map(|(neighbour, label)| Some((through(*label, neighbour, neighbours)?, neighbour)));
        let shortest = ways.min_by_key(|(way, neighbour)| (way.metric, !before.is_by(neighbour)));
        match shortest {
            Some((way, neighbour)) if self.leaving.is_empty() || way.metric < LEAVING => Next::By(neighbour.clone()),
            _ if !self.leaving.is_empty() => Next::Here,
            _ => Next::Nowhere,
        }
    }

    /// The label of this node's route; `None` without a route.
    pub(crate) fn label(&self, neighbours: &BTreeMap<NodeId, Neighbour>) -> Option<RouteLabel> {
        match &self.next {
            Next::Nowhere => None,
            Next::Here => {
                let metric = if self.hosted.is_empty() { LEAVING } else { 0 };
                Some(RouteLabel { sequence: self.sequence, metric })
            }
            Next::By(neighbour) => through(*self.heard.get(neighbour)?, neighbour, neighbours),
        }
    }

    /// The newest sequence that this node knows.
    pub(crate) fn newest_sequence(&self) -> u64 {
        let heard = self.heard.values().map(|label| label.sequence);
        let announced = self.best_announced.map_or(0, |label| label.sequence);
        heard.fold(announced.max(self.sequence), u64::max)
    }

    /// The smallest sequence with which a label is feasible whatever its metric.
    pub(crate) fn needed_sequence(&self) -> u64 {
        self.best_announced.map_or(1, |label| label.sequence.saturating_add(1))
    }

    /// Drops everything that belongs to the session with a neighbour.
    pub(crate) fn forget(&mut self, neighbour: &NodeId) {
        self.heard.remove(neighbour);
        self.announced.remove(neighbour);
        self.waiting.remove(neighbour);
        self.asked.remove(neighbour);
        self.announced_names.remove(neighbour);
        if self.moved.as_ref().is_some_and(|(target, _)| target == neighbour) {
            self.moved = None;
        }
    }

    /// Records that a label is announced to a neighbour.
    pub(crate) fn announce(&mut self, neighbour: &NodeId, label: RouteLabel) {
        self.announced.insert(neighbour.clone(), label);
        if self.best_announced.is_none_or(|best| label.is_better_than(best)) {
            self.best_announced = Some(label);
        }
    }

    /// Returns the names if the neighbour does not know them yet, and records that they are announced.
    pub(crate) fn unannounced_names(&mut self, neighbour: &NodeId) -> Option<Arc<Names>> {
        let names = self.names.as_ref()?;
        let before = self.announced_names.insert(neighbour.clone(), names.version);
        (before != Some(names.version)).then(|| Arc::clone(names))
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.next == Next::Nowhere && self.heard.is_empty() && self.announced.is_empty() && self.moved.is_none()
    }

    pub(crate) fn next_timeout(&self) -> Option<Time> {
        let moved = self.moved.as_ref().map(|(_, until)| *until);
        let search = self.search.map(|search| search.at);
        [moved, search, self.held_until, self.forget_at].into_iter().flatten().min()
    }

    /// The hops for requests: the next hop, the neighbour to which an instance moved, then the other neighbours that
    /// claim to have a route, feasible ones first. A request goes to the first one that it has not visited and whose
    /// link works.
    pub(crate) fn hops(&self, neighbours: &BTreeMap<NodeId, Neighbour>) -> Hops {
        let mut next = Vec::new();
        if let Next::By(neighbour) = &self.next {
            next.push(neighbour.clone());
        }
        if let Some((target, _)) = self.moved.as_ref().filter(|(target, _)| neighbours.contains_key(target)) {
            next.push(target.clone());
        }
        let others = self.heard.iter().filter(|(neighbour, _)| !next.contains(neighbour));
        let mut others: Vec<(bool, u32, &NodeId)> = others
            .filter_map(|(neighbour, label)| {
                Some((!self.is_feasible(*label), through(*label, neighbour, neighbours)?.metric, neighbour))
            })
            .collect();
        others.sort_unstable();
        let others: Vec<NodeId> = others.into_iter().map(|(.., neighbour)| neighbour.clone()).collect();
        next.extend(others);
        Hops { is_here: self.next == Next::Here, next }
    }
}

/// The label of a path through a neighbour; `None` if its metric overflows, or without a session with the neighbour.
pub(crate) fn through(
    label: RouteLabel,
    neighbour: &NodeId,
    neighbours: &BTreeMap<NodeId, Neighbour>,
) -> Option<RouteLabel> {
    let metric = label.metric.checked_add(neighbours.get(neighbour)?.cost)?;
    Some(RouteLabel { metric, ..label })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_neighbour_cannot_use_up_the_sequences() {
        assert!(is_plausible(1, 0) && is_plausible(FREELY_RAISED_MAX, 0));
        assert!(!is_plausible(u64::MAX, 0) && !is_plausible(u64::MAX, FREELY_RAISED_MAX));
        assert!(is_plausible(FREELY_RAISED_MAX + 5, FREELY_RAISED_MAX + 4));
    }
}
