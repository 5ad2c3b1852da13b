//! Applies the records of a trace: the one place that knows what each record does to the placement.
//!
//! Start at [`State::apply`], which returns nothing but passes each [`Change`] to its caller. Figures, tables, pages and
//! drawings keep what is their own, and take the rest from the changes and from the state after each of them.
//!
//! **Invariant:** it is total. A record that contradicts earlier ones, such as an operation of an unknown instance,
//! changes nothing; the auditor, which has a state of its own, reports it.

mod change;

use std::collections::BTreeSet;
use std::sync::Arc;

use mario_domain::{AgentOperation, Id, InstanceId};
use rustc_hash::FxHashMap;

use crate::live::{LiveEvent, OwnedState};
use crate::reader::{Header, Outcome, Owner, OwnerActKind, Proposal, Target, TraceRecord, Verdict};
use crate::reference::InstanceRef;

pub use change::{Actor, Change, InstanceEnd, Origin};

/// The state of a run after the records applied so far.
#[derive(Clone, Debug)]
pub struct State {
    header: Arc<Header>,
    /// All instances so far, in the order in which they appeared.
    instances: Vec<Instance>,
    /// The existing instances.
    existing: FxHashMap<InstanceId, InstanceRef>,
    /// Instances that a live node owns, and whose appearance is not recorded yet.
    coming: FxHashMap<InstanceId, Body>,
    nodes_down: BTreeSet<u32>,
    /// Links with the smaller index first.
    links_down: BTreeSet<[u32; 2]>,
}

/// An instance, or what was last known of one that no longer exists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Its id.
    pub id: InstanceId,
    /// The index of its application.
    pub application: u32,
    /// The index of its agent's policy.
    pub policy: u32,
    /// The index of its node; `None` if it no longer exists.
    pub node: Option<u32>,
    /// How it runs.
    pub body: Body,
}

/// How an instance runs. A replica runs like its parent at first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// The index of its flavour.
    pub flavour: u32,
    /// Whether it is asleep.
    pub is_asleep: bool,
    /// Whether it is an anchor: an operator deployed it, and its agent cannot undeploy it.
    pub is_anchor: bool,
}

impl State {
    /// The state before the first record of a trace with this header.
    pub fn new(header: Arc<Header>) -> State {
        State {
            header,
            instances: Vec::new(),
            existing: FxHashMap::default(),
            coming: FxHashMap::default(),
            nodes_down: BTreeSet::new(),
            links_down: BTreeSet::new(),
        }
    }

    /// The header of the trace.
    pub fn header(&self) -> &Arc<Header> {
        &self.header
    }

    /// All instances so far, in the order in which they appeared. An [`InstanceRef`] is an index into it.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// The instances that exist, in the order in which they appeared.
    pub fn existing(&self) -> impl Iterator<Item = (InstanceRef, &Instance)> {
        (0..).map(InstanceRef).zip(&self.instances).filter(|(_, instance)| instance.node.is_some())
    }

    /// An instance, whether it still exists or not.
    pub fn instance(&self, instance: InstanceRef) -> &Instance {
        &self.instances[instance.position()]
    }

    /// The existing instance with this id.
    pub fn find(&self, id: &InstanceId) -> Option<InstanceRef> {
        self.existing.get(id).copied()
    }

    /// The neighbours of a node that are down, or whose link to it is down.
    pub fn unreached(&self, node: u32) -> Vec<u32> {
        if self.nodes_down.is_empty() && self.links_down.is_empty() {
            return Vec::new();
        }
        let is_lost = |other: &u32| self.nodes_down.contains(other) || self.links_down.contains(&link(node, *other));
        self.header.nodes[node as usize].neighbours.iter().copied().filter(is_lost).collect()
    }

    /// The number of links that are down.
    pub fn links_down(&self) -> usize {
        self.links_down.len()
    }

