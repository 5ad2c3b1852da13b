//! Checks traces of live nodes.
//!
//! A node records the events of its journal, and others such as reservations and the evaluations of its agents. The
//! nodes are replayed together, because a transfer concerns two of them: if an instance was handed over, and the source
//! reports that it was taken, it must have arrived at the target.
//!
//! | file | what is checked |
//! |---|---|
//! | `node` | one node: its records are consecutive, its hardware suffices, its reported state is the replayed one |
//! | `transfers` | between nodes: owners, epochs, departures and arrivals |
//! | `agents` | what agents saw, decided and proposed, and the outcome |
//! | `anchors` | anchors end only by an operator or an eviction, migrate as anchors, and have replicas that are none |
//! | `owners` | the actions of node owners: for example, they evict only announced instances |
//! | `decisions` | the decisions of agents, by recomputing them |

mod agents;
mod anchors;
mod decisions;
mod node;
mod owners;
mod transfers;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use mario_domain::InstanceId;
use mario_prolog::{Allowance, Engine};

use super::{Audit, DecisionCheck};
use crate::finding::FindingKind;
use crate::reader::{End, Header, Proposal, Totals, TraceRecord, Usage};
use decisions::LiveDecisions;
use node::LiveNode;
use transfers::{Departure, Life};

/// The state of live nodes so far.
pub(super) struct LiveWorld {
    header: Arc<Header>,
    nodes: Vec<LiveNode>,
    /// Every instance recorded so far.
    lives: BTreeMap<InstanceId, Life>,
    /// Every transfer that handed over or offered an instance, by id.
    departures: BTreeMap<String, Departure>,
    /// The node of each instance that has not ended. During a transfer, it is the source.
    placed: BTreeMap<InstanceId, u32>,
    /// The proposal of each agent at its last evaluation; `None` if it proposed nothing.
    proposals: BTreeMap<InstanceId, Option<Proposal>>,
    /// The outcomes that the next records `cycle` or `owner` must have, in order.
    expected: VecDeque<Expected>,
    decisions: Option<LiveDecisions>,
    counts: Totals,
    /// For each application, the number of evaluations of its agents, and the sum of the rates that they saw.
    usage: Vec<(u64, f64)>,
    /// Findings that have not been added to the audit yet.
    found: Vec<Found>,
}

/// An accepted operation that a record of a live node implies. The next record `cycle` must have it, or `owner` for an
/// eviction.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Expected {
    Deploy { node: u32, application: u32, instance: InstanceId },
    Migrate { instance: InstanceId, node: u32 },
    Replicate { parent: InstanceId, node: u32, instance: InstanceId },
    Undeploy { instance: InstanceId },
}

/// A finding: its kind, its subject, the expected content, and the found content.
type Found = (FindingKind, String, String, String);

impl LiveWorld {
    pub(super) fn new(
        header: &Arc<Header>,
        decisions: DecisionCheck,
        engine: &Engine,
        allowance: &Allowance,
    ) -> Option<LiveWorld> {
        let live = header.live.as_ref()?;
        let mut found = Vec::new();
        let decisions =
            (decisions == DecisionCheck::Recompute).then(|| LiveDecisions::new(header, engine, allowance, &mut found));
        let mut nodes: Vec<LiveNode> = header.nodes.iter().map(|node| LiveNode::new(node.capacity)).collect();
        for silent in &live.silent {
            nodes[*silent as usize].is_partial = true;
        }
        Some(LiveWorld {
            nodes,
            lives: BTreeMap::new(),
            departures: BTreeMap::new(),
            placed: BTreeMap::new(),
            proposals: BTreeMap::new(),
            expected: VecDeque::new(),
            decisions,
            counts: Totals::default(),
            usage: vec![(0, 0.0); header.applications.len()],
            found,
            header: Arc::clone(header),
        })
    }

    fn find(
        &mut self,
        kind: FindingKind,
        who: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        self.found.push((kind, who.into(), expected.into(), found.into()));
    }

    fn node_text(&self, node: u32) -> String {
        format!("node {}", self.header.nodes[node as usize].id)
    }

    /// Checks a record. Returns whether a live trace may have records of this kind.
    fn observe(&mut self, record: &TraceRecord) -> bool {
        if !matches!(record, TraceRecord::Cycle(_) | TraceRecord::Owner(_)) {
            self.require_nothing_expected();
        }
        match record {
            TraceRecord::Live(live) => self.live(live),
            TraceRecord::Evaluation(evaluation) => self.evaluation(evaluation),
            TraceRecord::Cycle(cycle) => self.cycle(cycle),
            TraceRecord::Owner(owner) => self.owner(owner),
            TraceRecord::LinkDown(link) => self.link(link.nodes, false),
            TraceRecord::LinkUp(link) => self.link(link.nodes, true),
            TraceRecord::Usage(usage) => self.usage(usage),
            TraceRecord::Handover(_) => self.counts.handovers += 1,
            TraceRecord::Responses(responses) => {
                self.counts.served = self.counts.served.saturating_add(responses.served);
                self.counts.lost = self.counts.lost.saturating_add(responses.lost);
            }
            TraceRecord::Client(_) | TraceRecord::Latency(_) => {}
            TraceRecord::End(end) => self.end(end),
            _ => return false,
        }
        true
    }

    fn require_nothing_expected(&mut self) {
        if let Some(expected) = self.expected.pop_front() {
            self.expected.clear();
            self.find(FindingKind::Place, "the cycle", format!("{expected:?}"), "something else");
        }
    }

