//! Reconstructs the state of a colony from a trace.

use std::collections::BTreeMap;
use std::io::BufRead;

use mario_audit::reader::{
    Cycle, Detail, FactsAndDecision, Header, Neighbour, Outcome, OwnerActKind, Proposal, TraceReader, TraceRecord,
    TracedPolicy, Verdict, Woken,
};
use mario_domain::{AgentOperation, Fact, Id, InstanceId};
use mario_policy::PolicyText;

use super::{ColonySnapshot, SnapshotApplication, SnapshotError, SnapshotNode};
use crate::report::resolve;

/// The first format of traces that can have anchors.
const ANCHORS: u64 = 8;

impl ColonySnapshot {
    /// The state after all records of a trace that are earlier than `at`, in milliseconds. Fails if the trace has only
    /// counts, or no record at or after `at`.
    pub fn of_trace<R: BufRead>(mut reader: TraceReader<R>, at: f64) -> Result<ColonySnapshot, SnapshotError> {
        let header = std::sync::Arc::clone(reader.header());
        if header.detail == Detail::Summary {
            return Err(SnapshotError::OnlyCounts);
        }
        let mut state = State::default();
        let (mut is_reached, mut end) = (false, 0.0);
        while let Some(record) = reader.next_record().map_err(SnapshotError::Read)? {
            end = record.time();
            if end >= at {
                is_reached = true;
                break;
            }
            state.read(record, &header);
        }
        if is_reached { Ok(state.snapshot(&header)) } else { Err(SnapshotError::Outside { end }) }
    }
}

/// The state after the records read so far.
#[derive(Default)]
struct State {
    /// The instances, in the order in which they appeared.
    instances: BTreeMap<u64, Placed>,
    places: BTreeMap<InstanceId, u64>,
    next: u64,
    /// For each link, the smallest end-to-end latency of the client requests whose last hop was this link.
    latencies: BTreeMap<(u32, u32), f64>,
    links_down: usize,
}

struct Placed {
    application: u32,
    policy: u32,
    node: u32,
    seen: Option<FactsAndDecision>,
    has_flavour: bool,
    is_asleep: bool,
}

impl State {
    fn appear(&mut self, instance: InstanceId, application: u32, policy: u32, node: u32) {
        let placed = Placed { application, policy, node, seen: None, has_flavour: false, is_asleep: false };
        self.instances.insert(self.next, placed);
        self.places.insert(instance, self.next);
        self.next += 1;
    }

    fn go(&mut self, instance: &InstanceId) -> Option<Placed> {
        self.places.remove(instance).and_then(|place| self.instances.remove(&place))
    }

    fn of(&mut self, instance: &InstanceId) -> Option<&mut Placed> {
        self.instances.get_mut(self.places.get(instance)?)
    }

    fn read(&mut self, record: TraceRecord, header: &Header) {
        match record {
            TraceRecord::Deployed(deployed) => {
                self.appear(deployed.instance, deployed.application, deployed.policy, deployed.node);
            }
            TraceRecord::Evaluation(evaluation) => {
                let Some(seen) = evaluation.seen else { return };
                for fact in &seen.requests {
                    if let Neighbour::Node(neighbour) = fact.neighbour {
                        let link = (evaluation.node.min(neighbour), evaluation.node.max(neighbour));
                        let least = self.latencies.entry(link).or_insert(f64::INFINITY);
                        *least = least.min(fact.latency.value());
                    }
                }
                if let Some(placed) = self.of(&evaluation.instance) {
                    placed.seen = Some(seen);
                }
            }
            TraceRecord::Cycle(cycle) => self.cycle(&cycle, header),
            TraceRecord::Woken(Woken { instance, verdict: Verdict::Accepted(_), .. }) => {
                if let Some(placed) = self.of(&instance) {
                    placed.is_asleep = false;
                }
            }
            TraceRecord::NodeDown(down) => down.instances.iter().for_each(|instance| _ = self.go(instance)),
            TraceRecord::Owner(owner) => {
                for act in owner.acts {
                    match act.kind {
                        OwnerActKind::Evicted => _ = self.go(&act.instance),
                        OwnerActKind::Shrunk(_) => {
                            if let Some(placed) = self.of(&act.instance) {
                                placed.has_flavour = true;
                            }
                        }
                        OwnerActKind::Announced(_) => {}
                    }
                }
            }
            TraceRecord::Update(update) => {
                let concerned = self.instances.values_mut().filter(|placed| placed.application == update.application);
                concerned.for_each(|placed| placed.policy = update.policy);
            }
            TraceRecord::LinkDown(_) => self.links_down += 1,
            TraceRecord::LinkUp(_) => self.links_down = self.links_down.saturating_sub(1),
            _ => {}
        }
    }

    fn cycle(&mut self, cycle: &Cycle, header: &Header) {
        for outcome in &cycle.outcomes {
            match outcome {
                Outcome::Judged { instance, proposal, verdict: Verdict::Accepted(new) } => {
                    self.accepted(instance, proposal, new.as_ref());
                }
                Outcome::Deploy { node, application, policy, verdict: Verdict::Accepted(Some(new)) } => {
                    let policy = policy.unwrap_or(header.applications[*application as usize].policy);
                    self.appear(new.clone(), *application, policy, *node);
                }
                Outcome::Nop(_) | Outcome::Judged { .. } | Outcome::Deploy { .. } => {}
            }
        }
    }

