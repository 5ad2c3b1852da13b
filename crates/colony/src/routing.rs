//! Routes client requests to an instance, hop by hop, with a loop-free distance-vector protocol in the manner of Babel.
//!
//! A [`Router`] is a state machine beside [`Node`](crate::Node): [`Router::handle`] takes the time and a
//! [`RouterInput`], and adds [`RouterEffect`]s to a list. A daemon passes it the working links and their costs, the
//! announcements of neighbours, and the copies here that accept requests. The daemon sends the router's messages, and
//! passes [`Router::routes`] to the data plane after every [`RouterEffect::Changed`]. [`forward`] applies them to one
//! request.
//!
//! | when | input to the router |
//! |---|---|
//! | the hello of a neighbour has opened a session | [`RouterInput::LinkUp`] |
//! | the quantised latency of its link changes | [`RouterInput::LinkCost`] |
//! | the session ends | [`RouterInput::LinkDown`] |
//! | an instance, owned or in custody, is healthy or sleeps | [`RouterInput::Hosted`], then [`RouterInput::Named`] |
//! | an instance that is owned has no healthy copy: it starts, or its copy failed | [`RouterInput::Starting`], then [`RouterInput::Named`] |
//! | an instance is about to end, but still accepts requests | [`RouterInput::Leaving`] |
//! | an instance is no longer here: it moved or ended | [`RouterInput::Unhosted`] |
//! | [`Router::next_timeout`] has come | [`RouterInput::Timeout`] |
//!
//! **Loop freedom.** A node announces its route to an application as a [`RouteLabel`]: a sequence number and a metric.
//! A label is better than another if its sequence is newer, or if the sequences are equal and its metric is smaller. A
//! node remembers the best label that it ever announced, and uses a neighbour only if that neighbour's label is better:
//! then the label is *feasible*. So along every path of next hops, the best labels ever announced get strictly better,
//! and no path returns to its start, whatever messages are lost, late or never sent. Only nodes that host an instance
//! increase the sequence: when an instance that has migrated starts to accept requests there, when the last instance
//! that stays is about to end, and on request, so that no node waits forever for a feasible label.
//!
//! **Announcements.** Because loop freedom does not depend on labels being up to date, little has to be announced at
//! once: an application that a neighbour does not know, its names, a shorter path by another next hop, a sequence that
//! a neighbour requested, an instance that is about to end, and a withdrawal. Large changes of distance are announced
//! at the next tick, small ones every [`RouterTiming::exact_every`] ticks. `docs/routing.md` has the measured number of
//! messages.
//!
//! **Invariant:** no clock, no I/O, no randomness; [`RouterLimits`] bounds the routes and names that neighbours can
//! add.
//!
//! **Invariant:** a message from a neighbour never causes a panic, and never more than a bounded number of messages.

mod announce;
mod applications;
mod ask;
mod config;
mod forward;
mod message;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mario_domain::{ApplicationId, InstanceId, NodeId, Time};

use crate::ids::Epoch;
use announce::Outbox;
use applications::{Entry, Next, Search};

pub use config::{RouterConfig, RouterLimits, RouterTiming};
pub use forward::{Forwarding, HOPS_MAX, Hops, Routes, Trail, forward};
pub use message::{RouteAnnouncement, RouteLabel, RoutingMessage, SequenceRequest, Update};
pub use names::{CERTIFICATE_BYTES_MAX, NAMES_MAX, Names};

/// An event for a router.
#[derive(Clone, PartialEq, Debug)]
pub enum RouterInput {
    /// A session with a neighbour starts. Announcements of an earlier session are void on both sides.
    LinkUp {
        /// The neighbour.
        neighbour: NodeId,
        /// The cost of the link in microseconds: half its smoothed round-trip time, quantised. 0 counts as 1.
        cost: u32,
    },
    /// The cost of a link has changed.
    LinkCost {
        /// The neighbour.
        neighbour: NodeId,
        /// The new cost of the link in microseconds. 0 counts as 1.
        cost: u32,
    },
    /// A session ended.
    LinkDown {
        /// The neighbour.
        neighbour: NodeId,
    },
    /// A message arrived in the current session.
    Received {
        /// The neighbour.
        from: NodeId,
        /// The message.
        message: RoutingMessage,
    },
    /// An instance here accepts requests.
    Hosted {
        /// The application.
        application: ApplicationId,
        /// The instance.
        instance: InstanceId,
        /// How many owners the instance has had.
        epoch: Epoch,
    },
    /// An instance here does not accept requests, but is to: its copy starts, or failed and is started again. So that
    /// every node knows the application and its names, this node announces it like an instance that is about to end,
    /// and other instances are preferred.
    Starting {
        /// The application.
        application: ApplicationId,
        /// The instance.
        instance: InstanceId,
    },
    /// An application that is hosted here has names under which clients reach it.
    Named {
        /// The application.
        application: ApplicationId,
        /// Its names.
        names: Arc<Names>,
    },
    /// An instance here is about to end: it still accepts requests, and neighbours should find others.
    Leaving {
        /// The application.
        application: ApplicationId,
        /// The instance.
        instance: InstanceId,
    },
    /// An instance is no longer here.
    Unhosted {
        /// The application.
        application: ApplicationId,
        /// The instance.
        instance: InstanceId,
        /// The neighbour that took it; `None` if it did not move. If no instance stays here, requests go there until a
        /// route is known, [`RouterTiming::moved_for`] has passed, or the session with that neighbour ends.
        moved_to: Option<NodeId>,
    },
    /// The time of [`Router::next_timeout`] has been reached.
    Timeout,
}

