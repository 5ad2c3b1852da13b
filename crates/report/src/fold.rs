//! Reads a trace record by record into the data of the page.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use mario_domain::{Inhibition, Rule};
use mario_prolog::{Allowance, Engine};
use mario_trace::reader::{
    Counted, Detail, Handover, Header, Latency, Owner, OwnerActKind, ReadError, Responses, TraceReader, TraceRecord,
    TracedUser, rule_text,
};
use mario_trace::{Actor, Change, InstanceEnd, InstanceRef, Origin, State};

use crate::areas::AreaCounts;
use crate::figures::{ShownFigures, counts};
use crate::policies::PolicyText;
use crate::recorded::{Histories, VisibleHistory};
use crate::regret::RegretRecording;
use crate::replay::{Event, Explain, Recording};
use crate::run::{About, ApplicationRow, Inhibited, Nodes, ResponseRow, Run, distinct_applications, label, tier_names};
use crate::series::{Bars, Samples};
use mario_experiments::figures::{CycleFigures, Reading, ResponseTimes, TraceFigures};

/// The maximum number of users whose paths are drawn.
const TRACKS_MAX: usize = 200;
/// The maximum number of inhibiting nodes that are listed; the others are summed up.
const INHIBITING_NODES_MAX: usize = 40;

/// Reads a trace. A truncated trace yields an incomplete run.
pub(crate) fn read(input: impl BufRead, explain: Explain<'_>) -> Result<Run, ReadError> {
    let mut reader = TraceReader::new(input)?;
    let mut state = State::new(Arc::clone(reader.header()));
    let mut fold = Fold::new(Arc::clone(reader.header()));
    if let Explain::Within(..) = &explain {
        let allowance = Allowance::new(LOADING_INFERENCES);
        fold.histories = Some(Histories::new(reader.header(), &Engine::new(), &allowance));
    }
    while let Some(record) = reader.next_record()? {
        state.apply(&record, &mut |state, change| fold.apply(state, record.time(), change));
        fold.record(&state, &record);
    }
    Ok(fold.finish(&state, explain))
}

/// The inferences allowed for loading all policies of a trace.
const LOADING_INFERENCES: u64 = 100_000_000;

/// Replaces the name of the inhibiting node if the trace records only counts.
const ALL_NODES: &str = "all nodes";

/// The response times of an application so far, and its histogram.
type Responding = (ResponseRow, BTreeMap<Option<i64>, u64>);

struct Fold {
    header: Arc<Header>,
    about: About,
    /// The histories of agents; `None` if decisions are not explained.
    histories: Option<Histories>,
    recording: Recording,
    areas: AreaCounts,
    reading: Reading,
    regret: RegretRecording,
    /// The place of each description of an application in `by_application`.
    places: Vec<usize>,
    by_application: Vec<u64>,
    by_tier: Vec<u64>,
    instances: Samples<Vec<u64>>,
    asleep: Option<Samples<Vec<u64>>>,
    /// The numbers of evictions and of shrinks by owners so far.
    acts: [u64; 2],
    owners: Option<Samples<[u64; 2]>>,
    tiers: Samples<Vec<u64>>,
    tracks: Vec<Vec<u32>>,
    responses: Vec<Responding>,
    latencies: Vec<Option<Latency>>,
    inhibited: BTreeMap<String, BTreeMap<&'static str, u64>>,
    reasons: BTreeMap<(String, String), u64>,
    /// Instances that were lost with the node that is going down.
    lost: Vec<u32>,
}

impl Fold {
    fn new(header: Arc<Header>) -> Fold {
        let places = distinct_applications(&header);
        let tier_count = header.nodes.iter().map(|node| node.tier as usize + 1).max().unwrap_or(0).min(64);
        Fold {
            about: About::new(&header),
            histories: None,
            recording: Recording::default(),
            areas: AreaCounts::new(&header),
            reading: Reading::new(Arc::clone(&header)),
            regret: RegretRecording::new(),
            by_application: vec![0; places.iter().max().map_or(0, |last| last + 1)],
            places,
            by_tier: vec![0; tier_count],
            instances: Samples::new(),
            asleep: (header.has_sleep() && header.detail != Detail::Summary).then(Samples::new),
            acts: [0; 2],
            owners: header.notice.is_some().then(Samples::new),
            tiers: Samples::new(),
            tracks: vec![Vec::new(); header.users.len().min(TRACKS_MAX)],
            responses: vec![Default::default(); header.applications.len()],
            latencies: vec![None; header.applications.len()],
            inhibited: BTreeMap::new(),
            reasons: BTreeMap::new(),
            lost: Vec::new(),
            header,
        }
    }

