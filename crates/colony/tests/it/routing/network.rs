//! A network of routers in simulated time, with links that delay, lose and reorder messages, nodes that crash,
//! instances that move, and clients.

mod checks;
mod clients;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use mario_colony::Epoch;
use mario_colony::routing::{Router, RouterConfig, RouterEffect, RouterInput, RoutingMessage, Trail};
use mario_domain::{ApplicationId, InstanceId, NodeId, Time};
use mario_testing::Random;

use super::shapes::Shape;

/// A scheduled event.
enum Event {
    Deliver {
        link: usize,
        session: u64,
        to: usize,
        message: RoutingMessage,
    },
    Wake(usize),
    /// A node notices that a session has ended.
    Notice {
        link: usize,
        session: u64,
        node: usize,
    },
    /// A client request arrives on a node.
    Arrive {
        at: usize,
        from: Option<usize>,
        request: Request,
    },
    /// The source of a move learns that the target has taken the instance.
    Gone {
        application: usize,
        instance: InstanceId,
        source: usize,
        target: usize,
    },
    /// A copy has finished its requests and ends.
    Drained {
        application: usize,
        instance: InstanceId,
        node: usize,
    },
}

/// A client request. `path_back` has the nodes that forwarded it here, the previous one last.
struct Request {
    application: usize,
    trail: Trail,
    path_back: Vec<usize>,
}

/// A link. Each end has the number of its current session, or `None`. The link works while both have the same number.
pub struct Link {
    pub ends: [usize; 2],
    pub cost: u32,
    sessions: [Option<u64>; 2],
    /// For each sender: when its last message arrives, not counting messages that may be reordered.
    last: [f64; 2],
}

/// Counts of messages and client requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    pub updates: u64,
    pub marks: u64,
    pub routes: u64,
    pub requests: u64,
    pub repeats: u64,
    pub served: u64,
    /// Client requests that found no instance although one was reachable over working links.
    pub failed: u64,
    /// Client requests that ran out of hops.
    pub used_up: u64,
    /// Client requests that arrived on a node that was down, or over a link that did not work.
    pub broken: u64,
    pub hops: u64,
}

/// How links lose and reorder messages.
#[derive(Clone, Copy, Default)]
pub struct Conditions {
    pub loss_percent: u64,
    pub is_reordering: bool,
}

pub struct Network {
    pub now: f64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: BTreeMap<u64, Event>,
    scheduled: u64,
    routers: Vec<Option<Router>>,
    wakes: Vec<f64>,
    pub links: Vec<Link>,
    adjacent: Vec<Vec<usize>>,
    pub applications: Vec<ApplicationId>,
    /// For each application, its instances, each with its node and epoch.
    pub hosts: Vec<BTreeMap<InstanceId, (usize, Epoch)>>,
    sessions: u64,
    instances: i64,
    pub conditions: Conditions,
    pub random: Random,
    pub tally: Tally,
    config: RouterConfig,
    /// Whether the invariants of a node are checked after each input to its router.
    pub is_checked: bool,
    /// Whether sequences of labels are increased at random in transit.
    pub is_forging: bool,
}

impl Network {
    pub fn new(shape: &Shape, applications: usize, seed: u64, change: impl FnOnce(&mut RouterConfig)) -> Network {
        let mut config = RouterConfig::new(NodeId::number(0));
        change(&mut config);
        let mut adjacent = vec![Vec::new(); shape.nodes];
        for (link, (one, other, _)) in shape.links.iter().enumerate() {
            adjacent[*one].push(link);
            adjacent[*other].push(link);
        }
        let link = |&(one, other, cost): &(usize, usize, u32)| Link {
            ends: [one, other],
            cost,
            sessions: [None; 2],
            last: [0.0; 2],
        };
        let mut network = Network {
            now: 0.0,
            queue: BinaryHeap::new(),
            events: BTreeMap::new(),
            scheduled: 0,
            routers: Vec::new(),
            wakes: vec![f64::INFINITY; shape.nodes],
            links: shape.links.iter().map(link).collect(),
            adjacent,
            applications: (0..applications).map(|number| ApplicationId::number(number as i64)).collect(),
            hosts: vec![BTreeMap::new(); applications],
            sessions: 0,
            instances: 0,
            conditions: Conditions::default(),
            random: Random::new(seed),
            tally: Tally::default(),
            config,
            is_checked: false,
            is_forging: false,
        };
        network.routers = (0..shape.nodes).map(|node| Some(network.fresh_router(node))).collect();
        for node in 0..shape.nodes {
            network.schedule_wake(node);
        }
        for link in 0..network.links.len() {
            network.connect(link);
        }
        network
    }

    pub fn nodes(&self) -> usize {
        self.routers.len()
    }

    pub fn router(&self, node: usize) -> Option<&Router> {
        self.routers[node].as_ref()
    }

    fn fresh_router(&self, node: usize) -> Router {
        let config = RouterConfig { node: id(node), ..self.config.clone() };
        Router::new(Arc::new(config), Time::at(self.now))
    }