    /// Applies the next record, and passes each change to `each`, with the state after it.
    pub fn apply<'r>(&mut self, record: &'r TraceRecord, each: &mut impl FnMut(&State, Change<'r>)) {
        match record {
            TraceRecord::Deployed(deployed) => {
                let (application, node) = (deployed.application, deployed.node);
                self.deploy(&deployed.instance, (application, node), deployed.policy, Origin::Initial, each);
            }
            TraceRecord::Cycle(cycle) => {
                for outcome in &cycle.outcomes {
                    self.judged(outcome, each);
                }
            }
            TraceRecord::Owner(owner) => self.owner(owner, each),
            TraceRecord::Woken(woken) => {
                let Some(instance) = self.find(&woken.instance) else { return };
                match &woken.inhibited {
                    None => self.set_asleep(instance, false, Actor::Client, each),
                    Some(inhibition) => each(self, Change::WakeInhibited { instance, inhibition }),
                }
            }
            TraceRecord::Update(update) => {
                let (application, policy) = (update.application, update.policy);
                let concerned = self.instances.iter_mut().filter(|instance| instance.node.is_some());
                concerned
                    .filter(|instance| instance.application == application)
                    .for_each(|instance| instance.policy = policy);
                each(self, Change::PolicyChanged { application, policy });
            }
            TraceRecord::NodeDown(down) => {
                for id in &down.instances {
                    if let Some(instance) = self.find(id) {
                        self.end(instance, InstanceEnd::Lost, each);
                    }
                }
                self.nodes_down.insert(down.node);
                each(self, Change::NodeDown { node: down.node, cause: down.cause });
            }
            TraceRecord::NodeLeaving(leaving) => each(self, Change::NodeLeaving { node: leaving.node }),
            TraceRecord::NodeUp(up) => {
                self.nodes_down.remove(&up.node);
                each(self, Change::NodeUp { node: up.node });
            }
            TraceRecord::LinkDown(down) => {
                self.links_down.insert(link(down.one, down.other));
                each(self, Change::LinkDown { nodes: [down.one, down.other] });
            }
            TraceRecord::LinkUp(up) => {
                self.links_down.remove(&link(up.one, up.other));
                each(self, Change::LinkUp { nodes: [up.one, up.other] });
            }
            TraceRecord::Live(live) => self.live(live.node, &live.event, each),
            // What agents and clients saw changes nothing, and counts do not name instances.
            TraceRecord::Handover(_)
            | TraceRecord::Evaluation(_)
            | TraceRecord::Regret(_)
            | TraceRecord::Responses(_)
            | TraceRecord::Usage(_)
            | TraceRecord::Client(_)
            | TraceRecord::Clients(_)
            | TraceRecord::Handovers(_)
            | TraceRecord::Counts(_)
            | TraceRecord::Gone(_)
            | TraceRecord::Owners(_)
            | TraceRecord::Wakings(_)
            | TraceRecord::Latency(_)
            | TraceRecord::Traffic(_)
            | TraceRecord::Calls(_)
            | TraceRecord::End(_) => {}
        }
    }

    fn judged<'r>(&mut self, outcome: &'r Outcome, each: &mut impl FnMut(&State, Change<'r>)) {
        match outcome {
            Outcome::Nop(id) => {
                if let Some(instance) = self.find(id) {
                    each(self, Change::Nop { instance });
                }
            }
            Outcome::Judged { instance, proposal, verdict } => {
                let Some(instance) = self.find(instance) else { return };
                match verdict {
                    Verdict::Accepted(created) => self.accepted(instance, proposal, created.as_ref(), each),
                    Verdict::Inhibited(inhibition) => {
                        each(self, Change::Inhibited { instance, proposal, inhibition });
                    }
                }
            }
            Outcome::Deploy { node, application, policy, verdict } => match verdict {
                Verdict::Accepted(Some(id)) => {
                    let policy = policy.unwrap_or(self.header.applications[*application as usize].policy);
                    self.deploy(id, (*application, *node), policy, Origin::Deployed, each);
                }
                Verdict::Accepted(None) => {}
                Verdict::Inhibited(inhibition) => {
                    let (application, node) = (*application, *node);
                    each(self, Change::DeployInhibited { application, node, inhibition });
                }
            },
        }
    }

    /// Applies an accepted operation of an agent.
    fn accepted<'r>(
        &mut self,
        instance: InstanceRef,
        proposal: &'r Proposal,
        created: Option<&InstanceId>,
        each: &mut impl FnMut(&State, Change<'r>),
    ) {
        each(self, Change::Accepted { instance, proposal });
        let target = self.instance(instance).node.and_then(|own| proposal.target.node(own));
        match proposal.operation {
            AgentOperation::Undeploy => self.end(instance, InstanceEnd::Undeployed, each),
            AgentOperation::Migrate => {
                if let Some(to) = target {
                    self.migrate(instance, to, created, each);
                }
            }
            AgentOperation::Replicate => {
                if let (Some(node), Some(id)) = (target, created) {
                    let replica = Instance {
                        id: id.clone(),
                        node: Some(node),
                        body: Body { is_anchor: false, ..self.instance(instance).body },
                        ..*self.instance(instance)
                    };
                    self.appear(replica, Origin::Replicated(instance), each);
                }
            }
            AgentOperation::Adapt => {
                if let Target::Flavour(flavour) = &proposal.target {
                    self.adapt(instance, flavour, Actor::Agent, each);
                }
            }
            AgentOperation::Sleep => self.set_asleep(instance, true, Actor::Agent, each),
            AgentOperation::Wake => self.set_asleep(instance, false, Actor::Agent, each),
        }
    }