    /// Processes a change. `state` is the state after it.
    fn apply(&mut self, state: &State, time: f64, change: Change<'_>) {
        self.reading.apply(state, time, change);
        if let Some(histories) = &mut self.histories {
            histories.apply(state, change);
        }
        let application = |instance: InstanceRef| state.instance(instance).application;
        let event = match change {
            Change::Appeared { instance, origin } => self.appeared(state, instance, origin),
            Change::Moved { instance, from, to, became } => {
                self.count(application(instance), from, -1);
                self.count(application(instance), to, 1);
                if became.is_some() {
                    self.counted_in(state);
                }
                Event::Migrate { instance: instance.0, node: to, renamed: became.map(|became| became.0) }
            }
            Change::Left { instance, node, end } => {
                self.count(application(instance), node, -1);
                match end {
                    InstanceEnd::Undeployed => Event::Undeploy { instance: instance.0 },
                    InstanceEnd::Evicted(reason) => {
                        Event::Evicted { instance: instance.0, reason: self.owner_reason(node, reason) }
                    }
                    InstanceEnd::Lost => return self.lost.push(instance.0),
                }
            }
            Change::Adapted { instance, by, .. } => {
                let (placed, instance) = (state.instance(instance), instance.0);
                let flavour = placed.body.flavour;
                match (by, placed.node) {
                    (Actor::Owner(reason), Some(node)) => {
                        Event::Shrunk { instance, flavour, reason: self.owner_reason(node, reason) }
                    }
                    (Actor::Owner(_) | Actor::Agent | Actor::Client | Actor::LiveNode, _) => {
                        Event::Adapt { instance, flavour }
                    }
                }
            }
            Change::Slept { instance, .. } => Event::Sleep { instance: instance.0 },
            Change::Woke { instance, by: Actor::Client } => Event::Woken { instance: instance.0 },
            Change::Woke { instance, by: Actor::Agent | Actor::Owner(_) | Actor::LiveNode } => {
                Event::Wake { instance: instance.0 }
            }
            Change::EvictionAnnounced { instance, evaluations, reason } => {
                let Some(node) = state.instance(instance).node else { return };
                Event::Announced { instance: instance.0, evaluations, reason: self.owner_reason(node, reason) }
            }
            Change::Updated { instance, from } => {
                let Some(node) = state.instance(instance).node else { return };
                self.count(from, node, -1);
                return self.count(application(instance), node, 1);
            }
            Change::Inhibited { instance, proposal, inhibition } => {
                let Some(own) = state.instance(instance).node else { return };
                let (operation, target) = (proposal.operation.code(), proposal.target.node(own));
                Event::Inhibited { instance: instance.0, operation, target, reason: self.inhibit(inhibition) }
            }
            Change::DeployInhibited { application, node, inhibition } => {
                Event::DeployInhibited { application, node, reason: self.inhibit(inhibition) }
            }
            Change::WakeInhibited { instance, inhibition } => {
                Event::NotWoken { instance: instance.0, reason: self.inhibit(inhibition) }
            }
            Change::NodeDown { node, .. } => Event::NodeDown { node, instances: std::mem::take(&mut self.lost) },
            Change::NodeUp { node } => Event::NodeUp { node },
            Change::NodeLeaving { node } => Event::NodeLeaving { node },
            Change::LinkDown { nodes } => Event::LinkDown { nodes },
            Change::LinkUp { nodes } => Event::LinkUp { nodes },
            // The page shows proposals by what they change, and neither anchors nor drains.
            Change::Accepted { .. }
            | Change::Nop { .. }
            | Change::Anchored { .. }
            | Change::PolicyChanged { .. }
            | Change::Draining { .. } => return,
        };
        self.recording.push(time, event);
    }

