//! The second pass: merges all parts, with causes before effects.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write;
use std::path::PathBuf;

use mario_domain::{AgentOperation, ApplicationId, Capacity, Duration, InstanceId, NodeId, Time, Verdict};

use super::clients::{Clients, RunContext, header_users};
use super::parts::{Line, Reader};
use super::survey::{Survey, SurveyedNode, TransferEvents};
use super::{JoinError, JoinProblem, Joined, Open};
use crate::header::{Header, HeaderApplication, HeaderLive, HeaderNode, HeaderPolicy, Version};
use crate::live::{
    Cause, LiveEvent, PartEvaluation, PartInhibited, PartLine, PartOwnerAct, PartOwnerActKind, PartRecord, PartSolution,
};
use crate::record::{
    Deployed, Detail, Evaluation, FactsAndDecision, Judged, OwnerAct, OwnerActKind, RequestsSeen, Solution, Target,
};
use crate::reference::{ApplicationRef, NodeRef, PolicyRef};
use crate::writer::TraceWriter;

pub(super) fn merge<W: Write>(
    survey: &Survey<'_>,
    run: Option<&RunContext>,
    open: &Open<'_>,
    out: W,
) -> Result<(W, Joined), JoinError> {
    let mut cursors = Vec::new();
    for directory in &survey.directories {
        let mut cursor = Cursor { reader: Reader::new(directory.paths, open), next: None };
        cursor.step()?;
        cursors.push(cursor);
    }
    let silent = survey.nodes.iter().filter(|node| node.is_silent).map(|node| node.id.clone()).collect();
    let mut joined = Joined {
        nodes: survey.nodes.len(),
        silent,
        lines: survey.lines,
        reordered: 0,
        unordered: 0,
        evaluations: 0,
        instances: BTreeMap::new(),
    };
    let mut merge = Merge {
        survey,
        writer: TraceWriter::new(out, &header(survey, run)),
        clients: run.map(|run| Clients::new(survey, &run.clients)),
        written: TransferEvents::default(),
        departures: BTreeMap::new(),
        placed: BTreeMap::new(),
        links: Links::default(),
        begun: BTreeSet::new(),
        evicted: BTreeMap::new(),
        now: 0.0,
    };
    while let Some(place) = merge.choose(&cursors, &mut joined) {
        let part = cursors[place].reader.part();
        if let Some(record) = cursors[place].next.take() {
            let directory = &survey.directories[place];
            merge.write(directory.node, &directory.applications[part], *record);
        }
        cursors[place].step()?;
    }
    let end = Time::at(merge.now.max(1.0));
    if let Some(clients) = merge.clients.take() {
        clients.finish(merge.now.max(1.0), &mut merge.writer);
    }
    joined.evaluations = merge.writer.totals.evaluations;
    for (_, application) in merge.placed.values() {
        let id = survey.applications[*application as usize].application.id.clone();
        *joined.instances.entry(id).or_default() += 1;
    }
    let finished = merge.writer.finish(end);
    let failed = |error| JoinError { path: PathBuf::new(), line: 0, problem: JoinProblem::Io(error) };
    finished.map(|out| (out, joined)).map_err(failed)
}

/// The position in the parts of one directory, with the next record.
struct Cursor<'a> {
    reader: Reader<'a>,
    next: Option<Box<PartRecord>>,
}

impl Cursor<'_> {
    fn step(&mut self) -> Result<(), JoinError> {
        loop {
            self.next = match self.reader.next()? {
                Some(Line::Header(_)) => continue,
                Some(Line::Record(record)) if matches!(record.2, PartLine::Application(_)) => continue,
                Some(Line::Record(record)) => Some(record),
                None => None,
            };
            return Ok(());
        }
    }
}

struct Merge<'a, W: Write> {
    survey: &'a Survey<'a>,
    writer: TraceWriter<W>,
    /// What clients saw, if that is known.
    clients: Option<Clients<'a>>,
    /// The events of transfers that have been written so far.
    written: TransferEvents,
    departures: BTreeMap<String, Departure>,
    /// The node of each instance, and the index of its application.
    placed: BTreeMap<InstanceId, (NodeRef, u32)>,
    links: Links,
    /// Nodes that already have an event in the trace.
    begun: BTreeSet<NodeRef>,
    /// Instances whose eviction was read but whose end was not, with the node and the reason.
    evicted: BTreeMap<InstanceId, (NodeRef, String)>,
    now: f64,
}