    fn owner<'r>(&mut self, owner: &'r Owner, each: &mut impl FnMut(&State, Change<'r>)) {
        for act in &owner.acts {
            let Some(instance) = self.find(&act.instance) else { continue };
            let reason = act.reason.as_str();
            match &act.kind {
                OwnerActKind::Evicted => self.end(instance, InstanceEnd::Evicted(reason), each),
                OwnerActKind::Shrunk(flavour) => self.adapt(instance, flavour.id(), Actor::Owner(reason), each),
                OwnerActKind::Announced(evaluations) => {
                    each(self, Change::EvictionAnnounced { instance, evaluations: *evaluations, reason });
                }
            }
        }
    }

    /// Applies what only live nodes record. That instances appear, move and end is in records of cycles as well.
    fn live<'r>(&mut self, node: u32, event: &'r LiveEvent<u32>, each: &mut impl FnMut(&State, Change<'r>)) {
        match event {
            LiveEvent::Own { owned, .. } => self.owned(owned, each),
            LiveEvent::State(state) => state.owned.iter().for_each(|owned| self.owned(owned, each)),
            LiveEvent::Anchored { instance, is_anchor } => {
                self.change_body(instance, |body| Body { is_anchor: *is_anchor, ..body }, each);
            }
            LiveEvent::Adapted { instance, flavour } => {
                self.change_body(instance, |body| Body { flavour: *flavour, ..body }, each);
            }
            LiveEvent::Slept { instance } => {
                self.change_body(instance, |body| Body { is_asleep: true, ..body }, each);
            }
            LiveEvent::Woke { instance } => {
                self.change_body(instance, |body| Body { is_asleep: false, ..body }, each);
            }
            LiveEvent::Updated { instance, application, flavour, .. } => {
                self.update(instance, *application, each);
                self.change_body(instance, |body| Body { flavour: *flavour, ..body }, each);
            }
            LiveEvent::Drained { is_draining } | LiveEvent::Draining { is_draining } => {
                each(self, Change::Draining { node, is_draining: *is_draining });
            }
            // Transfers, workloads and journals. What they do to instances is in other records. A wake that was refused
            // is not a change: the accepted ones do not say that they were requests of clients.
            LiveEvent::Boot { .. }
            | LiveEvent::Custody { .. }
            | LiveEvent::CustodyEnded { .. }
            | LiveEvent::Offer(_)
            | LiveEvent::Taken { .. }
            | LiveEvent::NotTaken { .. }
            | LiveEvent::Undeployed { .. }
            | LiveEvent::Stopped { .. }
            | LiveEvent::Forgotten { .. }
            | LiveEvent::Pinned { .. }
            | LiveEvent::Undeploying { .. }
            | LiveEvent::WakeRefused { .. }
            | LiveEvent::Shrunk { .. }
            | LiveEvent::Lost { .. }
            | LiveEvent::Outdated { .. }
            | LiveEvent::Peer { .. }
            | LiveEvent::Prepare { .. }
            | LiveEvent::Aborted { .. }
            | LiveEvent::Reserved(_)
            | LiveEvent::Released { .. }
            | LiveEvent::Freed { .. }
            | LiveEvent::Neighbours { .. } => {}
        }
    }