    /// Processes the next record, after its changes.
    fn record(&mut self, state: &State, record: &TraceRecord) {
        self.reading.read(record);
        let time = record.time();
        self.about.until.0 = time;
        match record {
            TraceRecord::Handover(handover) => self.handover(handover),
            TraceRecord::Evaluation(evaluation) => {
                self.about.evaluations += 1;
                if let Some(instance) = state.find(&evaluation.instance) {
                    let unreached = state.unreached(evaluation.node);
                    let nothing = VisibleHistory::default();
                    let histories = self.histories.as_ref();
                    let visible = histories.map_or(&nothing, |histories| histories.visible_history(instance));
                    self.recording.evaluation((instance, state.instance(instance)), evaluation, visible, unreached);
                    if let Some(histories) = &mut self.histories {
                        histories.evaluated(instance, evaluation);
                    }
                }
            }
            TraceRecord::Cycle(cycle) => self.cycle(state, cycle.time),
            TraceRecord::Responses(responses) => self.response(responses),
            TraceRecord::Counts(counted) => self.counted(counted),
            TraceRecord::Latency(latency) => {
                self.latencies[latency.application as usize] = Some(latency.clone());
            }
            TraceRecord::Regret(regret) => self.regret.add(regret),
            TraceRecord::Owner(owner) => self.owner(owner),
            TraceRecord::Owners(owners) => {
                for row in &owners.rows {
                    self.acted(time, row.evicted, row.shrunk);
                }
            }
            TraceRecord::End(end) => {
                self.about.is_complete = true;
                self.about.evaluations = end.totals.evaluations;
            }
            // Their changes are all that matters.
            TraceRecord::Deployed(_)
            | TraceRecord::NodeDown(_)
            | TraceRecord::NodeUp(_)
            | TraceRecord::NodeLeaving(_)
            | TraceRecord::LinkDown(_)
            | TraceRecord::LinkUp(_)
            | TraceRecord::Update(_)
            | TraceRecord::Woken(_)
            | TraceRecord::Live(_) => {}
            TraceRecord::Usage(_)
            | TraceRecord::Client(_)
            | TraceRecord::Clients(_)
            | TraceRecord::Handovers(_)
            | TraceRecord::Gone(_)
            | TraceRecord::Wakings(_)
            | TraceRecord::Traffic(_)
            | TraceRecord::Calls(_) => {}
        }
    }

    fn appeared(&mut self, state: &State, instance: InstanceRef, origin: Origin) -> Event {
        let placed = state.instance(instance);
        let node = placed.node.unwrap_or_default();
        self.count(placed.application, node, 1);
        self.counted_in(state);
        match origin {
            Origin::Initial | Origin::Deployed => Event::Deployed { instance: instance.0, node },
            Origin::Replicated(parent) => Event::Replicate { instance: parent.0, node, replica: instance.0 },
        }
    }

    /// Updates what depends on the number of instances, after one appeared and was counted.
    fn counted_in(&mut self, state: &State) {
        self.recording.instances(state.instances().len());
        let existing = self.by_application.iter().sum();
        self.about.instances_at_most = self.about.instances_at_most.max(existing);
    }

    /// The index of a reason that the owner of a node gives.
    fn owner_reason(&mut self, node: u32, reason: &str) -> u32 {
        let node = self.header.nodes[node as usize].id.to_string();
        self.recording.reason(&node, "owner", reason.to_owned())
    }

    /// Adds `by` to three numbers of instances: of the application, in the tier of the node, and of the application in
    /// the area of the node.
    fn count(&mut self, application: u32, node: u32, by: i32) {
        let tier = (self.header.nodes[node as usize].tier as usize).min(self.by_tier.len() - 1);
        let place = self.places[application as usize];
        for count in [&mut self.by_application[place], &mut self.by_tier[tier]] {
            *count = count.saturating_add_signed(by.into());
        }
        self.areas.change(node, application, by);
    }