/// An action that a router requests of the shell.
#[derive(Clone, PartialEq, Debug)]
pub enum RouterEffect {
    /// Send a message to a neighbour in the current session.
    Send {
        /// The neighbour.
        to: NodeId,
        /// The message.
        message: RoutingMessage,
    },
    /// The next hops or the names of an application have changed: [`Router::routes`] and [`Router::names`] have them.
    Changed(ApplicationId),
}

/// The router of one node.
#[derive(Clone, Debug)]
pub struct Router {
    config: Arc<RouterConfig>,
    neighbours: BTreeMap<NodeId, Neighbour>,
    applications: BTreeMap<ApplicationId, Entry>,
    /// The applications with a pending timeout.
    timed: BTreeSet<ApplicationId>,
    next_tick: Time,
    ticks: u64,
    routes: Arc<Routes>,
    /// How many applications have names.
    named: usize,
    refused: u64,
}

/// A neighbour with a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbour {
    cost: u32,
    /// The number of the last update that was sent.
    sent: u64,
    /// The last update number that was repeated to it in an update without routes, so that it detects a loss.
    marked: u64,
    /// The number of the newest update received.
    received: u64,
    /// Whether an update from it is missing. False again once it has sent its whole table.
    is_behind: bool,
    /// The number of applications with a stored route from this neighbour, at most
    /// [`RouterLimits::routes_per_neighbour_max`].
    heard: usize,
}

/// Why the next hop of an application is selected again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// A neighbour has withdrawn its route.
    Retracted,
    /// Any other reason.
    Other,
}

/// One call of [`Router::handle`].
pub(crate) struct Step<'a> {
    router: &'a mut Router,
    now: Time,
    outbox: Outbox,
    effects: &'a mut Vec<RouterEffect>,
}

impl Router {
    /// A router without links and without routes.
    pub fn new(config: Arc<RouterConfig>, now: Time) -> Router {
        let next_tick = now + config.first_tick();
        Router {
            config,
            neighbours: BTreeMap::new(),
            applications: BTreeMap::new(),
            timed: BTreeSet::new(),
            next_tick,
            ticks: 0,
            routes: Arc::default(),
            named: 0,
            refused: 0,
        }
    }

    /// Handles an input, and appends its effects to `effects`.
    pub fn handle(&mut self, now: Time, input: RouterInput, effects: &mut Vec<RouterEffect>) {
        let mut step = Step { router: self, now, outbox: Outbox::default(), effects };
        match input {
            RouterInput::LinkUp { neighbour, cost } => step.link_up(&neighbour, cost),
            RouterInput::LinkCost { neighbour, cost } => step.link_cost(&neighbour, cost),
            RouterInput::LinkDown { neighbour } => step.drop_link(&neighbour),
            RouterInput::Received { from, message } => step.receive(&from, message),
            RouterInput::Hosted { application, instance, epoch } => step.hosted(&application, instance, epoch),
            RouterInput::Starting { application, instance } => step.starting(&application, instance),
            RouterInput::Named { application, names } => step.named(&application, names),
            RouterInput::Leaving { application, instance } => step.leaving(&application, instance),
            RouterInput::Unhosted { application, instance, moved_to } => {
                step.unhosted(&application, &instance, moved_to);
            }
            RouterInput::Timeout => step.timeout(),
        }
        step.flush();
    }

    /// When to call [`Router::handle`] with [`RouterInput::Timeout`], if nothing happens before.
    pub fn next_timeout(&self) -> Time {
        let timed = self.timed.iter().filter_map(|application| self.applications.get(application)?.next_timeout());
        timed.fold(self.next_tick, Time::min)
    }

