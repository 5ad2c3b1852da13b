//! The second pass: merges all parts, with causes before effects.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use mario_domain::{AgentOperation, InstanceId, NodeId, Target, Time};

use super::clients::{Clients, RunContext};
use super::header::header;
use super::parts::{Line, Reader};
use super::survey::{Survey, TransferEvents};
use super::{JoinError, JoinProblem, Joined, Open};
use crate::live::{Cause, LiveEvent, PartEvaluation, PartLine, PartOutcome, PartRecord};
use crate::record::{
    Evaluation, FactsAndDecision, Neighbour, Outcome, OwnerAct, OwnerActKind, Proposal, RequestFact,
    Target as TracedTarget, Verdict,
};
use crate::reference::{ApplicationRef, NodeRef};
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
            PartLine::Evaluation(evaluation) => self.evaluation(time, node, applications, *evaluation),
            PartLine::Cycle(outcomes) => self.outcomes(time, applications, outcomes),
            PartLine::Owner(acts) => self.owner_acts(time, node, acts),
            PartLine::Event(event) => {
                let survey = self.survey;
                let event =
                    event.map(&mut |node: NodeId| survey.place(&node), &mut |place| applications[place as usize]);
                self.writer.live(time, node, number, &event);
                self.follow(time, node, event);
            }
        }
    }

    /// The target of an operation in the trace, where a name that denotes no node is known.
    fn target(&self, target: Target) -> TracedTarget<NodeRef> {
        match target {
            Target::Own => TracedTarget::Own,
            Target::Node(id) => match self.survey.place_if_known(&id) {
                Some(place) => TracedTarget::Node(place),
                None => TracedTarget::Unknown(id.into()),
            },
            Target::Flavour(flavour) => TracedTarget::Flavour(flavour.id().clone()),
        }
    }

    fn evaluation(&mut self, time: Time, node: NodeRef, applications: &[u32], of: PartEvaluation) {
        let FactsAndDecision { requests, inhibited, solutions, ending, random } = of.seen;
        let evaluation = Evaluation {
            instance: &of.instance,
            application: ApplicationRef(applications[of.application as usize]),
            node,
            free: of.free,
            rate: requests.iter().map(|fact| fact.rate.value()).sum(),
            max_rate: None,
        };
        let survey = self.survey;
        let requests = requests.into_iter().map(|fact| RequestFact {
            neighbour: match fact.neighbour {
                Neighbour::Own => Neighbour::Own,
                Neighbour::Node(hop) => Neighbour::Node(survey.place(&hop)),
            },
            rate: fact.rate,
            latency: fact.latency,
        });
        let inhibited: Vec<_> =
            inhibited.into_iter().map(|proposal| proposal.map(|target| self.target(target))).collect();
        let solutions: Vec<_> =
            solutions.into_iter().map(|solution| solution.map(|target| self.target(target))).collect();
        let seen = FactsAndDecision { requests, inhibited, solutions, ending, random };
        self.writer.evaluation(time, &evaluation, Some(seen));
    }

    fn outcomes(&mut self, time: Time, applications: &[u32], outcomes: Vec<PartOutcome>) {
        let outcomes: Vec<Outcome<NodeRef>> =
            outcomes.into_iter().map(|outcome| self.outcome(applications, outcome)).collect();
        self.writer.cycle(time, |cycle| outcomes.iter().for_each(|outcome| cycle.outcome(outcome)));
    }

    fn outcome(&self, applications: &[u32], outcome: PartOutcome) -> Outcome<NodeRef> {
        match outcome {
            Outcome::Nop(instance) => Outcome::Nop(instance),
            Outcome::Judged { instance, proposal, verdict } => {
                Outcome::Judged { instance, proposal: proposal.map(|target| self.target(target)), verdict }
            }
            Outcome::Deploy { node, application, policy, verdict } => {
                let application = applications[application as usize];
                // Each description of an application has its policy, at the same index.
                let policy = policy.map(|_| application);
                Outcome::Deploy { node: self.survey.place(&node), application, policy, verdict }
            }
        }
    }

    /// Writes the actions of a node's owner. An eviction is only noted; its record replaces that of the instance's end.
    fn owner_acts(&mut self, time: Time, node: NodeRef, acts: Vec<OwnerAct<u32>>) {
        for OwnerAct { instance, kind, reason } in acts {
            let application = self.placed.get(&instance).map_or(0, |(_, application)| *application);
            let of = self.survey.applications.get(application as usize).map(|described| &described.application);
            let kind = match kind {
                OwnerActKind::Evicted => {
                    self.evicted.insert(instance, (node, reason));
                    continue;
                }
                OwnerActKind::Announced(evaluations) => OwnerActKind::Announced(evaluations),
                OwnerActKind::Shrunk(flavour) => match of.and_then(|of| of.flavours.get(flavour as usize)) {
                    Some(flavour) => OwnerActKind::Shrunk(flavour.id.clone()),
                    None => continue,
                },
            };
            let act = OwnerAct { instance, kind, reason };
            self.writer.owner(time, node, std::iter::once((ApplicationRef(application), act)));
        }
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
            // These change neither where instances are nor links.
            LiveEvent::State(_)
            | LiveEvent::Stopped { .. }
            | LiveEvent::Forgotten { .. }
            | LiveEvent::Pinned { .. }
            | LiveEvent::Anchored { .. }
            | LiveEvent::Undeploying { .. }
            | LiveEvent::Updated { .. }
            | LiveEvent::Adapted { .. }
            | LiveEvent::Slept { .. }
            | LiveEvent::Woke { .. }
            | LiveEvent::WakeRefused { .. }
            | LiveEvent::Shrunk { .. }
            | LiveEvent::Drained { .. }
            | LiveEvent::Lost { .. }
            | LiveEvent::Outdated { .. }
            | LiveEvent::Peer { .. }
            | LiveEvent::Prepare { .. }
            | LiveEvent::Aborted { .. }
            | LiveEvent::Reserved(_)
            | LiveEvent::Released { .. }
            | LiveEvent::Freed { .. }
            | LiveEvent::Draining { .. } => {}
        }
    }

    /// Writes the migration, replication or deploy by which an instance came to a node; nothing if it was only in
    /// custody and never left.
    fn came(&mut self, time: Time, node: NodeRef, instance: &InstanceId, application: u32, cause: &Cause<NodeRef>) {
        let before = self.placed.insert(instance.clone(), (node, application));
        let parent = match cause {
            Cause::Taken { transfer, .. } => match self.departures.get(transfer) {
                Some(Departure::Replicates { parent }) => Some(parent.clone()),
                Some(Departure::Migrates { .. }) | None => None,
            },
            Cause::Replicated { parent } => Some(parent.clone()),
            Cause::Deployed | Cause::NotTaken { .. } | Cause::Adopted { .. } => None,
        };
        let parent = parent.filter(|parent| self.placed.contains_key(parent));
        // The instance was only in custody, so it is still on the node.
        if matches!(cause, Cause::NotTaken { .. }) && before.is_some() {
            return;
        }
        let instance = instance.clone();
        let outcome = match (before, parent) {
            (Some(_), _) => accepted(instance, AgentOperation::Migrate, TracedTarget::Node(node), None),
            (None, Some(parent)) => {
                accepted(parent, AgentOperation::Replicate, TracedTarget::Node(node), Some(instance))
            }
            (None, None) => {
                let verdict = Verdict::Accepted(Some(instance));
                Outcome::Deploy { node, application, policy: Some(application), verdict }
            }
        };
        self.writer.cycle(time, |cycle| cycle.outcome(&outcome));
    }

    /// Writes the eviction or undeploy by which an instance ended; nothing if the trace does not have the instance.
    fn went(&mut self, time: Time, instance: &InstanceId) {
        let evicted = self.evicted.remove(instance);
        let Some((_, application)) = self.placed.remove(instance) else { return };
        let instance = instance.clone();
        if let Some((node, reason)) = evicted {
            let act = OwnerAct { instance, kind: OwnerActKind::Evicted, reason };
            return self.writer.owner(time, node, std::iter::once((ApplicationRef(application), act)));
        }
        let outcome = accepted(instance, AgentOperation::Undeploy, TracedTarget::Own, None);
        self.writer.cycle(time, |cycle| cycle.outcome(&outcome));
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

/// An accepted operation of an agent.
fn accepted(
    instance: InstanceId,
    operation: AgentOperation,
    target: TracedTarget<NodeRef>,
    created: Option<InstanceId>,
) -> Outcome<NodeRef> {
    Outcome::Judged { instance, proposal: Proposal { operation, target }, verdict: Verdict::Accepted(created) }
}
