//! Answers the requests of operators. The answer to a command that writes records waits until they are on disk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_colony::{
    Command, Confirmation, DeployKey, Input, JournalId, Knowledge, RequestFact, TraceEvent, WorkloadId,
};
use mario_domain::{ApplicationId, InstanceId, NodeId};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Ask;
use super::core::Core;
use super::events::workload_text;
use super::rollout::OlderVersion;
use super::shadows::ShadowCommand;
use crate::application::digest;
use crate::error::LiveError;

/// How many reports of evaluations and verdicts are kept for each instance.
const DECISIONS_KEPT: usize = 20;

/// When more departed instances than this are remembered, all of them are forgotten.
const DEPARTED_KEPT: usize = 64;

/// How often a draining node offers its instances to neighbours.
const DRAIN_EVERY: Duration = Duration::from_millis(500);

/// A request of an operator.
#[derive(Debug)]
pub(crate) enum Question {
    Status,
    Instances,
    Instance(InstanceId),
    /// The applications of the instances here, with their policies and facts, and the facts about the node.
    Applications,
    Links,
    Routes,
    Journal,
    Metrics,
    /// The copy of an instance, to read its log.
    Workload(InstanceId),
    Deploy {
        key: DeployKey,
        document: Arc<[u8]>,
        older: OlderVersion,
    },
    Undeploy(InstanceId),
    /// Replace the description of an instance.
    Update {
        instance: InstanceId,
        document: Arc<[u8]>,
    },
    /// Restore the previous description of an instance, if the instance runs version `from`, or any if that is `None`.
    Rollback {
        instance: InstanceId,
        from: Option<u64>,
    },
    /// A command about the shadow policy of an application.
    Shadow(ApplicationId, ShadowCommand),
    Pin(InstanceId, bool),
    /// Make an instance an anchor (`true`), or end that (`false`).
    Anchor(InstanceId, bool),
    /// Start to drain the node (`true`), or accept new instances again (`false`).
    Drain(bool),
    Lost(JournalId),
}

/// Why an operator's request is rejected.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

pub(crate) type Answer = Result<Value, Refusal>;

/// An answer that waits until its records are on disk. If they cannot be written, the request is refused instead.
pub(crate) struct PendingAnswer {
    reply: oneshot::Sender<Answer>,
    answer: Answer,
}

impl PendingAnswer {
    pub(crate) fn answer(self) {
        let _ = self.reply.send(self.answer);
    }

    pub(crate) fn refuse(self, fault: &LiveError) {
        let _ = self.reply.send(Err(cannot_write(fault)));
    }
}

fn cannot_write(fault: &LiveError) -> Refusal {
    Refusal {
        status: 503,
        message: fault.line(),
        hint: Some(
            "repeat it when the journal can be written again; a deploy with the same key is the same deploy".to_owned(),
        ),
    }
}

pub(super) fn refusal(status: u16, message: impl Into<String>) -> Refusal {
    Refusal { status, message: message.into(), hint: None }
}

/// The latest facts, decisions and verdicts of each instance. Instances that left the node are removed when an operator
/// asks for the status of the node, or when there are more than [`DEPARTED_KEPT`] of them.
#[derive(Default)]
pub(crate) struct Memory {
    instances: BTreeMap<InstanceId, Remembered>,
}

#[derive(Default)]
struct Remembered {
    requests: Vec<RequestFact>,
    /// The knowledge of the agent at its last decision; `None` before the first.
    knowledge: Option<Arc<Knowledge>>,
    decisions: VecDeque<Value>,
    /// How often the instance was offered to a neighbour while the node was draining.
    drain_offers: usize,
}

impl Memory {
    pub(crate) fn observed(&mut self, instance: &InstanceId, requests: &[RequestFact]) {
        self.instances.entry(instance.clone()).or_default().requests = requests.to_vec();
    }