    fn accepted(&mut self, instance: &InstanceId, proposal: &Proposal, new: Option<&InstanceId>) {
        let Some(placed) = self.of(instance) else { return };
        let (application, policy) = (placed.application, placed.policy);
        let target = resolve(&proposal.target, placed.node);
        match (proposal.operation, target, new) {
            (AgentOperation::Undeploy, ..) => _ = self.go(instance),
            (AgentOperation::Adapt, ..) => placed.has_flavour = true,
            (AgentOperation::Sleep, ..) => placed.is_asleep = true,
            (AgentOperation::Wake, ..) => placed.is_asleep = false,
            (AgentOperation::Migrate, Some(node), None) => {
                placed.node = node;
                placed.seen = None;
            }
            (AgentOperation::Migrate, Some(node), Some(new)) => {
                self.go(instance);
                self.appear(new.clone(), application, policy, node);
            }
            (AgentOperation::Replicate, Some(node), Some(new)) => {
                self.appear(new.clone(), application, policy, node);
            }
            _ => {}
        }
    }

    fn snapshot(&self, header: &Header) -> ColonySnapshot {
        let about =
            |id: &Id| -> Vec<Fact> { header.facts.iter().filter(|fact| fact.subject == *id).cloned().collect() };
        let nodes = header.nodes.iter().map(|node| SnapshotNode {
            id: node.id.clone(),
            capacity: node.capacity,
            tier: node.tier as u16,
            facts: about(node.id.id()),
        });
        let mut links = BTreeMap::new();
        for (place, node) in header.nodes.iter().enumerate() {
            for neighbour in &node.neighbours {
                let link = (place.min(*neighbour as usize), place.max(*neighbour as usize));
                let known = self.latencies.get(&(link.0 as u32, link.1 as u32)).copied();
                links.insert(link, known.filter(|latency| latency.is_finite()));
            }
        }
        let mut demand: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for placed in self.instances.values() {
            for fact in placed.seen.iter().flat_map(|seen| &seen.requests) {
                let from = match fact.neighbour {
                    Neighbour::Own => placed.node,
                    Neighbour::Node(node) => node,
                };
                *demand.entry((placed.application as usize, from as usize)).or_default() += fact.rate.value();
            }
        }
        let applications = (0..).zip(&header.applications).map(|(place, application)| {
            let agent = self.instances.values().find(|placed| placed.application == place);
            let policy = &header.policies[agent.map_or(application.policy, |agent| agent.policy) as usize];
            SnapshotApplication {
                id: application.id.clone(),
                kind: application.kind.clone(),
                hardware: application.hardware,
                max_rate: application.max_rate,
                max_latency: application.max_latency,
                flavours: application.flavours.clone(),
                sleep: application.sleep,
                facts: about(application.id.id()),
                policy: policy_text(policy),
            }
        });
        ColonySnapshot {
            name: format!("{}-moment", header.scenario),
            evaluation_period: header.evaluation_period,
            nodes: nodes.collect(),
            links,
            applications: applications.collect(),
            instances: self
                .instances
                .values()
                .map(|placed| (placed.application as usize, placed.node as usize))
                .collect(),
            demand: demand
                .into_iter()
                .filter(|(_, rate)| *rate > 0.0)
                .map(|((what, from), rate)| (what, from, rate))
                .collect(),
            left_out: self.left_out(header),
        }
    }

    /// Describes for users what the scenario leaves out.
    fn left_out(&self, header: &Header) -> Vec<String> {
        let mut left_out = vec![
            "users: the client requests that agents observed last come from the node before the last hop, and no user moves"
                .to_owned(),
            "latencies of links: a trace has none, so each is taken from the fastest requests that came over the link"
                .to_owned(),
            "the memory of agents, requests that are being judged, and client requests in transit"
                .to_owned(),
        ];
        if self.instances.values().any(|placed| placed.has_flavour) {
            left_out.push("flavours of instances: each starts in the default flavour".to_owned());
        }
        if self.instances.values().any(|placed| placed.is_asleep) {
            left_out.push("sleep: instances that slept begin awake".to_owned());
        }
        if header.mario_trace >= ANCHORS {
            left_out.push("anchors: policies may undeploy all instances".to_owned());
        }
        if self.links_down > 0 {
            left_out.push(format!("{} links that were down: they work", self.links_down));
        }
        let is_live_acceptance = header.live.as_ref().is_some_and(|live| !live.acceptances.is_empty());
        if is_live_acceptance || !header.acceptances.is_empty() {
            left_out.push("acceptance policies of nodes: whatever fits is accepted".to_owned());
        }
        let gone = (0..)
            .zip(&header.applications)
            .filter(|(place, _)| !self.instances.values().any(|placed| placed.application == *place));
        let gone: Vec<String> = gone.map(|(_, application)| application.id.to_string()).collect();
        if !gone.is_empty() {
            left_out.push(format!("applications without an instance: {}", gone.join(", ")));
        }
        left_out
    }
}

fn policy_text(policy: &TracedPolicy) -> PolicyText {
    let memory = u32::try_from(policy.memory).unwrap_or(u32::MAX);
    PolicyText { name: policy.name.clone(), files: policy.files.clone(), memory }
}
