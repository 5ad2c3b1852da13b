//! The core of the daemon: one thread that owns the node and its journal.
//!
//! ```text
//! events ──► Node::handle ──► stream of effects ──► records to disk, all at once ──► the other effects, in order
//! ```
//!
//! When the disk fails, the stream of effects stops: nothing that depends on an unwritten record leaves the node.
//! Running workloads keep running, operators are notified, and the write is retried.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_colony::routing::{Router, RouterConfig, RouterInput};
use mario_colony::{Confirmation, Effect, Input, JournalRecord, Message, Node};
use mario_domain::{InstanceId, NodeId, Rule, Time};
use mario_wire::{Body, Envelope};
use tokio::sync::mpsc;

use super::answers::Memory;
use super::board::Board;
use super::certificates::Certificates;
use super::copies::Copies;
use super::documents::Documents;
use super::dormant::Sleepers;
use super::names::NameBook;
use super::routing::Hosted;
use super::shadows::Shadows;
use super::{Ask, Event, Events};
use crate::api::{NodeEvent, NodeReport};
use crate::config::NodeConfig;
use crate::error::LiveError;
use crate::journal::Journal;
use crate::links::{LinkEvent, Links};
use crate::recorder::{Change, Recorder};

/// The retry interval of a failed write.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The maximum number of queued events that are handled after the first one, before the records of all of them are
/// written together (group commit).
const BATCH_MAX: usize = 256;

pub(crate) struct Core {
    pub(crate) config: Arc<NodeConfig>,
    pub(crate) node: Node,
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) links: Links,
    pub(crate) copies: Copies,
    pub(crate) board: Board,
    pub(crate) documents: Documents,
    pub(crate) names: NameBook,
    pub(crate) events: Events,
    pub(crate) recorder: Recorder,
    pub(crate) certificates: Certificates,
    pub(crate) memory: Memory,
    pub(crate) shadows: Shadows,
    pub(crate) sleepers: Sleepers,
    pub(crate) start: Instant,
    /// Neighbours whose links are up, and the sessions of these links.
    pub(crate) up: BTreeMap<NodeId, u64>,
    /// Effects that were not performed yet, including records that were not written yet.
    stream: VecDeque<Effect>,
    /// Why the journal cannot be written, and when the write is retried; `None` if it can be written.
    pub(crate) stalled: Option<(LiveError, Instant)>,
    /// The inputs of [`Event::Input`] that arrived while the journal could not be written.
    deferred: Vec<Input>,
    /// When the observation window of each instance ends. An instance whose copy is not healthy has no window, unless
    /// the instance is dormant.
    pub(crate) windows: BTreeMap<InstanceId, Instant>,
    /// When the owner's policy is next evaluated for evictions and shrinks; `None` if it has no such rules.
    pub(crate) owner_at: Option<Instant>,
    /// Answers that wait until their records are on disk.
    answers: Vec<super::answers::PendingAnswer>,
    pub(crate) router: Router,
    pub(crate) hosted: Hosted,
    pub(crate) is_draining: bool,
    /// When a draining node next offers its instances to neighbours.
    pub(crate) drain_at: Instant,
    pub(crate) counts: CoreCounts,
    /// How many records since the last compaction of the journal trigger the next one.
    pub(crate) compact_at: u64,
}

/// Counters of the core, for metrics.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoreCounts {
    pub(crate) inputs: u64,
    pub(crate) records: u64,
    pub(crate) writes: u64,
    pub(crate) evaluations: u64,
    pub(crate) evaluations_failed: u64,
    pub(crate) accepted: u64,
    pub(crate) inhibited: u64,
    pub(crate) anchors_kept: u64,
    pub(crate) arrived: u64,
    pub(crate) restarts: u64,
}

/// The parts from which [`Core::new`] makes a core.
pub(crate) struct Parts {
    pub(crate) config: Arc<NodeConfig>,
    pub(crate) node: Node,
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) links: Links,
    pub(crate) copies: Copies,
    pub(crate) board: Board,
    pub(crate) documents: Documents,
    pub(crate) names: NameBook,
    pub(crate) events: Events,
    pub(crate) recorder: Recorder,
    pub(crate) start: Instant,
    pub(crate) certificates: Certificates,
    /// Whether the node's policy has rules for evicting or shrinking.
    pub(crate) has_initiative: bool,
    pub(crate) shadows: Shadows,
    pub(crate) sleepers: Sleepers,
}