    pub(crate) fn knows(&mut self, instance: &InstanceId, knowledge: Option<Knowledge>) {
        self.instances.entry(instance.clone()).or_default().knowledge = knowledge.map(Arc::new);
    }

    /// The knowledge of an instance's agent at its last decision; `None` if it has not decided here.
    pub(crate) fn knowledge(&self, instance: &InstanceId) -> Option<Arc<Knowledge>> {
        self.instances.get(instance)?.knowledge.clone()
    }

    pub(crate) fn reported(&mut self, report: &TraceEvent, json: &Value) {
        let instance = match report {
            TraceEvent::Evaluated { instance, .. } => Some(instance.clone()),
            TraceEvent::Judged { request, .. } => request.instance().cloned(),
            _ => None,
        };
        if let Some(instance) = instance {
            let remembered = self.instances.entry(instance).or_default();
            if remembered.decisions.len() == DECISIONS_KEPT {
                remembered.decisions.pop_front();
            }
            remembered.decisions.push_back(json.clone());
        }
    }

    fn keep_only(&mut self, here: &BTreeSet<InstanceId>) {
        self.instances.retain(|instance, _| here.contains(instance));
    }
}

/// Answers a request. A command that writes records to the journal is answered when they are on disk, and refused while
/// the journal cannot be written. All other requests are answered at once.
pub(crate) fn answer(core: &mut Core, ask: Ask) {
    let Ask { question, reply } = ask;
    if let Some((fault, _)) = &core.stalled
        && question.changes()
    {
        let _ = reply.send(Err(cannot_write(fault)));
        return;
    }
    let changes = question.changes();
    if let Some((message, hint)) = core.outdated().filter(|_| changes) {
        let _ = reply.send(Err(Refusal { status: 409, message, hint: Some(hint) }));
        return;
    }
    let answer = core.reply(question);
    if changes {
        core.wait_for_disk(PendingAnswer { reply, answer });
    } else {
        let _ = reply.send(answer);
    }
}

impl Question {
    fn changes(&self) -> bool {
        use Question::{Anchor, Deploy, Drain, Lost, Pin, Rollback, Undeploy, Update};
        let is_about_instances =
            matches!(self, Deploy { .. } | Update { .. } | Rollback { .. } | Undeploy(_) | Pin(..) | Anchor(..));
        is_about_instances || matches!(self, Drain(_) | Lost(_))
    }
}

impl Core {
    fn reply(&mut self, question: Question) -> Answer {
        match question {
            Question::Status => Ok(self.status()),
            Question::Instances => Ok(self.instances()),
            Question::Instance(instance) => self.instance(&instance).ok_or_else(|| not_here(&instance)),
            Question::Applications => Ok(self.applications()),
            Question::Links => Ok(self.links_status()),
            Question::Routes => Ok(self.routes()),
            Question::Journal => Ok(self.journal_status()),
            Question::Metrics => Ok(Value::String(super::metrics::text(self))),
            Question::Workload(instance) => match self.workload(&instance) {
                Some(workload) => Ok(json!({ "boot": workload.boot, "counter": workload.counter })),
                None => Err(not_here(&instance)),
            },
            Question::Deploy { key, document, older } => self.deploy(key, &document, older),
            Question::Update { instance, document } => {
                self.is_here(&instance)?;
                self.update_to(instance, &document)
            }
            Question::Rollback { instance, from } => {
                self.is_here(&instance)?;
                self.roll_back(instance, from)
            }
            Question::Shadow(application, command) => self.shadow(&application, command),
            Question::Undeploy(instance) => {
                self.is_here(&instance)?;
                self.handle(Input::Operator(Command::Undeploy(instance.clone())));
                Ok(json!({ "instance": instance }))
            }
            Question::Pin(instance, is_pinned) => {
                self.is_here(&instance)?;
                let command = if is_pinned { Command::Pin(instance.clone()) } else { Command::Unpin(instance.clone()) };
                self.handle(Input::Operator(command));
                Ok(json!({ "instance": instance, "is_pinned": is_pinned }))
            }
            Question::Anchor(instance, is_anchor) => self.anchor(&instance, is_anchor),
            Question::Drain(drains) => {
                self.is_draining = drains;
                self.handle(Input::Operator(Command::Drain(drains)));
                if drains {
                    self.drain_step();
                }
                Ok(json!({ "is_draining": drains, "left": self.node.instances().collect::<Vec<_>>() }))
            }
            Question::Lost(journal) => {
                if !self.node.ledger().has_met(journal) {
                    return Err(Refusal {
                        status: 404,
                        message: format!("no neighbour of this node has journal {:032x}", journal.0),
                        hint: Some("`mario node status` shows the journals of neighbours".to_owned()),
                    });
                }
                self.handle(Input::Operator(Command::Lost(journal)));
                Ok(json!({ "lost": format!("{:032x}", journal.0) }))
            }
        }
    }