/// A transfer that has started, until its [`LiveEvent::Taken`] or [`LiveEvent::NotTaken`].
enum Departure {
    Migrates { instance: InstanceId, is_ended: bool },
    Replicates { parent: InstanceId },
}

/// The working links, as seen by each end.
#[derive(Default)]
struct Links {
    reached: BTreeMap<u32, BTreeSet<u32>>,
    /// Links that are down in the trace, with the smaller index first.
    down: BTreeSet<(u32, u32)>,
}

impl<W: Write> Merge<'_, W> {
    /// The index of the directory with the next record: the earliest record whose causes are already written or, if
    /// there is none, the earliest of all. `None` at the end of all parts.
    fn choose(&self, cursors: &[Cursor<'_>], joined: &mut Joined) -> Option<usize> {
        let waiting = cursors.iter().enumerate().filter_map(|(place, cursor)| Some((cursor.next.as_ref()?, place)));
        let earliest = waiting.clone().min_by_key(|(record, place)| (record.0, *place))?.1;
        let free = waiting.filter(|(record, _)| self.waits_for_nothing(&record.2));
        match free.min_by_key(|(record, place)| (record.0, *place)) {
            Some((_, place)) => {
                joined.reordered += u64::from(place != earliest);
                Some(place)
            }
            // The dependencies are cyclic, so the parts contradict each other. The auditor reports that.
            None => {
                joined.unordered += 1;
                Some(earliest)
            }
        }
    }

    fn waits_for_nothing(&self, line: &PartLine) -> bool {
        let PartLine::Event(event) = line else { return true };
        let (recorded, written) = (&self.survey.recorded, &self.written);
        match event {
            LiveEvent::Own { cause: Cause::Taken { transfer, .. }, .. } => {
                !recorded.departures.contains(transfer) || written.departures.contains(transfer)
            }
            LiveEvent::Taken { transfer } => {
                !recorded.arrivals.contains(transfer) || written.arrivals.contains(transfer)
            }
            LiveEvent::Forgotten { transfer } => !recorded.taken.contains(transfer) || written.taken.contains(transfer),
            _ => true,
        }
    }

    fn write(&mut self, node: NodeRef, applications: &[u32], record: PartRecord) {
        let PartRecord(stamp, number, line) = record;
        // Times must not decrease, so a delayed record gets the time of the record before it.
        self.now = self.now.max(stamp.0.saturating_sub(self.survey.first.0) as f64);
        if let Some(clients) = &mut self.clients {
            clients.write_before(self.now, &mut self.writer);
        }
        let time = Time::at(self.now);
        match line {
            PartLine::Application(_) => {}
            PartLine::Evaluation(evaluation) => self.evaluation(time, node, applications, &evaluation),
            PartLine::Inhibited(inhibited) => self.inhibited(time, &inhibited),
            PartLine::Owner(act) => self.owner_acts(time, node, *act),
            PartLine::Event(event) => {
                let survey = self.survey;
                let event =
                    event.map(&mut |node: NodeId| survey.place(&node), &mut |place| applications[place as usize]);
                self.writer.live(time, node, number, &event);
                self.follow(time, node, event);
            }
        }
    }

    fn target(&self, operation: AgentOperation, target: Option<&NodeId>) -> Target<'static> {
        if operation.asks_for_flavour() {
            let written = target.map_or_else(|| mario_domain::Target::Own.id(), |target| target.id().clone());
            return Target::Flavour(Cow::Owned(written.into()));
        }
        match target {
            None => Target::Own,
            Some(id) => match self.survey.place_if_known(id) {
                Some(place) => Target::Node(place),
                None => Target::Unknown(Cow::Owned(id.clone())),
            },
        }
    }

    fn evaluation(&mut self, time: Time, node: NodeRef, applications: &[u32], seen: &PartEvaluation) {
        let evaluation = Evaluation {
            instance: &seen.instance,
            application: ApplicationRef(applications[seen.application as usize]),
            node,
            free: seen.free,
            rate: seen.requests.iter().map(|(_, rate, _)| rate).sum(),
            max_rate: None,
        };
        let survey = self.survey;
        let requests = seen.requests.iter().map(|(hop, rate, latency)| RequestsSeen {
            neighbour: hop.as_ref().map(|hop| survey.place(hop)),
            rate: *rate,
            latency: *latency,
        });
        let inhibited: Vec<_> = (seen.inhibited.iter())
            .map(|(operation, target)| (*operation, self.target(*operation, target.as_ref())))
            .collect();
        let solutions: Vec<_> = seen
            .solution
            .iter()
            .map(|solution| match solution {
                PartSolution::Proposal(operation, target, clause) => {
                    let target = self.target(*operation, target.as_ref());
                    Solution::Proposal { operation: *operation, target, clause: *clause }
                }
                PartSolution::Invalid(fault, clause) => Solution::Invalid { fault, clause: *clause },
            })
            .collect();
        let decided =
            FactsAndDecision { requests, inhibited, solutions, ending: seen.ending.clone(), random: seen.random };
        self.writer.evaluation(time, &evaluation, Some(decided));
    }

    fn inhibited(&mut self, time: Time, inhibited: &PartInhibited) {
        let verdict = &Verdict::Inhibited(inhibited.inhibition.clone());
        let target = self.target(inhibited.operation, inhibited.target.as_ref());
        let (instance, operation) = (&inhibited.instance, inhibited.operation);
        self.writer.cycle(time, |cycle| {
            cycle.judged(&Judged { instance, operation, target, verdict, created: None });
        });
    }

    /// Writes the action of a node's owner. An eviction is only noted; its record replaces that of the instance's end.
    fn owner_acts(&mut self, time: Time, node: NodeRef, act: PartOwnerAct) {
        let PartOwnerAct { instance, act, reason } = act;
        let application = self.placed.get(&instance).map_or(0, |(_, application)| *application);
        let of = self.survey.applications.get(application as usize).map(|described| &described.application);
        let kind = match act {
            PartOwnerActKind::Evicted => {
                self.evicted.insert(instance, (node, reason));
                return;
            }
            PartOwnerActKind::Leave(evaluations) => OwnerActKind::Announced(evaluations),
            PartOwnerActKind::Shrunk(flavour) => match of.and_then(|of| of.flavours.get(flavour as usize)) {
                Some(flavour) => OwnerActKind::Shrunk(&flavour.id),
                None => return,
            },
        };
        let application = ApplicationRef(application);
        let act = OwnerAct { instance, application, kind, reason: &reason };
        self.writer.owner(time, node, std::iter::once(act));
    }

    /// Writes the effects of an event on the placement and on links, as records that simulated traces have too.
    fn follow(&mut self, time: Time, node: NodeRef, event: LiveEvent<NodeRef>) {
        let is_first = self.begun.insert(node);
        match event {
            LiveEvent::Own { owned, cause } => {
                if let Cause::Taken { transfer, .. } = &cause {
                    self.written.arrivals.insert(transfer.clone());
                }
                self.came(time, node, &owned.instance, owned.application, &cause);
            }
            // The records that led to this state are missing.
            LiveEvent::State(state) if is_first || !state.follows => {
                for owned in &state.owned {
                    if self.placed.get(&owned.instance).is_none_or(|(known, _)| *known != node) {
                        self.came(time, node, &owned.instance, owned.application, &Cause::Deployed);
                    }
                }
            }
            LiveEvent::Custody { instance, transfer, .. } => {
                self.written.departures.insert(transfer.clone());
                self.departures.insert(transfer, Departure::Migrates { instance, is_ended: false });
            }
            LiveEvent::CustodyEnded { instance: ended } => {
                for departure in self.departures.values_mut() {
                    if let Departure::Migrates { instance, is_ended } = departure
                        && *instance == ended
                    {
                        *is_ended = true;
                    }
                }
            }
            LiveEvent::Offer(offer) => {
                self.written.departures.insert(offer.transfer.clone());
                self.departures.insert(offer.transfer, Departure::Replicates { parent: offer.parent });
            }
            LiveEvent::Taken { transfer } => {
                self.departures.remove(&transfer);
                self.written.taken.insert(transfer);
            }
            LiveEvent::NotTaken { transfer } => {
                if let Some(Departure::Migrates { instance, is_ended: true }) = self.departures.remove(&transfer) {
                    self.went(time, &instance);
                }
            }
            LiveEvent::Undeployed { instance } => self.went(time, &instance),
            LiveEvent::Neighbours { up, .. } => self.neighbours(time, node, &up),
            // A daemon that starts has no reachable neighbours yet.
            LiveEvent::Boot { .. } => self.neighbours(time, node, &[]),
            _ => {}
        }
    }

    /// Writes the migration, replication or deploy by which an instance came to a node; nothing if it was only in
    /// custody and never left.
    fn came(&mut self, time: Time, node: NodeRef, instance: &InstanceId, application: u32, cause: &Cause<NodeRef>) {
        let before = self.placed.insert(instance.clone(), (node, application));
        let target = Target::Node(node);
        let parent = match cause {
            Cause::Taken { transfer, .. } => match self.departures.get(transfer) {
                Some(Departure::Replicates { parent }) => Some(parent.clone()),
                _ => None,
            },
            Cause::Replicated { parent } => Some(parent.clone()),
            _ => None,
        };
        let parent = parent.filter(|parent| self.placed.contains_key(parent));
        // The instance was only in custody, so it is still on the node.
        if matches!(cause, Cause::NotTaken { .. }) && before.is_some() {
            return;
        }
        let verdict = &Verdict::Accepted;
        self.writer.cycle(time, |cycle| match (before, &parent) {
            (Some(_), _) => {
                let operation = AgentOperation::Migrate;
                cycle.judged(&Judged { instance, operation, target, verdict, created: None });
            }
            (None, Some(parent)) => {
                let (operation, created) = (AgentOperation::Replicate, Some(instance.clone()));
                cycle.judged(&Judged { instance: parent, operation, target, verdict, created });
            }
            (None, None) => {
                let (application, policy) = (ApplicationRef(application), PolicyRef(application));
                cycle.deployed(&Deployed { application, node, policy, verdict, created: Some(instance.clone()) });
            }
        });
    }

    /// Writes the eviction or undeploy by which an instance ended; nothing if the trace does not have the instance.
    fn went(&mut self, time: Time, instance: &InstanceId) {
        let evicted = self.evicted.remove(instance);
        let Some((_, application)) = self.placed.remove(instance) else { return };
        if let Some((node, reason)) = evicted {
            let (application, kind) = (ApplicationRef(application), OwnerActKind::Evicted);
            let act = OwnerAct { instance: instance.clone(), application, kind, reason: &reason };
            return self.writer.owner(time, node, std::iter::once(act));
        }
        let (operation, target, verdict) = (AgentOperation::Undeploy, Target::Own, &Verdict::Accepted);
        self.writer.cycle(time, |cycle| {
            cycle.judged(&Judged { instance, operation, target, verdict, created: None });
        });
    }

    /// Updates the links of a node, and writes those that change. A link goes down when one end no longer reports it as
    /// up, and comes up again when both ends report it as up.
    fn neighbours(&mut self, time: Time, node: NodeRef, up: &[NodeRef]) {
        let own = node.0;
        let up: BTreeSet<u32> = up.iter().map(|node| node.0).collect();
        let before = self.links.reached.insert(own, up.clone()).unwrap_or_default();
        for neighbour in &self.survey.nodes[own as usize].neighbours {
            let link = (own.min(*neighbour), own.max(*neighbour));
            let (one, other) = (NodeRef(link.0), NodeRef(link.1));
            let is_both = || self.links.reached.get(neighbour).is_some_and(|theirs| theirs.contains(&own));
            if before.contains(neighbour) && !up.contains(neighbour) {
                if self.links.down.insert(link) {
                    self.writer.link_down(time, one, other);
                }
            } else if up.contains(neighbour) && is_both() && self.links.down.remove(&link) {
                self.writer.link_up(time, one, other);
            }
        }
    }
}