    fn handover(&mut self, handover: &Handover) {
        if let (Some(track), Some(to)) = (self.tracks.get_mut(handover.user as usize), handover.to) {
            track.push(to);
        }
        self.recording.push(handover.time, Event::Handover { user: handover.user, to: handover.to });
    }

    fn cycle(&mut self, state: &State, time: f64) {
        self.recording.moment(time);
        self.instances.push(time, || self.by_application.clone());
        self.tiers.push(time, || self.by_tier.clone());
        self.areas.frame(time);
        if let Some(asleep) = &mut self.asleep {
            let (places, count) = (&self.places, self.by_application.len());
            asleep.push(time, || sleeping(state, places, count));
        }
    }

    /// Adds evictions and shrinks by owners of nodes to the totals. If there are any, also adds the totals as a sample.
    fn acted(&mut self, time: f64, evicted: u64, shrunk: u64) {
        self.acts = [self.acts[0] + evicted, self.acts[1] + shrunk];
        let acts = self.acts;
        if let Some(owners) = self.owners.as_mut().filter(|_| evicted + shrunk > 0) {
            owners.push(time, || acts);
        }
    }

    /// Processes a cycle of a trace of counts, which has instances by tier and application, but no single operations.
    fn counted(&mut self, counted: &Counted) {
        self.by_application.fill(0);
        self.by_tier.fill(0);
        self.areas.clear();
        for placed in &counted.placed {
            self.by_application[self.places[placed.application as usize]] += placed.instances;
            if let Some(count) = self.by_tier.get_mut(placed.tier as usize) {
                *count += placed.instances;
            }
            self.areas.put(placed.tier, placed.application, placed.instances);
        }
        for (rule, count) in &counted.rules {
            *self.inhibited.entry(ALL_NODES.to_owned()).or_default().entry(rule.as_str()).or_default() += count;
        }
        let alive = self.by_application.iter().sum();
        self.about.instances_at_most = self.about.instances_at_most.max(alive);
        self.instances.push(counted.time, || self.by_application.clone());
        self.tiers.push(counted.time, || self.by_tier.clone());
        self.areas.frame(counted.time);
    }

    /// Counts an inhibition, and returns the index of its reason.
    fn inhibit(&mut self, inhibition: &Inhibition) -> u32 {
        let (node, rule) = (inhibition.node.to_string(), inhibition.rule.as_str());
        let index = self.recording.reason(&node, rule, rule_text(&inhibition.rule));
        if let Rule::Acceptance { reason } = &inhibition.rule {
            *self.reasons.entry((node.clone(), reason.clone())).or_default() += 1;
        }
        *self.inhibited.entry(node).or_default().entry(rule).or_default() += 1;
        index
    }

    /// Counts the actions of a node's owner.
    fn owner(&mut self, owner: &Owner) {
        let count = |is_it: fn(&OwnerActKind) -> bool| owner.acts.iter().filter(|act| is_it(&act.kind)).count() as u64;
        let evicted = count(|kind| *kind == OwnerActKind::Evicted);
        let shrunk = count(|kind| matches!(kind, OwnerActKind::Shrunk(_)));
        self.acted(owner.time, evicted, shrunk);
    }

    fn response(&mut self, record: &Responses) {
        let (row, histogram) = &mut self.responses[record.application as usize];
        row.served += record.served;
        row.lost += record.lost;
        row.sum += record.sum;
        self.about.served += record.served;
        self.about.lost += record.lost;
        for (bucket, count) in &record.histogram {
            *histogram.entry(*bucket).or_default() += count;
        }
    }