    /// An immutable snapshot of the next hops of all applications.
    pub fn routes(&self) -> Arc<Routes> {
        Arc::clone(&self.routes)
    }

    /// The distance to the instance that requests for an application go to: the sum of the costs of the links to it, in
    /// microseconds, plus 2^30 if it is about to end. `None` without a route.
    pub fn distance(&self, application: &ApplicationId) -> Option<u32> {
        let entry = self.applications.get(application)?;
        entry.label(&self.neighbours).map(|label| label.metric)
    }

    /// The neighbour that requests for an application go to; `None` if they go to an instance here, or without a route.
    pub fn next_hop(&self, application: &ApplicationId) -> Option<&NodeId> {
        match &self.applications.get(application)?.next {
            Next::By(neighbour) => Some(neighbour),
            Next::Here | Next::Nowhere => None,
        }
    }

    /// The label announced to a neighbour for an application, and the label that the neighbour announced; each is
    /// `None` if there is none. For tests.
    pub fn labels(&self, application: &ApplicationId, neighbour: &NodeId) -> [Option<RouteLabel>; 2] {
        let entry = self.applications.get(application);
        [entry.and_then(|entry| entry.announced.get(neighbour)), entry.and_then(|entry| entry.heard.get(neighbour))]
            .map(Option::<&RouteLabel>::copied)
    }

    /// The best label that this node has announced for an application; `None` before the first, or once the application
    /// is forgotten.
    pub fn best_announced(&self, application: &ApplicationId) -> Option<RouteLabel> {
        self.applications.get(application)?.best_announced
    }

    /// Whether an update of a neighbour has arrived in the current session.
    pub fn has_routes_from(&self, neighbour: &NodeId) -> bool {
        self.neighbours.get(neighbour).is_some_and(|known| known.received > 0)
    }

    /// The applications that are known here, with a route or without.
    pub fn applications(&self) -> impl Iterator<Item = &ApplicationId> {
        self.applications.keys()
    }

    /// How many routes, names and requests of neighbours were rejected because a table was full or a sequence was not
    /// plausible.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

impl Step<'_> {
    fn receive(&mut self, from: &NodeId, message: RoutingMessage) {
        if !self.router.neighbours.contains_key(from) {
            return;
        }
        match message {
            RoutingMessage::Update(update) => self.updated(from, update),
            RoutingMessage::Request(request) => self.requested(from, &request),
            RoutingMessage::Repeat => self.announce_table(from),
        }
    }

    fn link_up(&mut self, neighbour: &NodeId, cost: u32) {
        self.drop_link(neighbour);
        self.router.neighbours.insert(neighbour.clone(), Neighbour { cost: cost.max(1), ..Neighbour::default() });
        self.announce_table(neighbour);
    }

    fn link_cost(&mut self, neighbour: &NodeId, cost: u32) {
        let Some(known) = self.router.neighbours.get_mut(neighbour) else { return };
        known.cost = cost.max(1);
        for application in self.heard_from(neighbour) {
            self.settle(&application, Cause::Other);
        }
    }

    /// Ends the session with a neighbour: drops its announcements, and selects next hops without it.
    fn drop_link(&mut self, neighbour: &NodeId) {
        if self.router.neighbours.remove(neighbour).is_none() {
            return;
        }
        self.outbox.forget(neighbour);
        let heard = self.heard_from(neighbour);
        for entry in self.router.applications.values_mut() {
            entry.forget(neighbour);
        }
        for application in heard {
            self.settle(&application, Cause::Other);
        }
    }

    fn heard_from(&self, neighbour: &NodeId) -> Vec<ApplicationId> {
        let known = self.router.applications.iter();
        let heard = known.filter(|(_, entry)| entry.heard.contains_key(neighbour) || entry.next.is_by(neighbour));
        heard.map(|(application, _)| application.clone()).collect()
    }

    /// Called when an instance here starts to accept requests. If it has ever migrated, this node increases the
    /// sequence, so that its label is feasible for the node that the instance left.
    fn hosted(&mut self, application: &ApplicationId, instance: InstanceId, epoch: Epoch) {
        let entry = self.router.applications.entry(application.clone()).or_default();
        let newest = entry.newest_sequence();
        let has_moved = epoch > Epoch(1);
        if entry.hosted.is_empty() {
            entry.sequence = if has_moved { newest.saturating_add(1) } else { newest.max(1) };
        } else if has_moved {
            entry.sequence = entry.sequence.max(newest).saturating_add(1);
        }
        entry.leaving.remove(&instance);
        entry.hosted.insert(instance);
        self.settle(application, Cause::Other);
    }