    /// Checks that a link comes up only if both ends reach each other, and goes down only if one end does not reach the
    /// other.
    fn link(&mut self, nodes: [u32; 2], is_up: bool) {
        let [one, other] = nodes;
        let reaches = |from: u32, to: u32| self.nodes[from as usize].up.contains(&to);
        let is_both = reaches(one, other) && reaches(other, one);
        if is_both != is_up {
            let who = format!("the link between {} and {}", self.node_text(one), self.node_text(other));
            let words =
                |is_up: bool| if is_up { "both ends reach each other" } else { "one end does not reach the other" };
            self.find(FindingKind::Context, who, words(is_both), words(is_up));
        }
    }

    fn usage(&mut self, usage: &Usage) {
        let (evaluations, sum) = self.usage[usage.application as usize];
        let max_rate = self.header.applications[usage.application as usize].max_rate.value();
        let sum = if max_rate > 0.0 { sum / max_rate } else { 0.0 };
        if evaluations != usage.evaluations || (sum - usage.sum).abs() > 1e-6 * sum.abs().max(1.0) {
            let who = format!("application {}", self.header.applications[usage.application as usize].id);
            let found = format!("{} evaluations, {} in total", usage.evaluations, usage.sum);
            self.find(FindingKind::Totals, who, format!("{evaluations} evaluations, {sum} in total"), found);
        }
    }

    fn end(&mut self, end: &End) {
        let expected = Totals { instances: self.placed.len() as u64, ..self.counts };
        if expected != end.totals {
            self.find(FindingKind::Totals, "the end", format!("{expected:?}"), format!("{:?}", end.totals));
        }
        self.require_nothing_lost();
    }

    /// The number of handovers and offers that their targets have not answered yet.
    fn open(&self) -> usize {
        self.nodes.iter().map(|node| node.custody.len() + node.offers.len()).sum()
    }
}

impl Audit {
    /// Checks a record of live nodes.
    pub(super) fn observe_live(&mut self, world: &mut LiveWorld, record: &TraceRecord) {
        if !world.observe(record) {
            self.find(FindingKind::Header, "the record", "a record that live nodes have", "one of a simulated run");
        }
        match record {
            TraceRecord::Evaluation(_) => self.counts.evaluations += 1,
            TraceRecord::Cycle(_) => self.counts.cycles += 1,
            TraceRecord::LinkDown(_) | TraceRecord::LinkUp(_) => self.counts.context_changes += 1,
            TraceRecord::Handover(record) => self.handover(record),
            TraceRecord::Responses(record) => self.responses(record),
            TraceRecord::Client(record) => self.client(record),
            TraceRecord::Latency(record) => self.latency(record),
            TraceRecord::End(end) => {
                self.has_ended = true;
                self.check_measured();
                self.require_clients();
                if (end.time - self.header.duration).abs() > 1e-6 * self.header.duration.max(1.0) {
                    let (expected, found) = (format!("at {}", self.header.duration), format!("at {}", end.time));
                    self.find(FindingKind::Time, "the end", expected, found);
                }
            }
            _ => {}
        }
        world.count(record, &mut self.counts);
        for (kind, who, expected, found) in std::mem::take(&mut world.found) {
            self.find(kind, who, expected, found);
        }
    }

    /// In words, the values that a trace of live nodes records only once, so that nothing can contradict them.
    pub(super) fn taken_live(world: &LiveWorld) -> Vec<&'static str> {
        let mut taken = vec![
            "names, policies and facts, and the times of events, within the order that records and transfers allow",
            "the paths of client requests, when they were answered, and the numbers drawn for agents",
            "the memories of agents, and the reasons of inhibitions",
        ];
        if world.open() > 0 {
            taken.push("the outcomes of transfers that are open at the end");
        }
        taken
    }

    /// In words, the checks that could not be made for live nodes.
    pub(super) fn unchecked_live(&self, world: &LiveWorld) -> Vec<String> {
        let mut unchecked = Vec::new();
        let named = |places: &mut dyn Iterator<Item = u32>| -> String {
            let names: Vec<String> = places.map(|node| self.node_id(node).to_string()).collect();
            names.join(", ")
        };
        let Some(live) = &self.header.live else { return unchecked };
        if !live.silent.is_empty() {
            let names = named(&mut live.silent.iter().copied());
            unchecked.push(format!("events on nodes without records: {names}"));
        }
        let mut partial = world.nodes.iter().zip(0..).filter(|(node, _)| node.is_partial).map(|(_, place)| place);
        let names = named(&mut partial.by_ref().filter(|place| !live.silent.contains(place)));
        if !names.is_empty() {
            unchecked.push(format!("events before the first record of a node, or in a gap of its records: {names}"));
        }
        if !live.acceptances.is_empty() {
            let names = named(&mut live.acceptances.iter().copied());
            unchecked.push(format!("the verdicts of the acceptance policies of {names}"));
        }
        match &world.decisions {
            None => unchecked.push("whether decisions follow from the facts: not requested".to_owned()),
            Some(decisions) => unchecked.extend(decisions.unchecked(&self.header)),
        }
        if !self.has_ended {
            unchecked.push("the totals, and whether anything is lost: the trace has no end".to_owned());
        }
        unchecked
    }

    /// Sets the numbers of instances and of recomputed decisions in the counts of the report.
    pub(super) fn count_live(&mut self, world: &LiveWorld) {
        self.counts.instances = world.placed.len() as u64;
        if let Some(decisions) = &world.decisions {
            (self.counts.decisions, self.counts.computed_decisions) = decisions.counts();
        }
    }
}