    /// Asks the node to migrate each remaining instance to a neighbour whose link is up, at most once per
    /// [`DRAIN_EVERY`] and in turn to each of these neighbours. Skips instances in transfer.
    pub(crate) fn drain_step(&mut self) {
        let now = Instant::now();
        if now < self.drain_at {
            return;
        }
        self.drain_at = now + DRAIN_EVERY;
        let neighbours: Vec<_> = self.config.neighbours.iter().map(|neighbour| neighbour.id.clone()).collect();
        let neighbours: Vec<_> = neighbours.into_iter().filter(|neighbour| self.up.contains_key(neighbour)).collect();
        let instances: Vec<InstanceId> = self.node.instances().cloned().collect();
        for instance in instances {
            if neighbours.is_empty() || self.node.is_frozen(&instance) {
                continue;
            }
            let offers = &mut self.memory.instances.entry(instance.clone()).or_default().drain_offers;
            let target = neighbours[*offers % neighbours.len()].clone();
            *offers = offers.wrapping_add(1);
            self.handle(Input::Operator(Command::Migrate { instance, target }));
        }
    }

    /// Why this node's journal must not be used any more, and what to do; `None` unless it is an old copy.
    pub(crate) fn outdated(&self) -> Option<(String, String)> {
        let outdated = self.node.ledger().outdated()?;
        let hint = format!(
            "nothing runs on this node any more: start it with an empty data directory, and tell its neighbours with \
             `mario node lost {:032x}`",
            self.node.journal().0
        );
        Some((outdated.to_string(), hint))
    }

    fn anchor(&mut self, instance: &InstanceId, is_anchor: bool) -> Answer {
        self.is_here(instance)?;
        if !self.node.ledger().owned().any(|owned| owned.instance == *instance) {
            return Err(Refusal {
                status: 409,
                message: format!("instance {instance} is being handed over to a neighbour"),
                hint: Some("repeat it on the node that has the instance then".to_owned()),
            });
        }
        self.handle(Input::Operator(Command::Anchor { instance: instance.clone(), is_anchor }));
        Ok(json!({ "instance": instance, "is_anchor": is_anchor }))
    }

    fn is_here(&self, instance: &InstanceId) -> Result<(), Refusal> {
        let ledger = self.node.ledger();
        let is_owned = ledger.owned().any(|owned| owned.instance == *instance);
        let is_kept = ledger.custody().any(|custody| custody.owned.instance == *instance);
        if is_owned || is_kept { Ok(()) } else { Err(not_here(instance)) }
    }

    fn workload(&self, instance: &InstanceId) -> Option<WorkloadId> {
        let ledger = self.node.ledger();
        let owned = ledger.owned().find(|owned| owned.instance == *instance).map(|owned| owned.workload);
        let custody = || ledger.custody().find(|custody| custody.owned.instance == *instance);
        owned.or_else(|| custody().map(|custody| custody.owned.workload))
    }

