//! Drives the node's router: passes links, instances and names to it, sends its messages, and publishes its routes.

use std::collections::BTreeMap;
use std::sync::Arc;

use mario_colony::routing::{RouterEffect, RouterInput, RoutingMessage, Update};
use mario_colony::{Descriptor, Epoch, Owned};
use mario_domain::{ApplicationId, InstanceId, NodeId, Operation, Request, Target};
use mario_wire::{Body, Envelope};

use super::board::AnnouncedRoutes;
use super::core::Core;
use crate::api::{Conflict, CopyState, Name, NodeEvent};

/// The instances here as last passed to the router, the targets of departing instances, and unsent messages of the
/// router.
#[derive(Default)]
pub(crate) struct Hosted {
    instances: BTreeMap<InstanceId, HostedInstance>,
    departed: BTreeMap<InstanceId, NodeId>,
    /// Messages to send after the effects of the node, because the hello of a session must be sent first.
    outbox: Vec<(NodeId, RoutingMessage)>,
    /// Whether the last published routes include those of all neighbours.
    are_complete: bool,
}

/// An instance here, as passed to the router.
#[derive(Clone, PartialEq, Eq)]
struct HostedInstance {
    application: ApplicationId,
    epoch: Epoch,
    /// Whether it accepts requests. Otherwise its copy starts, or failed.
    accepts: bool,
}

impl Core {
    pub(crate) fn route(&mut self, input: RouterInput) {
        let mut effects = Vec::new();
        let now = self.now();
        self.router.handle(now, input, &mut effects);
        let mut has_changed = false;
        for effect in effects {
            match effect {
                RouterEffect::Send { to, message } => self.hosted.outbox.push((to, message)),
                RouterEffect::Changed(_) => has_changed = true,
            }
        }
        if has_changed || self.are_routes_complete() != self.hosted.are_complete {
            self.publish_announced();
        }
    }

    /// Whether every configured neighbour has sent its routes in its current session.
    fn are_routes_complete(&self) -> bool {
        self.config.neighbours.iter().all(|neighbour| self.router.has_routes_from(&neighbour.id))
    }

    /// Sends the router's messages. None of them depends on an unwritten record.
    pub(crate) fn send_routes(&mut self) {
        for (to, message) in std::mem::take(&mut self.hosted.outbox) {
            // No receiver is set: routes belong to a session, not to a journal. In each session, all of them are
            // announced again.
            let envelope = Envelope::new(self.node.journal(), None, Body::Routing(message));
            self.links.send(&to, &envelope);
        }
    }

    /// Starts the exchange of routes with a neighbour that has introduced itself in this session.
    pub(crate) fn greeted(&mut self, neighbour: &NodeId) {
        let cost = self.link_cost(neighbour);
        self.route(RouterInput::LinkUp { neighbour: neighbour.clone(), cost });
    }

    pub(crate) fn routing_received(&mut self, from: NodeId, mut message: RoutingMessage) {
        if let RoutingMessage::Update(update) = &mut message {
            self.check_names(&from, update);
        }
        self.route(RouterInput::Received { from, message });
    }

    /// Removes names from announced routes: names that this node does not need, names without a valid certificate, and
    /// all names of a neighbour that has announced too many invalid ones. The routes stay.
    fn check_names(&mut self, from: &NodeId, update: &mut Update) {
        for route in &mut update.routes {
            let Some(names) = &route.names else { continue };
            let is_looked_at = self.router.wants_names(&route.application, names) && self.names.is_believed(from);
            let checked = is_looked_at.then(|| self.documents.check_names(&route.application, names));
            if let Some(Err(fault)) = &checked {
                self.names.failed(from);
                self.events.publish(NodeEvent::NamesRefused { neighbour: from.clone(), cause: fault.line() });
            }
            if !matches!(checked, Some(Ok(()))) {
                route.names = None;
            }
        }
    }

    /// Tells the router the current cost of each link that is up.
    pub(crate) fn link_costs(&mut self) {
        let up: Vec<NodeId> = self.up.keys().cloned().collect();
        for neighbour in up {
            let cost = self.link_cost(&neighbour);
            self.route(RouterInput::LinkCost { neighbour, cost });
        }
    }

    fn link_cost(&self, neighbour: &NodeId) -> u32 {
        let quantum_us = self.config.timing.latency_quantum_ms * 1_000.0;
        (f64::from(self.links.quanta(neighbour)) * quantum_us).clamp(1.0, f64::from(u32::MAX)) as u32
    }