fn header<'a>(survey: &'a Survey<'_>, run: Option<&'a RunContext>) -> Header<'a> {
    let places = |has: &dyn Fn(&SurveyedNode) -> bool| {
        let nodes = survey.nodes.iter().zip(0..).filter(|(node, _)| has(node));
        nodes.map(|(_, place)| NodeRef(place)).collect()
    };
    let duration = survey.last.0.saturating_sub(survey.first.0).max(1) as f64;
    let tiers = tiers(survey);
    let known = |node: &NodeId| run.and_then(|run| run.nodes.get(node));
    let kind = |id: &ApplicationId| run.and_then(|run| run.kinds.get(id)).map_or("all", String::as_str);
    Header {
        version: if survey.has_anchors { Version::Eighth } else { Version::Fourth },
        scenario: run.map_or(&survey.colony, |run| &run.scenario),
        seed: run.map_or(0, |run| run.seed),
        duration: Duration::of(duration),
        step: Duration::of(run.map_or(survey.evaluation_ms as f64, |run| run.clients.step_ms())),
        evaluation_period: Duration::of(survey.evaluation_ms as f64),
        decision_budget: Some(survey.decision_budget),
        detail: Detail::Full,
        observation: "arrivals",
        routing: "nearest",
        arbitration: "managers",
        memory: "sliding",
        forgets_every: None,
        notice: None,
        applications: (survey.applications.iter().zip(0..))
            .map(|(application, place)| HeaderApplication {
                application: &application.application,
                kind: kind(&application.application.id),
                policy: PolicyRef(place),
                is_anchor: false,
            })
            .collect(),
        calls: Vec::new(),
        traffic: None,
        tiers: run.map_or(&[][..], |run| run.tiers.as_slice()),
        measures: run.is_some(),
        models: None,
        live: Some(HeaderLive {
            began_ms: survey.first.0,
            silent: places(&|node| node.is_silent),
            acceptances: places(&|node| node.has_acceptance),
            facts_changed: places(&|node| node.have_facts_changed),
            application_facts: application_facts(survey),
        }),
        nodes: (survey.nodes.iter().zip(tiers))
            .map(|(node, tier)| HeaderNode {
                id: &node.id,
                capacity: node.capacity,
                tier: known(&node.id).map_or(tier, |known| known.tier),
                neighbours: node.neighbours.iter().map(|neighbour| NodeRef(*neighbour)).collect(),
                position: known(&node.id).and_then(|known| known.position),
                is_access_point: known(&node.id).is_some_and(|known| known.is_access_point),
                acceptance: None,
            })
            .collect(),
        facts: (survey.applications.iter().flat_map(|application| &application.facts))
            .chain(survey.nodes.iter().flat_map(|node| &node.facts))
            .collect(),
        policies: (survey.applications.iter())
            .map(|application| HeaderPolicy {
                name: &application.policy,
                memory: application.memory,
                files: &application.files,
            })
            .collect(),
        acceptances: Vec::new(),
        users: run.map_or_else(Vec::new, |run| header_users(survey, &run.clients)),
    }
}