    fn finish(self, state: &State, explain: Explain<'_>) -> Run {
        let header = &self.header;
        let allowance = Allowance::new(LOADING_INFERENCES);
        let TraceFigures { figures, cycles, measured, .. } = self.reading.figures();
        let nodes = Nodes::new(header);
        let is_replayed = nodes.is_some() && header.detail != Detail::Summary;
        let replay = if is_replayed { self.recording.finish(state, explain) } else { None };
        let areas = replay.is_none().then(|| self.areas.finish(header));
        let is_large = areas.is_some();
        let tracks = self.tracks.into_iter().enumerate().map(|(user, track)| (user as u32, track));
        let user = |user: &TracedUser| (user.id.to_string(), user.application);
        Run {
            label: label(header),
            policies: header.policies.iter().map(|policy| PolicyText::new(policy, &allowance)).collect(),
            applications: ApplicationRow::all(header),
            groups: figures.groups.iter().map(|group| group.group.clone()).collect(),
            tier_names: tier_names(header, self.by_tier.len()),
            nodes,
            users: if is_large { Vec::new() } else { header.users.iter().map(user).collect() },
            tracks: if is_large { Vec::new() } else { tracks.collect() },
            figures: figures.groups.iter().map(ShownFigures::new).collect(),
            bars: bars(&cycles),
            instances: self.instances,
            asleep: self.asleep,
            owners: self.owners.filter(|owners| !owners.times.is_empty()),
            tiers: self.tiers,
            responses: response_rows(self.responses, &self.latencies),
            inhibited: inhibited(header, self.inhibited),
            reasons: self.reasons,
            regret: self.regret.finish(),
            replay,
            areas,
            measured: (header.measures || header.models.is_some() || !header.calls.is_empty()).then_some(measured),
            about: self.about,
        }
    }
}

/// The number of sleeping instances of each application.
fn sleeping(state: &State, places: &[usize], count: usize) -> Vec<u64> {
    let mut counts = vec![0; count];
    for (_, instance) in state.existing().filter(|(_, instance)| instance.body.is_asleep) {
        counts[places[instance.application as usize]] += 1;
    }
    counts
}

fn response_rows(rows: Vec<Responding>, latencies: &[Option<Latency>]) -> Vec<ResponseRow> {
    let row = |((row, histogram), latency): (Responding, &Option<Latency>)| {
        let times = (row.served > 0).then(|| ResponseTimes::of(&histogram, latency.as_ref()));
        ResponseRow { histogram: histogram.into_iter().collect(), times, ..row }
    };
    rows.into_iter().zip(latencies).map(row).collect()
}

/// Returns the counts of the cycles as bars. `cycles` has one list for each group, all with the same cycles.
fn bars(cycles: &[Vec<CycleFigures>]) -> Bars {
    let mut bars = Bars::new();
    for place in 0..cycles.first().map_or(0, Vec::len) {
        let groups: Vec<_> = cycles.iter().map(|group| counts(&group[place].operations)).collect();
        bars.push(cycles[0][place].time, &groups);
    }
    bars
}

/// Sorts nodes by their number of inhibitions, the highest first, and sums up the inhibitions of the nodes after the
/// first [`INHIBITING_NODES_MAX`].
fn inhibited(header: &Header, by_node: BTreeMap<String, BTreeMap<&'static str, u64>>) -> Inhibited {
    let mut rules: Vec<&'static str> = by_node.values().flat_map(|rules| rules.keys().copied()).collect();
    rules.sort_unstable();
    rules.dedup();
    let tiers: BTreeMap<String, u32> = header.nodes.iter().map(|node| (node.id.to_string(), node.tier)).collect();
    let row = |(id, counts): (String, BTreeMap<&'static str, u64>)| {
        let counts: Vec<u64> = rules.iter().map(|rule| counts.get(rule).copied().unwrap_or(0)).collect();
        (tiers.get(&id).copied(), id, counts)
    };
    let mut nodes: Vec<_> = by_node.into_iter().map(row).collect();
    nodes.sort_by_key(|(_, _, counts)| std::cmp::Reverse(counts.iter().sum::<u64>()));
    let rest = nodes.split_off(nodes.len().min(INHIBITING_NODES_MAX));
    let mut others = vec![0; rules.len()];
    for (_, _, counts) in &rest {
        others.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    Inhibited {
        nodes: nodes.into_iter().map(|(tier, id, counts)| (id, tier, counts)).collect(),
        other_nodes: rest.len(),
        others,
        rules,
    }
}