    /// If the instances here have changed, or whether they accept requests, tells the router, passes it the names of
    /// their applications, and publishes the routes. An instance that is owned stays known while its copy does not run. Does nothing while the journal cannot be written, so that only changes
    /// on disk are announced.
    pub(crate) fn pass_hosted(&mut self) {
        if self.stalled.is_some() {
            return;
        }
        let ledger = self.node.ledger();
        let custody = ledger.custody().filter(|custody| custody.is_running).map(|custody| &custody.owned);
        // A sleeping instance accepts requests too: they wake it.
        let accepts = |owned: &Owned| {
            self.copies.state(owned.workload) == Some(CopyState::Healthy) || self.sleepers.has(&owned.instance)
        };
        let hosted = |owned: &Owned| {
            let application = owned.descriptor.application.id.clone();
            (owned.instance.clone(), HostedInstance { application, epoch: owned.epoch, accepts: accepts(owned) })
        };
        // With an outdated journal, instances may run elsewhere, and none starts here.
        let is_outdated = ledger.outdated().is_some();
        let owned = ledger.owned().map(hosted).filter(|(_, hosted)| hosted.accepts || !is_outdated);
        let now: BTreeMap<InstanceId, HostedInstance> =
            owned.chain(custody.map(hosted).filter(|(_, kept)| kept.accepts)).collect();
        if now == self.hosted.instances {
            return;
        }
        let before = std::mem::replace(&mut self.hosted.instances, now.clone());
        for (instance, hosted) in &now {
            if before.get(instance) == Some(hosted) {
                continue;
            }
            let HostedInstance { application, epoch, accepts } = hosted.clone();
            let instance = instance.clone();
            self.route(if accepts {
                RouterInput::Hosted { application, instance, epoch }
            } else {
                RouterInput::Starting { application, instance }
            });
        }
        self.pass_names();
        for (instance, HostedInstance { application, .. }) in before {
            if !now.contains_key(&instance) {
                let moved_to = self.hosted.departed.remove(&instance);
                self.route(RouterInput::Unhosted { application, instance, moved_to });
            }
        }
        let kept = &self.hosted.instances;
        self.hosted.departed.retain(|instance, _| kept.contains_key(instance));
        self.publish_announced();
    }

    /// Records the target of an accepted migration, so that the router can send late requests there. Ignores other
    /// requests.
    pub(crate) fn departed(&mut self, request: &Request) {
        if let (Operation::Migrate(Target::Node(target)), Some(instance)) = (request.operation(), request.instance()) {
            self.hosted.departed.insert(instance.clone(), target.clone());
        }
    }

    /// Passes to the router the names of the applications whose instances are here.
    pub(crate) fn pass_names(&mut self) {
        let ledger = self.node.ledger();
        let custody = ledger.custody().map(|custody| &custody.owned);
        let here = ledger.owned().chain(custody).filter(|owned| self.hosted.instances.contains_key(&owned.instance));
        let here: Vec<Arc<Descriptor>> = here.map(|owned| Arc::clone(&owned.descriptor)).collect();
        for descriptor in here {
            let application = descriptor.application.id.clone();
            if let Some(names) = self.documents.names(&descriptor.document) {
                self.route(RouterInput::Named { application, names });
            }
        }
    }

    /// Computes and publishes the routes to instances on other nodes, and the names of all applications. Also publishes
    /// an event for each new conflict of names.
    pub(crate) fn publish_announced(&mut self) {
        self.hosted.are_complete = self.are_routes_complete();
        let mut announced = AnnouncedRoutes { are_complete: self.hosted.are_complete, ..AnnouncedRoutes::default() };
        for (application, hops) in self.router.routes().iter() {
            announced.next_hops.insert(application.clone(), hops.next.clone());
        }
        let known = self.router.applications().map(|application| (application, self.router.names(application)));
        let known: Vec<_> = known.map(|(application, names)| (application, names.map(Arc::as_ref))).collect();
        for Conflict { name, holder, claimed_by } in self.names.update(&known) {
            self.events.publish(NodeEvent::NameClaimedTwice { name: name.to_string(), holder, claimed_by });
        }
        for (name, application) in self.names.holders() {
            match name {
                Name::Host(host) => {
                    announced.hosts.insert(host.clone(), application.clone());
                }
                Name::Prefix(prefix) => announced.prefixes.push((prefix.clone(), application.clone())),
            }
        }
        announced.prefixes.sort_by(|one, other| other.0.len().cmp(&one.0.len()).then_with(|| one.cmp(other)));
        self.board.set_announced(announced);
    }
}