    fn schedule(&mut self, at: f64, event: Event) {
        self.scheduled += 1;
        // Times are not negative, so ordering by their bits orders them by value.
        self.queue.push(Reverse((at.max(self.now).to_bits(), self.scheduled)));
        self.events.insert(self.scheduled, event);
    }

    fn schedule_wake(&mut self, node: usize) {
        let Some(router) = &self.routers[node] else { return };
        let at = router.next_timeout().units();
        if at < self.wakes[node] {
            self.wakes[node] = at;
            self.schedule(at, Event::Wake(node));
        }
    }

    /// Processes all events up to and including a time.
    pub fn run_until(&mut self, until: f64) {
        while let Some(Reverse((bits, number))) = self.queue.peek().copied() {
            let at = f64::from_bits(bits);
            if at > until {
                break;
            }
            self.queue.pop();
            let Some(event) = self.events.remove(&number) else { continue };
            self.now = at;
            self.happen(event);
        }
        self.now = until;
    }

    pub fn run_for(&mut self, duration: f64) {
        self.run_until(self.now + duration);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Wake(node) => {
                self.wakes[node] = f64::INFINITY;
                self.handle(node, RouterInput::Timeout);
            }
            Event::Deliver { link, session, to, message } => {
                let end = self.end(link, to);
                if self.links[link].sessions[end] == Some(session) {
                    let from = id(self.links[link].ends[1 - end]);
                    self.handle(to, RouterInput::Received { from, message });
                }
            }
            Event::Notice { link, session, node } => {
                let end = self.end(link, node);
                if self.links[link].sessions[end] == Some(session) {
                    self.links[link].sessions[end] = None;
                    let neighbour = id(self.links[link].ends[1 - end]);
                    self.handle(node, RouterInput::LinkDown { neighbour });
                }
            }
            Event::Arrive { at, from, request } => self.arrive(at, from, request),
            Event::Drained { application, instance, node } => {
                let application = self.applications[application].clone();
                self.handle(node, RouterInput::Unhosted { application, instance, moved_to: None });
            }
            Event::Gone { application, instance, source, target } => {
                if self.hosts[application].get(&instance).is_some_and(|(host, _)| *host == source) {
                    // The instance came back before the source learned that it was taken.
                    return;
                }
                let input = RouterInput::Unhosted {
                    application: self.applications[application].clone(),
                    instance,
                    moved_to: Some(id(target)),
                };
                self.handle(source, input);
            }
        }
    }

    fn end(&self, link: usize, node: usize) -> usize {
        usize::from(self.links[link].ends[1] == node)
    }

    fn handle(&mut self, node: usize, input: RouterInput) {
        let Some(router) = &mut self.routers[node] else { return };
        let mut effects = Vec::new();
        router.handle(Time::at(self.now), input, &mut effects);
        for effect in effects {
            if let RouterEffect::Send { to, message } = effect {
                self.send(node, &to, message);
            }
        }
        self.schedule_wake(node);
        if self.is_checked {
            self.check(node);
        }
    }

    fn send(&mut self, from: usize, to: &NodeId, mut message: RoutingMessage) {
        if let RoutingMessage::Update(update) = &mut message
            && self.is_forging
        {
            for label in update.routes.iter_mut().filter_map(|route| route.label.as_mut()) {
                label.sequence += self.random.below(3);
            }
        }
        match &message {
            RoutingMessage::Update(update) if update.routes.is_empty() => self.tally.marks += 1,
            RoutingMessage::Update(update) => {
                self.tally.updates += 1;
                self.tally.routes += update.routes.len() as u64;
            }
            RoutingMessage::Request(_) => self.tally.requests += 1,
            RoutingMessage::Repeat => self.tally.repeats += 1,
        }
        let to = number(to);
        let Some(link) = self.link_between(from, to) else { panic!("{from} sends to {to}, which is no neighbour") };
        let end = self.end(link, from);
        let Some(session) = self.links[link].sessions[end] else { panic!("{from} sends to {to} without a session") };
        if self.random.percent(self.conditions.loss_percent) {
            return;
        }
        let delay = f64::from(self.links[link].cost) / 1_000.0;
        let at = if self.conditions.is_reordering {
            self.now + delay * (1.0 + self.random.below(5_u64) as f64)
        } else {
            // A session is a stream: messages are not reordered.
            let at = (self.now + delay).max(self.links[link].last[end]);
            self.links[link].last[end] = at;
            at
        };
        self.schedule(at, Event::Deliver { link, session, to, message });
    }

    pub fn link_between(&self, one: usize, other: usize) -> Option<usize> {
        self.adjacent[one].iter().copied().find(|link| self.links[*link].ends.contains(&other))
    }

    pub fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> {
        self.adjacent[node].iter().map(move |link| {
            let [one, other] = self.links[*link].ends;
            if one == node { other } else { one }
        })
    }

    /// Whether requests pass a link: both ends are in the same session.
    pub fn works(&self, link: usize) -> bool {
        let [one, other] = self.links[link].sessions;
        one.is_some() && one == other
    }

    /// Starts a session, unless the link works or an end has crashed. An end that is still in an older session ends it.
    pub fn connect(&mut self, link: usize) {
        let ends = self.links[link].ends;
        if self.works(link) || ends.iter().any(|end| self.routers[*end].is_none()) {
            return;
        }
        self.sessions += 1;
        let (session, cost) = (self.sessions, self.links[link].cost);
        for (end, node) in ends.into_iter().enumerate() {
            let neighbour = id(ends[1 - end]);
            if self.links[link].sessions[end].take().is_some() {
                self.handle(node, RouterInput::LinkDown { neighbour });
            }
        }
        self.links[link].sessions = [Some(session); 2];
        for (end, node) in ends.into_iter().enumerate() {
            self.handle(node, RouterInput::LinkUp { neighbour: id(ends[1 - end]), cost });
        }
    }

    /// Cuts a link; each end notices within 3 s.
    pub fn cut(&mut self, link: usize) {
        let ends = self.links[link].ends;
        for (end, node) in ends.into_iter().enumerate() {
            if let Some(session) = self.links[link].sessions[end] {
                let delay = self.random.between(0, 3_000) as f64;
                self.schedule(self.now + delay, Event::Notice { link, session, node });
            }
        }
        // From now on the two ends are in different sessions, so that messages sent before they notice are lost.
        self.sessions += 1;
        let fresh = self.sessions;
        for node in ends {
            let end = self.end(link, node);
            if self.links[link].sessions[end].is_some() && end == 0 {
                self.links[link].sessions[end] = Some(fresh);
                self.schedule(self.now + 1_000.0, Event::Notice { link, session: fresh, node });
            }
        }
    }

    pub fn change_cost(&mut self, link: usize, cost: u32) {
        self.links[link].cost = cost;
        let ends = self.links[link].ends;
        for (end, node) in ends.into_iter().enumerate() {
            if self.links[link].sessions[end].is_some() {
                self.handle(node, RouterInput::LinkCost { neighbour: id(ends[1 - end]), cost });
            }
        }
    }

    /// Crashes a node: its router loses its state, and its neighbours notice within 3 s. A restart hosts its instances
    /// again.
    pub fn crash(&mut self, node: usize) {
        for link in self.adjacent[node].clone() {
            self.cut(link);
            let end = self.end(link, node);
            self.links[link].sessions[end] = None;
        }
        self.routers[node] = None;
        self.wakes[node] = f64::INFINITY;
    }

    pub fn restart(&mut self, node: usize) {
        if self.routers[node].is_some() {
            return;
        }
        self.routers[node] = Some(self.fresh_router(node));
        self.schedule_wake(node);
        for application in 0..self.applications.len() {
            let hosted: Vec<(InstanceId, Epoch)> = self.hosts[application]
                .iter()
                .filter(|(_, (host, _))| *host == node)
                .map(|(instance, (_, epoch))| (instance.clone(), *epoch))
                .collect();
            for (instance, epoch) in hosted {
                self.host(node, application, instance, epoch);
            }
        }
        for link in self.adjacent[node].clone() {
            self.connect(link);
        }
    }

    fn host(&mut self, node: usize, application: usize, instance: InstanceId, epoch: Epoch) {
        let application = self.applications[application].clone();
        self.handle(node, RouterInput::Hosted { application, instance, epoch });
    }

    /// Adds an instance, unless the node is down.
    pub fn deploy(&mut self, application: usize, node: usize) {
        if self.routers[node].is_none() {
            return;
        }
        self.instances += 1;
        let instance = InstanceId::number(self.instances);
        self.hosts[application].insert(instance.clone(), (node, Epoch(1)));
        self.host(node, application, instance, Epoch(1));
    }

    pub fn undeploy(&mut self, application: usize, instance: &InstanceId) {
        if let Some((node, _)) = self.hosts[application].remove(instance) {
            let name = self.applications[application].clone();
            self.handle(node, RouterInput::Leaving { application: name, instance: instance.clone() });
            let instance = instance.clone();
            self.schedule(self.now + 2_000.0, Event::Drained { application, instance, node });
        }
    }

    /// Migrates an instance to a neighbour, if the link works. The target accepts requests before the source learns
    /// that the instance was taken.
    pub fn migrate(&mut self, application: usize, instance: &InstanceId, target: usize) {
        let Some((source, epoch)) = self.hosts[application].get(instance).copied() else { return };
        let Some(link) = self.link_between(source, target).filter(|link| self.works(*link)) else { return };
        let epoch = epoch.next();
        self.hosts[application].insert(instance.clone(), (target, epoch));
        self.host(target, application, instance.clone(), epoch);
        let delay = f64::from(self.links[link].cost) / 1_000.0 + 4.0;
        let instance = instance.clone();
        self.schedule(self.now + delay, Event::Gone { application, instance, source, target });
    }
}

pub fn id(node: usize) -> NodeId {
    NodeId::number(node as i64)
}

fn number(node: &NodeId) -> usize {
    match node.id() {
        mario_domain::Id::Number(number) => *number as usize,
        mario_domain::Id::Name(_) => panic!("nodes have numbers here"),
    }
}
