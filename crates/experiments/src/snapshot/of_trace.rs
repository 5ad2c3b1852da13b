//! Reconstructs the state of a colony from a trace.

use std::collections::BTreeMap;
use std::io::BufRead;

use mario_domain::{Fact, Id};
use mario_policy::PolicyText;
use mario_trace::reader::{Detail, Evaluation, FactsAndDecision, Neighbour, TraceReader, TraceRecord, TracedPolicy};
use mario_trace::{Change, InstanceRef, State};
use rustc_hash::FxHashMap;

use super::{ColonySnapshot, SnapshotApplication, SnapshotError, SnapshotNode};

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
        let (mut state, mut seen) = (State::new(header), LastSeen::default());
        let (mut is_reached, mut end) = (false, 0.0);
        while let Some(record) = reader.next_record().map_err(SnapshotError::Read)? {
            end = record.time();
            if end >= at {
                is_reached = true;
                break;
            }
            state.apply(&record, &mut |_, change| seen.apply(change));
            if let TraceRecord::Evaluation(evaluation) = record {
                seen.evaluated(&state, evaluation);
            }
        }
        if is_reached { Ok(seen.snapshot(&state)) } else { Err(SnapshotError::Outside { end }) }
    }
}

/// What agents saw in the records read so far.
#[derive(Default)]
struct LastSeen {
    /// For each instance, what its agent saw last on its node.
    facts: FxHashMap<InstanceRef, FactsAndDecision>,
    /// For each link, the smallest end-to-end latency of the client requests whose last hop was this link.
    latencies: BTreeMap<(u32, u32), f64>,
}

impl LastSeen {
    fn evaluated(&mut self, state: &State, evaluation: Evaluation) {
        let Some(seen) = evaluation.seen else { return };
        for fact in &seen.requests {
            if let Neighbour::Node(neighbour) = fact.neighbour {
                let link = (evaluation.node.min(neighbour), evaluation.node.max(neighbour));
                let least = self.latencies.entry(link).or_insert(f64::INFINITY);
                *least = least.min(fact.latency.value());
            }
        }
        if let Some(instance) = state.find(&evaluation.instance) {
            self.facts.insert(instance, seen);
        }
    }

    fn apply(&mut self, change: Change<'_>) {
        match change {
            Change::Moved { instance, .. } | Change::Left { instance, .. } => _ = self.facts.remove(&instance),
            Change::Appeared { .. }
            | Change::Adapted { .. }
            | Change::Slept { .. }
            | Change::Woke { .. }
            | Change::Anchored { .. }
            | Change::EvictionAnnounced { .. }
            | Change::Updated { .. }
            | Change::PolicyChanged { .. }
            | Change::Nop { .. }
            | Change::Accepted { .. }
            | Change::Inhibited { .. }
            | Change::DeployInhibited { .. }
            | Change::WakeInhibited { .. }
            | Change::NodeDown { .. }
            | Change::NodeUp { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => {}
        }
    }

    fn snapshot(&self, state: &State) -> ColonySnapshot {
        let header = state.header();
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
        for (instance, placed) in state.existing() {
            for fact in self.facts.get(&instance).iter().flat_map(|seen| &seen.requests) {
                let from = match fact.neighbour {
                    Neighbour::Own => placed.node,
                    Neighbour::Node(node) => Some(node),
                };
                let from = from.expect("an existing instance is on a node") as usize;
                *demand.entry((placed.application as usize, from)).or_default() += fact.rate.value();
            }
        }
        let applications = (0..).zip(&header.applications).map(|(place, application)| {
            let agent = state.existing().find(|(_, placed)| placed.application == place);
            let policy = &header.policies[agent.map_or(application.policy, |(_, agent)| agent.policy) as usize];
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
            instances: state
                .existing()
                .filter_map(|(_, placed)| Some((placed.application as usize, placed.node? as usize)))
                .collect(),
            demand: demand
                .into_iter()
                .filter(|(_, rate)| *rate > 0.0)
                .map(|((what, from), rate)| (what, from, rate))
                .collect(),
            left_out: left_out(state),
        }
    }
}

/// Describes for users what the scenario leaves out.
fn left_out(state: &State) -> Vec<String> {
    let header = state.header();
    let mut left_out = vec![
        "users: the client requests that agents observed last come from the node before the last hop, and no user moves"
            .to_owned(),
        "latencies of links: a trace has none, so each is taken from the fastest requests that came over the link"
            .to_owned(),
        "the memory of agents, requests that are being judged, and client requests in transit"
            .to_owned(),
    ];
    if state.existing().any(|(_, placed)| placed.body.flavour != 0) {
        left_out.push("flavours of instances: each starts in the default flavour".to_owned());
    }
    if state.existing().any(|(_, placed)| placed.body.is_asleep) {
        left_out.push("sleep: instances that slept begin awake".to_owned());
    }
    if header.mario_trace >= ANCHORS {
        left_out.push("anchors: policies may undeploy all instances".to_owned());
    }
    if state.links_down() > 0 {
        left_out.push(format!("{} links that were down: they work", state.links_down()));
    }
    let is_live_acceptance = header.live.as_ref().is_some_and(|live| !live.acceptances.is_empty());
    if is_live_acceptance || !header.acceptances.is_empty() {
        left_out.push("acceptance policies of nodes: whatever fits is accepted".to_owned());
    }
    let gone = (0..)
        .zip(&header.applications)
        .filter(|(place, _)| !state.existing().any(|(_, placed)| placed.application == *place));
    let gone: Vec<String> = gone.map(|(_, application)| application.id.to_string()).collect();
    if !gone.is_empty() {
        left_out.push(format!("applications without an instance: {}", gone.join(", ")));
    }
    left_out
}
fn policy_text(policy: &TracedPolicy) -> PolicyText {
    let memory = u32::try_from(policy.memory).unwrap_or(u32::MAX);
    PolicyText { name: policy.name.clone(), files: policy.files.clone(), memory }
}