    /// Applies how an instance runs on a live node that owns it. The record that it appeared or moved there follows.
    fn owned<'r>(&mut self, owned: &OwnedState, each: &mut impl FnMut(&State, Change<'r>)) {
        let OwnedState { flavour, is_asleep, is_anchor, .. } = *owned;
        let body = Body { flavour, is_asleep, is_anchor };
        if self.find(&owned.instance).is_some() {
            self.change_body(&owned.instance, |_| body, each);
        } else if body != Body::default() {
            self.coming.insert(owned.instance.clone(), body);
        }
    }

    fn deploy<'r>(
        &mut self,
        id: &InstanceId,
        (application, node): (u32, u32),
        policy: u32,
        origin: Origin,
        each: &mut impl FnMut(&State, Change<'r>),
    ) {
        let is_anchor = self.header.applications[application as usize].anchor;
        let body = Body { is_anchor, ..Body::default() };
        self.appear(Instance { id: id.clone(), application, policy, node: Some(node), body }, origin, each);
    }

    /// Adds an instance, unless one with its id exists.
    fn appear<'r>(&mut self, appeared: Instance, origin: Origin, each: &mut impl FnMut(&State, Change<'r>)) {
        let id = appeared.id.clone();
        if let Some(instance) = self.add(appeared) {
            each(self, Change::Appeared { instance, origin });
        }
        if let Some(body) = self.coming.remove(&id) {
            self.change_body(&id, |_| body, each);
        }
    }

    fn add(&mut self, appeared: Instance) -> Option<InstanceRef> {
        let instance = InstanceRef(self.instances.len() as u32);
        if self.existing.contains_key(&appeared.id) {
            return None;
        }
        self.existing.insert(appeared.id.clone(), instance);
        self.instances.push(appeared);
        Some(instance)
    }

    fn migrate<'r>(
        &mut self,
        instance: InstanceRef,
        to: u32,
        created: Option<&InstanceId>,
        each: &mut impl FnMut(&State, Change<'r>),
    ) {
        let before = &mut self.instances[instance.position()];
        let Some(from) = before.node else { return };
        let became = match created {
            None => {
                before.node = Some(to);
                None
            }
            Some(id) if *id == before.id || self.existing.contains_key(id) => return,
            Some(id) => {
                let arrived = Instance { id: id.clone(), node: Some(to), ..*before };
                before.node = None;
                self.existing.remove(&before.id);
                self.add(arrived)
            }
        };
        each(self, Change::Moved { instance, from, to, became });
    }

    fn end<'r>(&mut self, instance: InstanceRef, end: InstanceEnd<'r>, each: &mut impl FnMut(&State, Change<'r>)) {
        let ended = &mut self.instances[instance.position()];
        let Some(node) = ended.node.take() else { return };
        self.existing.remove(&ended.id);
        each(self, Change::Left { instance, node, end });
    }

    /// Changes the flavour of an instance, if its application has the flavour.
    fn adapt<'r>(
        &mut self,
        instance: InstanceRef,
        flavour: &Id,
        by: Actor<'r>,
        each: &mut impl FnMut(&State, Change<'r>),
    ) {
        let adapted = &mut self.instances[instance.position()];
        let application = &self.header.applications[adapted.application as usize];
        let Some(flavour) = application.find_flavour(flavour) else { return };
        let from = std::mem::replace(&mut adapted.body.flavour, flavour);
        each(self, Change::Adapted { instance, from, by });
    }

    fn set_asleep<'r>(
        &mut self,
        instance: InstanceRef,
        is_asleep: bool,
        by: Actor<'r>,
        each: &mut impl FnMut(&State, Change<'r>),
    ) {
        self.instances[instance.position()].body.is_asleep = is_asleep;
        each(self, if is_asleep { Change::Slept { instance, by } } else { Change::Woke { instance, by } });
    }

    /// Applies what a live node records of an instance. It may repeat what is known, e.g. the act of an owner.
    fn change_body<'r>(
        &mut self,
        id: &InstanceId,
        change: impl FnOnce(Body) -> Body,
        each: &mut impl FnMut(&State, Change<'r>),
    ) {
        let Some(instance) = self.find(id) else { return };
        let before = self.instance(instance).body;
        let after = change(before);
        let by = Actor::LiveNode;
        if after.flavour != before.flavour {
            self.instances[instance.position()].body.flavour = after.flavour;
            each(self, Change::Adapted { instance, from: before.flavour, by });
        }
        if after.is_asleep != before.is_asleep {
            self.set_asleep(instance, after.is_asleep, by, each);
        }
        if after.is_anchor != before.is_anchor {
            self.instances[instance.position()].body.is_anchor = after.is_anchor;
            each(self, Change::Anchored { instance, is_anchor: after.is_anchor });
        }
    }

    /// Applies the update of a live instance to another description of its application, each of which has its policy.
    fn update<'r>(&mut self, id: &InstanceId, application: u32, each: &mut impl FnMut(&State, Change<'r>)) {
        let Some(instance) = self.find(id) else { return };
        let updated = &mut self.instances[instance.position()];
        let from = std::mem::replace(&mut updated.application, application);
        updated.policy = self.header.applications[application as usize].policy;
        if from != application {
            each(self, Change::Updated { instance, from });
        }
    }
}

impl Instance {
    /// The hardware units that it holds on its node.
    pub fn held_units(&self, header: &Header) -> u64 {
        let application = &header.applications[self.application as usize];
        application.held_in(self.body.flavour, self.body.is_asleep).as_units()
    }
}

/// The key of a link: the smaller index first.
fn link(one: u32, other: u32) -> [u32; 2] {
    [one.min(other), one.max(other)]
}