impl Core {
    pub(crate) fn new(parts: Parts, first: Vec<Effect>) -> Core {
        let router = Router::new(Arc::new(RouterConfig::new(parts.config.node.clone())), Time::at(0.0));
        let owner_at = parts.has_initiative.then(|| parts.start + parts.config.owner_period());
        let Parts { config, node, journal, links, copies, board, documents, names, events, recorder, .. } = parts;
        let (start, shadows, sleepers) = (parts.start, parts.shadows, parts.sleepers);
        let certificates = parts.certificates;
        let (compact_at, is_draining) = (config.journal.shorten_after, node.ledger().is_draining());
        Core {
            config,
            node,
            journal,
            links,
            copies,
            board,
            documents,
            names,
            events,
            recorder,
            certificates,
            memory: Memory::default(),
            shadows,
            sleepers,
            start,
            up: BTreeMap::new(),
            stream: first.into(),
            stalled: None,
            deferred: Vec::new(),
            windows: BTreeMap::new(),
            owner_at,
            answers: Vec::new(),
            router,
            hosted: Hosted::default(),
            is_draining,
            drain_at: start,
            counts: CoreCounts::default(),
            compact_at,
        }
    }

    /// Runs until the daemon shuts down or all senders are gone.
    pub(crate) fn run(mut self, runtime: &tokio::runtime::Handle, mut inbox: mpsc::Receiver<Event>) {
        match self.node.confirmation() {
            Confirmation::Confirmed => {}
            Confirmation::Unconfirmed => self.events.publish(NodeEvent::Unconfirmed),
            Confirmation::Outdated => {
                let message = self.outdated().map(|(cause, hint)| format!("{cause} ({hint})")).unwrap_or_default();
                self.events.publish(NodeEvent::Fault { message });
            }
        }
        self.flush();
        loop {
            let wake = self.wake();
            let event = runtime.block_on(async {
                match wake {
                    Some(at) => tokio::time::timeout_at(at.into(), inbox.recv()).await.map_err(|_| ()),
                    None => Ok(inbox.recv().await),
                }
            });
            match event {
                Ok(None) => return,
                Ok(Some(Event::Stop)) => return,
                Ok(Some(event)) => {
                    self.take_in(event);
                    for _ in 0..BATCH_MAX {
                        match inbox.try_recv() {
                            Ok(Event::Stop) => return,
                            Ok(event) => self.take_in(event),
                            Err(_) => break,
                        }
                    }
                }
                Err(()) => {}
            }
            self.timers();
            self.flush();
            self.publish_dormant();
            self.pass_hosted();
            self.send_routes();
        }
    }

    /// The node's time: milliseconds since the daemon started.
    pub(crate) fn now(&self) -> Time {
        Time::at(self.start.elapsed().as_secs_f64() * 1_000.0)
    }

    fn wake(&self) -> Option<Instant> {
        let instant = |at: Time| self.start + Duration::from_secs_f64(at.units().clamp(0.0, 1e12) / 1_000.0);
        let routing = instant(self.router.next_timeout());
        if let Some((_, retry)) = &self.stalled {
            return Some(routing.min(*retry));
        }
        let timeout = self.node.next_timeout().map(instant);
        let drains = self.is_draining.then_some(self.drain_at);
        let wakes = timeout.into_iter().chain([routing]).chain(drains).chain(self.owner_at);
        wakes.chain(self.windows.values().copied()).min()
    }

    fn take_in(&mut self, event: Event) {
        match event {
            Event::Link(event) => self.link(event),
            Event::Input(input) if self.stalled.is_some() => self.deferred.push(input),
            Event::Input(input) => self.handle(input),
            Event::Ask(ask) => self.ask(ask),
            Event::Explain(instance, reply) => drop(reply.send(self.last_decision(&instance))),
            Event::Health(reply) => drop(reply.send(self.health())),
            Event::Metrics(reply) => drop(reply.send(super::metrics::text(self))),
            Event::Workload(instance, reply) => drop(reply.send(self.workload(&instance))),
            Event::Stop => {}
        }
    }

    pub(crate) fn handle(&mut self, input: Input) {
        self.counts.inputs += 1;
        let mut effects = Vec::new();
        self.node.handle(self.now(), input, &mut effects);
        self.stream.extend(effects);
    }