    /// Called when an instance here does not accept requests for the moment. If this node has announced a route before,
    /// it increases the sequence, so that the label is feasible for every node that forwarded requests here.
    fn starting(&mut self, application: &ApplicationId, instance: InstanceId) {
        let entry = self.router.applications.entry(application.clone()).or_default();
        entry.hosted.remove(&instance);
        if entry.hosted.is_empty() {
            let newest = entry.newest_sequence();
            entry.sequence = if entry.best_announced.is_some() { newest.saturating_add(1) } else { newest.max(1) };
        }
        entry.leaving.insert(instance);
        self.settle(application, Cause::Other);
    }

    /// Called when an instance is about to end. If no other instance stays here, this node announces that with a newer
    /// sequence, so that the label is feasible for every node that forwards requests here. These nodes search for
    /// another route; a node that finds none keeps forwarding requests here.
    fn leaving(&mut self, application: &ApplicationId, instance: InstanceId) {
        let Some(entry) = self.router.applications.get_mut(application) else { return };
        if entry.hosted.remove(&instance) {
            entry.leaving.insert(instance);
            if entry.hosted.is_empty() {
                entry.sequence = entry.newest_sequence().saturating_add(1);
            }
            self.settle(application, Cause::Other);
        }
    }

    fn unhosted(&mut self, application: &ApplicationId, instance: &InstanceId, moved_to: Option<NodeId>) {
        let until = self.now + self.router.config.timing.moved_for;
        let Some(entry) = self.router.applications.get_mut(application) else { return };
        if !entry.hosted.remove(instance) && !entry.leaving.remove(instance) {
            return;
        }
        if let Some(target) = moved_to
            && entry.hosted.is_empty()
        {
            entry.moved = Some((target, until));
        }
        self.settle(application, Cause::Other);
    }

    fn timeout(&mut self) {
        let now = self.now;
        let timed: Vec<ApplicationId> = self.router.timed.iter().cloned().collect();
        for application in timed {
            let due = self.router.applications.get(&application).and_then(Entry::next_timeout);
            if due.is_some_and(|due| due <= now) {
                self.entry_timeout(&application);
            }
        }
        if self.router.next_tick <= now {
            self.tick();
        }
    }

    /// Selects the next hop of an application again. With a route, ends any search, and announces urgent changes and
    /// names. Without one, starts a search if a neighbour may have a route; if the route was lost just now, also holds
    /// or withdraws the announced label.
    fn settle(&mut self, application: &ApplicationId, cause: Cause) {
        let after = self.router.config.timing.ask_after;
        let ask_at = self.now + after;
        let Router { applications, neighbours, .. } = &mut *self.router;
        let Some(entry) = applications.get_mut(application) else { return };
        let before = std::mem::replace(&mut entry.next, Next::Nowhere);
        entry.next = entry.select(&before, neighbours);
        let has_changed = entry.next != before;
        match &entry.next {
            Next::Nowhere if has_changed => self.lost(application, cause),
            Next::Nowhere => {
                if entry.search.is_none() && !entry.heard.is_empty() {
                    entry.search = Some(Search { at: ask_at, after });
                }
            }
            Next::Here | Next::By(_) => {
                (entry.search, entry.held_until, entry.moved) = (None, None, None);
                self.announce_urgent(application, has_changed);
                self.announce_names(application);
                self.look_for_others(application);
            }
        }
        self.publish(application);
        self.time(application);
    }

    /// Updates the pending timeout of an application. An application without routes and instances is forgotten after
    /// [`RouterTiming::forget_after`].
    fn time(&mut self, application: &ApplicationId) {
        let (now, forget_after) = (self.now, self.router.config.timing.forget_after);
        let Router { applications, timed, .. } = &mut *self.router;
        let Some(entry) = applications.get_mut(application) else { return };
        if entry.is_unused() {
            entry.forget_at.get_or_insert(now + forget_after);
        } else {
            entry.forget_at = None;
        }
        if entry.next_timeout().is_some() {
            timed.insert(application.clone());
        } else {
            timed.remove(application);
        }
    }

    /// Publishes a new snapshot if the next hops of an application have changed.
    fn publish(&mut self, application: &ApplicationId) {
        let Router { applications, neighbours, routes, .. } = &mut *self.router;
        let hops = applications.get(application).map(|entry| entry.hops(neighbours)).unwrap_or_default();
        let is_same = match routes.get(application) {
            Some(known) => *known == hops,
            None => hops == Hops::default(),
        };
        if !is_same {
            Arc::make_mut(routes).set(application, hops);
            self.effects.push(RouterEffect::Changed(application.clone()));
        }
    }
}
