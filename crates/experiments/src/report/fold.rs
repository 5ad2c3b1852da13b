//! Reads a trace record by record into the data of the page.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use mario_audit::reader::{
    Counted, Cycle, Detail, Handover, Header, Latency, NodeDown, Outcome, Owner, OwnerAct, OwnerActKind, Proposal,
    ReadError, Reason, Responses, Rule, Target, TraceReader, TraceRecord, Verdict, Woken,
};
use mario_audit::{Histories, VisibleHistory};
use mario_domain::{AgentOperation, InstanceId};
use mario_prolog::{Allowance, Engine};

use super::areas::AreaCounts;
use super::figures::{ShownFigures, counts};
use super::placement::{Placed, Placement, Reach, resolve};
use super::policies::PolicyText;
use super::regret::RegretSums;
use super::replay::{Event, Explain, Recording};
use super::run::{About, ApplicationRow, Inhibited, Nodes, ResponseRow, Run, label, tier_names};
use super::series::{Bars, Samples};
use crate::figures::{CycleFigures, Reading, ResponseTimes, TraceFigures};

/// The maximum number of users whose paths are drawn.
const TRACKS_MAX: usize = 200;
/// The maximum number of inhibiting nodes that are listed; the others are summed up.
const INHIBITING_NODES_MAX: usize = 40;

/// Reads a trace. A truncated trace yields an incomplete run.
pub(crate) fn read(input: impl BufRead, explain: Explain<'_>) -> Result<Run, ReadError> {
    let mut reader = TraceReader::new(input)?;
    let mut fold = Fold::new(Arc::clone(reader.header()));
    if let Explain::Within(..) = &explain {
        let allowance = Allowance::new(LOADING_INFERENCES);
        fold.histories = Some(Histories::new(reader.header(), &Engine::new(), &allowance));
    }
    while let Some(record) = reader.next_record()? {
        fold.record(record);
    }
    Ok(fold.finish(explain))
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
    placement: Placement,
    reach: Reach,
    /// The histories of agents; `None` if decisions are not explained.
    histories: Option<Histories>,
    recording: Recording,
    areas: AreaCounts,
    reading: Reading,
    regret: RegretSums,
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
}

impl Fold {
    fn new(header: Arc<Header>) -> Fold {
        let tier_count = header.nodes.iter().map(|node| node.tier as usize + 1).max().unwrap_or(0).min(64);
        Fold {
            about: About::new(&header),
            placement: Placement::default(),
            reach: Reach::default(),
            histories: None,
            recording: Recording::default(),
            areas: AreaCounts::new(&header),
            reading: Reading::new(Arc::clone(&header)),
            regret: RegretSums::new(),
            by_application: vec![0; header.applications.len()],
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
            header,
        }
    }

    fn record(&mut self, record: TraceRecord) {
        self.reading.read(&record);
        self.reach.read(&record);
        // Taken before the record is applied, because an evaluation knows only what happened before it.
        let visible_history = match (&record, &self.histories) {
            (TraceRecord::Evaluation(evaluation), Some(histories)) => {
                histories.visible_history(&evaluation.instance).clone()
            }
            _ => VisibleHistory::default(),
        };
        if let Some(histories) = &mut self.histories {
            histories.read(&record);
        }
        let time = record.time();
        self.about.until.0 = time;
        match record {
            TraceRecord::Deployed(deployed) => {
                let instance = self.appear(deployed.instance, deployed.application, deployed.policy, deployed.node);
                self.recording.push(time, Event::Deployed { instance, node: deployed.node });
            }
            TraceRecord::Handover(handover) => self.handover(&handover),
            TraceRecord::Evaluation(evaluation) => {
                self.about.evaluations += 1;
                if let Some(instance) = self.placement.find(&evaluation.instance) {
                    let unreached = self.reach.unreached(&self.header, evaluation.node);
                    let placed = self.placement.get(instance);
                    self.recording.evaluation((instance, placed), &evaluation, &visible_history, unreached);
                }
            }
            TraceRecord::Cycle(cycle) => self.cycle(&cycle),
            TraceRecord::NodeDown(down) => self.node_down(&down),
            TraceRecord::NodeUp(up) => self.recording.push(time, Event::NodeUp { node: up.node }),
            TraceRecord::NodeLeaving(leaving) => self.recording.push(time, Event::NodeLeaving { node: leaving.node }),
            TraceRecord::LinkDown(link) => self.recording.push(time, Event::LinkDown { nodes: link.nodes }),
            TraceRecord::LinkUp(link) => self.recording.push(time, Event::LinkUp { nodes: link.nodes }),
            TraceRecord::Update(update) => self.placement.update(update.application, update.policy),
            TraceRecord::Responses(responses) => self.response(&responses),
            TraceRecord::Counts(counted) => self.counted(&counted),
            TraceRecord::Latency(latency) => {
                let application = latency.application as usize;
                self.latencies[application] = Some(latency);
            }
            TraceRecord::Regret(regret) => self.regret.add(&regret),
            TraceRecord::Owner(owner) => self.owner(&owner),
            TraceRecord::Woken(woken) => self.woken(&woken),
            TraceRecord::Owners(owners) => {
                for row in &owners.rows {
                    self.acted(time, row.evicted, row.shrunk);
                }
            }
            TraceRecord::Usage(_)
            | TraceRecord::Client(_)
            | TraceRecord::Clients(_)
            | TraceRecord::Handovers(_)
            | TraceRecord::Gone(_)
            | TraceRecord::Wakings(_)
            | TraceRecord::Traffic(_)
            | TraceRecord::Calls(_)
            | TraceRecord::Live(_) => {}
            TraceRecord::End(end) => {
                self.about.is_complete = true;
                self.about.evaluations = end.totals.evaluations;
            }
        }
    }