/// The number of facts in each description, if an application has several; otherwise empty.
fn application_facts(survey: &Survey<'_>) -> Vec<usize> {
    let described = &survey.applications;
    let ids: BTreeSet<_> = described.iter().map(|described| &described.application.id).collect();
    let has_several = ids.len() < described.len();
    described.iter().filter(|_| has_several).map(|described| described.facts.len()).collect()
}

/// The distance of each node, in hops, from the top of its connected component: the node with the most hardware and, of
/// several, the most neighbours. Live nodes have no tiers, but the report needs them to draw the nodes.
fn tiers(survey: &Survey<'_>) -> Vec<u16> {
    let nodes = &survey.nodes;
    let mut tiers = vec![None; nodes.len()];
    let mut tops: Vec<usize> = (0..nodes.len()).collect();
    let hardware = |node: &SurveyedNode| match node.capacity {
        // The hardware of a node without a part is not known.
        _ if node.is_silent => 0,
        Capacity::Bounded(hardware) => hardware.as_units(),
        Capacity::Unbounded => u64::MAX,
    };
    tops.sort_by_key(|place| std::cmp::Reverse((hardware(&nodes[*place]), nodes[*place].neighbours.len())));
    for top in tops {
        if tiers[top].is_some() {
            continue;
        }
        tiers[top] = Some(0);
        let mut queue = VecDeque::from([top]);
        while let Some(place) = queue.pop_front() {
            let next = tiers[place].unwrap_or(0_u16).saturating_add(1);
            for neighbour in &nodes[place].neighbours {
                let neighbour = *neighbour as usize;
                if tiers[neighbour].is_none() {
                    tiers[neighbour] = Some(next);
                    queue.push_back(neighbour);
                }
            }
        }
    }
    tiers.into_iter().map(Option::unwrap_or_default).collect()
}