    /// Forgets all instances that left the node, if more than [`DEPARTED_KEPT`] of them are remembered.
    pub(crate) fn forget_departed(&mut self) {
        let count = self.node.instances().count();
        if self.memory.instances.len() > count + DEPARTED_KEPT {
            let here = self.node.instances().cloned().collect();
            self.memory.keep_only(&here);
        }
    }

    fn status(&mut self) -> Value {
        let here: BTreeSet<InstanceId> = self.node.instances().cloned().collect();
        self.memory.keep_only(&here);
        let ledger = self.node.ledger();
        let manager = self.node.manager();
        json!({
            "node": self.config.node,
            "version": env!("CARGO_PKG_VERSION"),
            "uptime_ms": self.start.elapsed().as_millis() as u64,
            "journal": format!("{:032x}", self.node.journal().0),
            "journal_fault": self.stalled.as_ref().map(|(fault, _)| fault.line()),
            "confirmation": match self.node.confirmation() {
                Confirmation::Confirmed => "confirmed",
                Confirmation::Unconfirmed => "unconfirmed",
                Confirmation::Outdated => "outdated",
            },
            "outdated": self.outdated().map(|(cause, _)| cause),
            "trace_fault": self.recorder.fault(),
            "workload_fault": self.copies.room().fault(),
            "certificates": self.certificates.status(),
            "is_draining": self.is_draining,
            "evaluation_ms": self.config.timing.evaluation_ms,
            "acceptance_policy": self.config.policy.as_ref().and_then(|path| path.file_name()?.to_str()),
            "capacity": manager.capacity(),
            "free": manager.free(),
            "unreserved": manager.unreserved(),
            "instances": here.len(),
            "in_custody": ledger.custody().count(),
            "offered": ledger.grants().count(),
            "draining_copies": ledger.draining().count(),
            "copies_down": self.node.copies_down(),
            "is_quiet": self.node.is_quiet(),
            "links_up": self.up.len(),
            "neighbours": self.config.neighbours.len(),
        })
    }

    fn instances(&self) -> Value {
        let ledger = self.node.ledger();
        let owned = ledger.owned().filter_map(|owned| self.instance(&owned.instance));
        let custody = ledger.custody().map(|custody| {
            json!({
                "instance": custody.owned.instance,
                "application": custody.owned.descriptor.application.id,
                "state": "in-custody",
                "target": custody.target,
                "is_anchor": custody.owned.is_anchor,
                "copy": self.copies.status(custody.owned.workload),
            })
        });
        json!({ "instances": owned.chain(custody).collect::<Vec<_>>() })
    }

    fn instance(&self, instance: &InstanceId) -> Option<Value> {
        let owned = self.node.ledger().owned().find(|owned| owned.instance == *instance)?;
        let remembered = self.memory.instances.get(instance);
        let requests = remembered.map(|remembered| remembered.requests.iter().map(request_json).collect::<Vec<_>>());
        Some(json!({
            "instance": owned.instance,
            "application": owned.descriptor.application.id,
            "version": owned.descriptor.version,
            "digest": digest(&owned.descriptor.document),
            "previous_version": self.node.ledger().previous(instance).map(|previous| previous.version),
            "flavour": owned.descriptor.application.flavour(owned.flavour).map(|flavour| &flavour.id),
            "state": "owned",
            "is_asleep": owned.is_asleep(),
            "epoch": owned.epoch.0,
            "is_pinned": owned.is_pinned,
            "is_anchor": owned.is_anchor,
            "is_transferring": self.node.is_frozen(instance),
            "replications_left": owned.replications_left,
            "hardware": owned.needed(),
            "max_rate": owned.descriptor.application.max_rate,
            "max_latency": owned.descriptor.application.max_latency,
            "evaluations": self.node.snapshot(instance).map(|snapshot| snapshot.evaluations),
            "copy": self.copies.status(owned.workload),
            "restart": self.restart(owned.workload),
            "facts": {
                "requests": requests,
                "neighbours": self.up.keys().collect::<Vec<_>>(),
                "free": self.node.manager().free(),
            },
            "decisions": remembered.map(|remembered| remembered.decisions.iter().collect::<Vec<_>>()),
        }))
    }