    fn appear(&mut self, id: InstanceId, application: u32, policy: u32, node: u32) -> u32 {
        self.count(application, node, 1);
        let place = self.placement.appear(id, application, policy, node);
        self.recording.instances(self.placement.instances.len());
        let alive = self.by_application.iter().sum();
        self.about.instances_at_most = self.about.instances_at_most.max(alive);
        place
    }

    fn go(&mut self, instance: u32) {
        let placed = self.placement.get_mut(instance);
        let application = placed.application;
        if let Some(node) = placed.node.take() {
            self.count(application, node, -1);
        }
    }

    /// Adds `by` to three numbers of instances: of the application, in the tier of the node, and of the application in
    /// the area of the node.
    fn count(&mut self, application: u32, node: u32, by: i32) {
        let tier = (self.header.nodes[node as usize].tier as usize).min(self.by_tier.len() - 1);
        for count in [&mut self.by_application[application as usize], &mut self.by_tier[tier]] {
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

    fn cycle(&mut self, cycle: &Cycle) {
        self.recording.moment(cycle.time);
        for outcome in &cycle.outcomes {
            match outcome {
                Outcome::Nop(_) => {}
                Outcome::Judged { instance, proposal, verdict } => {
                    if let Some(place) = self.placement.find(instance) {
                        self.judged(cycle.time, place, proposal, verdict);
                    }
                }
                Outcome::Deploy { node, application, policy, verdict } => {
                    self.deploy(cycle.time, *node, *application, *policy, verdict);
                }
            }
        }
        self.instances.push(cycle.time, || self.by_application.clone());
        self.tiers.push(cycle.time, || self.by_tier.clone());
        self.areas.frame(cycle.time);
        let placement = &self.placement;
        if let Some(asleep) = &mut self.asleep {
            asleep.push(cycle.time, || placement.asleep(self.by_application.len()));
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
            self.by_application[placed.application as usize] += placed.instances;
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

    fn judged(&mut self, time: f64, instance: u32, proposal: &Proposal, verdict: &Verdict) {
        let placed = self.placement.get(instance).clone();
        let Some(own) = placed.node else { return };
        let target = resolve(&proposal.target, own);
        match verdict {
            Verdict::Inhibited(reason) => {
                let reason = self.inhibit(reason);
                let operation = proposal.operation.code();
                self.recording.push(time, Event::Inhibited { instance, operation, target, reason });
            }
            Verdict::Accepted(new) => match (proposal.operation, target, new) {
                (AgentOperation::Undeploy, _, _) => {
                    self.go(instance);
                    self.recording.push(time, Event::Undeploy { instance });
                }
                (AgentOperation::Adapt, ..) => {
                    let application = &self.header.applications[placed.application as usize];
                    if let Some(flavour) = application.find_flavour(&proposal.target) {
                        self.placement.get_mut(instance).flavour = flavour;
                        self.recording.push(time, Event::Adapt { instance, flavour });
                    }
                }
                (AgentOperation::Sleep | AgentOperation::Wake, ..) => {
                    let is_asleep = proposal.operation == AgentOperation::Sleep;
                    self.placement.get_mut(instance).is_asleep = is_asleep;
                    let event = if is_asleep { Event::Sleep { instance } } else { Event::Wake { instance } };
                    self.recording.push(time, event);
                }
                (AgentOperation::Migrate, Some(node), None) => {
                    self.count(placed.application, own, -1);
                    self.count(placed.application, node, 1);
                    self.placement.get_mut(instance).node = Some(node);
                    self.recording.push(time, Event::Migrate { instance, node, renamed: None });
                }
                (AgentOperation::Migrate, Some(node), Some(id)) => {
                    self.go(instance);
                    let renamed = Some(self.appear(id.clone(), placed.application, placed.policy, node));
                    self.recording.push(time, Event::Migrate { instance, node, renamed });
                    self.keep_body(renamed, &placed);
                }
                (AgentOperation::Replicate, Some(node), Some(id)) => {
                    let replica = self.appear(id.clone(), placed.application, placed.policy, node);
                    self.recording.push(time, Event::Replicate { instance, node, replica });
                    self.keep_body(Some(replica), &placed);
                }
                // Invalid records are ignored here; the auditor reports them.
                _ => {}
            },
        }
    }

    /// Copies the flavour and the sleep state of an instance to the one that its operation created. The page does the
    /// same, so no event is recorded.
    fn keep_body(&mut self, instance: Option<u32>, of: &Placed) {
        let Some(instance) = instance else { return };
        let created = self.placement.get_mut(instance);
        created.flavour = of.flavour;
        created.is_asleep = of.is_asleep;
    }

    /// Processes the verdict on waking a sleeping instance that a client request reached.
    fn woken(&mut self, woken: &Woken) {
        let Some(instance) = self.placement.find(&woken.instance) else { return };
        let event = match &woken.verdict {
            Verdict::Accepted(_) => {
                self.placement.get_mut(instance).is_asleep = false;
                Event::Woken { instance }
            }
            Verdict::Inhibited(reason) => Event::NotWoken { instance, reason: self.inhibit(reason) },
        };
        self.recording.push(woken.time, event);
    }

    fn deploy(&mut self, time: f64, node: u32, application: u32, policy: Option<u32>, verdict: &Verdict) {
        match verdict {
            Verdict::Accepted(Some(id)) => {
                let of_application = self.header.applications[application as usize].policy;
                let instance = self.appear(id.clone(), application, policy.unwrap_or(of_application), node);
                self.recording.push(time, Event::Deployed { instance, node });
            }
            Verdict::Accepted(None) => {}
            Verdict::Inhibited(reason) => {
                let reason = self.inhibit(reason);
                self.recording.push(time, Event::DeployInhibited { application, node, reason });
            }
        }
    }

    fn inhibit(&mut self, reason: &Reason) -> u32 {
        let node = reason.node.to_string();
        let place = self.recording.reason(&node, reason.rule.as_str(), reason.rule.to_string());
        if let Rule::Acceptance { reason } = &reason.rule {
            *self.reasons.entry((node.clone(), reason.clone())).or_default() += 1;
        }
        *self.inhibited.entry(node).or_default().entry(reason.rule.as_str()).or_default() += 1;
        place
    }

    /// Processes the actions of a node's owner.
    fn owner(&mut self, owner: &Owner) {
        let node = self.header.nodes[owner.node as usize].id.to_string();
        let count = |is_it: fn(&OwnerActKind) -> bool| owner.acts.iter().filter(|act| is_it(&act.kind)).count() as u64;
        let evicted = count(|kind| *kind == OwnerActKind::Evicted);
        let shrunk = count(|kind| matches!(kind, OwnerActKind::Shrunk(_)));
        self.acted(owner.time, evicted, shrunk);
        for OwnerAct { instance, kind, reason } in &owner.acts {
            let Some(instance) = self.placement.find(instance) else { continue };
            let reason = self.recording.reason(&node, "owner", reason.clone());
            let event = match kind {
                OwnerActKind::Evicted => {
                    self.go(instance);
                    Event::Evicted { instance, reason }
                }
                OwnerActKind::Shrunk(flavour) => {
                    let application = self.placement.get(instance).application;
                    let application = &self.header.applications[application as usize];
                    let target = Target::Flavour(flavour.clone());
                    let Some(flavour) = application.find_flavour(&target) else { continue };
                    self.placement.get_mut(instance).flavour = flavour;
                    Event::Shrunk { instance, flavour, reason }
                }
                OwnerActKind::Announced(evaluations) => {
                    Event::Announced { instance, evaluations: *evaluations, reason }
                }
            };
            self.recording.push(owner.time, event);
        }
    }

    fn node_down(&mut self, down: &NodeDown) {
        let gone: Vec<u32> = down.instances.iter().filter_map(|id| self.placement.find(id)).collect();
        gone.iter().for_each(|instance| self.go(*instance));
        self.recording.push(down.time, Event::NodeDown { node: down.node, instances: gone });
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

    fn finish(self, explain: Explain<'_>) -> Run {
        let header = &self.header;
        let allowance = Allowance::new(LOADING_INFERENCES);
        let TraceFigures { figures, cycles, measured, .. } = self.reading.figures();
        let nodes = Nodes::new(header);
        let is_replayed = nodes.is_some() && header.detail != Detail::Summary;
        let replay = if is_replayed { self.recording.finish(header, &self.placement, explain) } else { None };
        let areas = replay.is_none().then(|| self.areas.finish(header));
        let is_large = areas.is_some();
        let tracks = self.tracks.into_iter().enumerate().map(|(user, track)| (user as u32, track));
        let user = |user: &mario_audit::reader::TracedUser| (user.id.to_string(), user.application);
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