    fn link(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Up { neighbour, session } => {
                self.events.publish(NodeEvent::LinkUp { neighbour: neighbour.clone() });
                self.up.insert(neighbour, session);
                self.neighbours();
            }
            LinkEvent::Down { neighbour, session } => {
                if self.up.get(&neighbour) == Some(&session) {
                    self.events.publish(NodeEvent::LinkDown { neighbour: neighbour.clone() });
                    self.up.remove(&neighbour);
                    self.route(RouterInput::LinkDown { neighbour });
                    self.neighbours();
                }
            }
            LinkEvent::Received { neighbour, session, envelope } => {
                // A message from any session but the current one is dropped, as if it had been lost.
                if self.up.get(&neighbour) == Some(&session) {
                    self.received(neighbour, *envelope);
                }
            }
            LinkEvent::Changed => {
                self.link_costs();
                self.board.publish();
            }
        }
    }

    /// Tells the node which neighbours have working links. Does nothing while the journal cannot be written; then
    /// [`Core::recover`] does it.
    fn neighbours(&mut self) {
        if self.stalled.is_some() {
            return;
        }
        let up = self.config.neighbours.iter().map(|neighbour| &neighbour.id);
        let up: Vec<NodeId> = up.filter(|neighbour| self.up.contains_key(neighbour)).cloned().collect();
        self.handle(Input::Neighbours(up));
    }

    fn received(&mut self, from: NodeId, envelope: Envelope) {
        let Envelope { sender, receiver, clock, body, .. } = envelope;
        self.recorder.heard(clock);
        let message = match body {
            Body::Colony(message) => message,
            Body::Routing(message) => return self.routing_received(from, message),
            Body::Ping(_) | Body::Pong(_) | Body::Goodbye(_) => return,
        };
        if matches!(message, Message::Hello(_)) {
            self.greeted(&from);
        }
        // While the journal cannot be written, messages for the node are dropped, as if they had been lost.
        if self.stalled.is_some() {
            return;
        }
        // A transfer is inhibited here, before it reaches the node, if the signature of its descriptor is invalid or
        // this node lacks the driver.
        if let Message::Prepare(prepare) = &message
            && let Err(fault) = self.documents.check(&prepare.descriptor, &self.copies)
        {
            let rule = Rule::Descriptor { cause: fault.line() };
            let inhibition = mario_domain::Inhibition { node: self.config.node.clone(), rule };
            let answer = Message::Inhibit { transfer: prepare.transfer, inhibition };
            self.stream.push_back(Effect::Send { to: from, receiver: Some(sender), message: answer });
            return;
        }
        self.handle(Input::Received { from, sender, receiver, message });
    }

    fn timers(&mut self) {
        if self.router.next_timeout() <= self.now() {
            self.route(RouterInput::Timeout);
        }
        if self.stalled.is_some() {
            return;
        }
        if self.node.next_timeout().is_some_and(|at| at <= self.now()) {
            self.handle(Input::Timeout);
        }
        self.evaluate();
    }

    /// Writes the records of the stream, then performs the other effects and sends the waiting answers. Repeats this
    /// until nothing is left, or until the journal fails. After a failure, does nothing until the time of the retry.
    fn flush(&mut self) {
        loop {
            if self.stream.is_empty() && self.answers.is_empty() {
                return;
            }
            if let Some((_, retry)) = &self.stalled
                && *retry > Instant::now()
            {
                return;
            }
            let records: Vec<JournalRecord> = self
                .stream
                .iter()
                .filter_map(|effect| match effect {
                    Effect::Journal(record) => Some(record.clone()),
                    _ => None,
                })
                .collect();
            let first = self.journal.count() + 1;
            if !records.is_empty() {
                if let Err(fault) = self.journal.append(&records) {
                    return self.stall(fault);
                }
                self.counts.records += records.len() as u64;
                self.counts.writes += 1;
            }
            let was_stalled = self.stalled.take().is_some();
            let mut reports = self.trace(first);
            for effect in std::mem::take(&mut self.stream) {
                match effect {
                    Effect::Trace(event) => self.report(&event, reports.pop_front().flatten()),
                    effect => self.perform(effect),
                }
            }
            self.answer_waiting();
            if was_stalled {
                self.recover();
            }
            self.compact();
        }
    }

    /// Adds the records and events of the stream to the trace. The records are already on disk; `number` is the number
    /// of the first one. Returns, for each event, the report for operators.
    fn trace(&mut self, mut number: u64) -> VecDeque<Option<NodeReport>> {
        let mut reports = VecDeque::new();
        for effect in &self.stream {
            match effect {
                Effect::Journal(record) => {
                    self.recorder.record(number, record);
                    number += 1;
                }
                Effect::Trace(event) => reports.push_back(self.recorder.report(event)),
                _ => {}
            }
        }
        match self.recorder.flush(self.node.ledger()) {
            Some(Change::Fails(cause)) => self.events.publish(NodeEvent::TraceFails { cause }),
            Some(Change::Works) => self.events.publish(NodeEvent::TraceWorks),
            None => {}
        }
        reports
    }

    fn stall(&mut self, fault: LiveError) {
        if self.stalled.is_none() {
            self.events.publish(NodeEvent::JournalFails { cause: fault.line() });
        }
        self.refuse_waiting(&fault);
        self.stalled = Some((fault, Instant::now() + RETRY_AFTER));
    }

    /// Called when the journal can be written again: handles the deferred inputs, and tells the node which links are
    /// up.
    fn recover(&mut self) {
        self.events.publish(NodeEvent::JournalWorks);
        for input in std::mem::take(&mut self.deferred) {
            self.handle(input);
        }
        self.neighbours();
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Journal(_) | Effect::Trace(_) => {}
            Effect::Send { to, receiver, message } => {
                let mut envelope = Envelope::new(self.node.journal(), receiver, Body::Colony(message));
                envelope.clock = Some(self.recorder.now());
                self.links.send(&to, &envelope);
            }
            Effect::Start { workload, instance, descriptor, flavour } => {
                match self.documents.task(&self.config, workload, &instance, (&descriptor, flavour.as_ref())) {
                    Ok(task) => self.copies.run(task, false),
                    Err(fault) => self.copies.not_started(workload, fault.line()),
                }
            }
            Effect::Resume { workload, instance, descriptor, flavour } => {
                self.counts.restarts += u64::from(self.node.restart(workload).is_some());
                match self.documents.task(&self.config, workload, &instance, (&descriptor, flavour.as_ref())) {
                    Ok(task) => self.copies.run(task, true),
                    Err(fault) => self.copies.not_started(workload, fault.line()),
                }
            }
            Effect::Adapt { workload, instance, descriptor, flavour } => {
                self.pass_names();
                match self.documents.task(&self.config, workload, &instance, (&descriptor, flavour.as_ref())) {
                    Ok(task) => self.copies.adapt(task),
                    Err(fault) => self.copies.not_started(workload, fault.line()),
                }
            }
            Effect::Drain(workload) => self.copies.drain(workload),
            Effect::Stop(workload) => self.copies.stop(workload),
            Effect::Sweep { keep } => self.copies.sweep(keep),
        }
    }

    pub(crate) fn push_effects(&self) -> impl Iterator<Item = &Effect> {
        self.stream.iter()
    }

    pub(crate) fn wait_for_disk(&mut self, waiting: super::answers::PendingAnswer) {
        self.answers.push(waiting);
    }

    fn answer_waiting(&mut self) {
        for waiting in std::mem::take(&mut self.answers) {
            waiting.answer();
        }
    }

    fn refuse_waiting(&mut self, fault: &LiveError) {
        for waiting in std::mem::take(&mut self.answers) {
            waiting.refuse(fault);
        }
    }

    fn ask(&mut self, ask: Ask) {
        super::answers::answer(self, ask);
    }

    /// Compacts the journal if at least `compact_at` records follow the last compaction and no effect is waiting. After
    /// a failure, retries when `shorten_after` more records have been added.
    pub(crate) fn compact(&mut self) {
        if self.journal.grown() < self.compact_at || self.push_effects().next().is_some() {
            return;
        }
        let after = self.config.journal.shorten_after;
        self.compact_at = after;
        if let Err(fault) = self.journal.compact(self.node.ledger()) {
            self.compact_at = self.journal.grown() + after;
            self.events
                .publish(NodeEvent::Fault { message: format!("the journal is not shortened: {}", fault.line()) });
        }
    }
}