    fn routes(&self) -> Value {
        let routes = self.board.routes().load();
        let copies = routes.copies.iter().map(|(application, copies)| {
            let copies: Vec<Value> = copies
                .iter()
                .map(|copy| json!({ "instance": copy.instance, "workload": workload_text(copy.workload), "address": copy.address }))
                .collect();
            (application.to_string(), Value::from(copies))
        });
        let hops = routes.next_hops.iter().map(|(application, hops)| {
            let hops: Vec<Value> = hops
                .iter()
                .map(|hop| json!({ "neighbour": hop.neighbour, "latency_quanta": hop.latency_quanta }))
                .collect();
            (application.to_string(), Value::from(hops))
        });
        json!({
            "copies": copies.collect::<serde_json::Map<_, _>>(),
            "next_hops": hops.collect::<serde_json::Map<_, _>>(),
            "hosts": routes.hosts,
            "prefixes": routes.prefixes,
            "names_claimed_twice": self.names.conflicts(),
        })
    }

    fn journal_status(&self) -> Value {
        let ledger = self.node.ledger();
        let peer = |node: &NodeId, journal: JournalId, sequence: Option<u64>, state: &str| json!({ "node": node, "journal": format!("{:032x}", journal.0), "sequence": sequence, "state": state });
        let peers = ledger.peers().map(|(node, known)| {
            let is_rejected = known.is_rejected() || self.node.rejects(node);
            let state = match ledger.is_lost(known.journal) {
                true => "lost",
                false if is_rejected => "rejected",
                false => "known",
            };
            peer(node, known.journal, (!known.is_rejected()).then_some(known.sequence), state)
        });
        let former = ledger.former();
        let former =
            former.map(|(node, journal, is_lost)| peer(node, journal, None, if is_lost { "lost" } else { "replaced" }));
        json!({
            "journal": format!("{:032x}", self.node.journal().0),
            "records": self.journal.count(),
            "records_since_ledger": self.journal.grown(),
            "sequence": ledger.sequence(),
            "fault": self.stalled.as_ref().map(|(fault, _)| fault.line()),
            "custody": ledger.custody().map(|custody| json!({
                "instance": custody.owned.instance, "target": custody.target, "transfer": format!("{:?}", custody.transfer),
            })).collect::<Vec<_>>(),
            "grants": ledger.grants().map(|grant| json!({
                "instance": grant.instance, "parent": grant.parent, "target": grant.target,
            })).collect::<Vec<_>>(),
            "peers": peers.chain(former).collect::<Vec<_>>(),
        })
    }

    /// The applications of the instances on this node, with their policies and facts, and the facts about the node.
    pub(super) fn applications(&self) -> Value {
        let owned = self.node.ledger().owned();
        let hosted: BTreeMap<_, _> = owned.map(|owned| (&owned.descriptor.application.id, &owned.descriptor)).collect();
        let applications = hosted.into_values().map(|descriptor| {
            json!({ "application": descriptor.application, "facts": descriptor.facts, "policy": descriptor.policy })
        });
        json!({ "applications": applications.collect::<Vec<_>>(), "facts": self.config.facts })
    }
}

fn request_json(request: &RequestFact) -> Value {
    json!({ "neighbour": request.neighbour.to_string(), "rate": request.rate, "latency": request.latency })
}

fn not_here(instance: &InstanceId) -> Refusal {
    let hint = Some("`mario app list` shows the instances of a node".to_owned());
    Refusal { status: 404, message: format!("instance {instance} is not on this node"), hint }
}
