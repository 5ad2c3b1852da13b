//! The router of the node: told of links and copies, it says where client requests go.

use std::collections::BTreeMap;

use mario_colony::routing::{RouterEffect, RouterInput, RoutingMessage};
use mario_colony::{Epoch, Owned};
use mario_domain::{ApplicationId, InstanceId, NodeId, Operation, Request, Target};
use mario_wire::{Body, Envelope};

use super::board::ToldRoutes;
use super::copies::CopyState;
use super::core::Core;

/// What the router was told of the instances here, and where instances went.
#[derive(Default)]
pub(crate) struct Hosted {
    instances: BTreeMap<InstanceId, (ApplicationId, Epoch)>,
    departed: BTreeMap<InstanceId, NodeId>,
    /// What is to be sent, behind the effects of the node: the hello of a session goes first.
    outbox: Vec<(NodeId, RoutingMessage)>,
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
        if has_changed {
            self.publish_told();
        }
    }

    /// Sends what the router wants sent. Nothing in it depends on the disk.
    pub(crate) fn send_routes(&mut self) {
        for (to, message) in std::mem::take(&mut self.hosted.outbox) {
            // Routes concern the session alone: whatever journal is at the other end, it has just been told all of them.
            let envelope = Envelope::new(self.node.journal(), None, Body::Routing(message));
            self.links.send(&to, &envelope);
        }
    }

    /// A neighbour has introduced itself in this session: routes can be exchanged.
    pub(crate) fn greeted(&mut self, neighbour: &NodeId) {
        let cost = self.link_cost(neighbour);
        self.route(RouterInput::LinkUp { neighbour: neighbour.clone(), cost });
    }

    pub(crate) fn routing_received(&mut self, from: NodeId, message: RoutingMessage) {
        self.route(RouterInput::Received { from, message });
    }

    /// The delays of links may be others than before.
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

    /// Tells the router which instances here take requests, if that is not what it was told before. What has gone is gone on disk.
    pub(crate) fn tell_hosted(&mut self) {
        if self.stalled.is_some() {
            return;
        }
        let ledger = self.node.ledger();
        let custody = ledger.custody().filter(|custody| custody.is_running).map(|custody| &custody.owned);
        let serves = |owned: &&Owned| self.copies.state(owned.workload) == Some(CopyState::Healthy);
        let now: BTreeMap<InstanceId, (ApplicationId, Epoch)> = ledger
            .owned()
            .chain(custody)
            .filter(serves)
            .map(|owned| (owned.instance.clone(), (owned.descriptor.application.id.clone(), owned.epoch)))
            .collect();
        if now == self.hosted.instances {
            return;
        }
        let before = std::mem::replace(&mut self.hosted.instances, now.clone());
        for (instance, (application, epoch)) in &now {
            if before.get(instance).is_none_or(|(_, known)| known != epoch) {
                let (application, instance, epoch) = (application.clone(), instance.clone(), *epoch);
                self.route(RouterInput::Hosted { application, instance, epoch });
            }
        }
        for (instance, (application, _)) in before {
            if !now.contains_key(&instance) {
                let moved_to = self.hosted.departed.remove(&instance);
                self.route(RouterInput::Unhosted { application, instance, moved_to });
            }
        }
        let kept = &self.hosted.instances;
        self.hosted.departed.retain(|instance, _| kept.contains_key(instance));
        self.publish_told();
    }

    /// An instance went to a neighbour: requests that still come here for it are sent there.
    pub(crate) fn departed(&mut self, request: &Request) {
        if let (Operation::Migrate(Target::Node(target)), Some(instance)) = (request.operation(), request.instance()) {
            self.hosted.departed.insert(instance.clone(), target.clone());
        }
    }

    /// Puts together what is known of instances elsewhere, and the names of those here.
    pub(crate) fn publish_told(&mut self) {
        let mut told = ToldRoutes::default();
        for (application, hops) in self.router.routes().iter() {
            told.next_hops.insert(application.clone(), hops.next.clone());
        }
        for owned in self.node.ledger().owned() {
            if let Some(names) = self.documents.names(&owned.descriptor.document) {
                told.names.insert(owned.descriptor.application.id.clone(), names);
            }
        }
        self.board.set_told(told);
    }
}
