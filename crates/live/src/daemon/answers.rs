//! Answers the requests of operators. The answer to a command that writes records waits until they are on disk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mario_colony::{Command, DeployKey, Input, JournalId, Knowledge, RequestFact, TraceEvent, WorkloadId};
use mario_domain::{ApplicationId, InstanceId};
use serde::Serialize;
use tokio::sync::oneshot;

use super::Ask;
use super::core::Core;
use super::rollout::OlderVersion;
use super::shadows::ShadowCommand;
use crate::api;
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

/// An answer as JSON.
#[derive(Debug)]
pub(crate) struct Json(pub(crate) String);

impl Json {
    pub(crate) fn of(answer: &impl Serialize) -> Json {
        // Answers are plain data with text as keys, so this cannot fail.
        Json(serde_json::to_string(answer).unwrap_or_default())
    }
}

pub(crate) type Answer = Result<Json, Refusal>;

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
pub(super) struct Remembered {
    pub(super) requests: Vec<RequestFact>,
    /// The knowledge of the agent at its last decision; `None` before the first.
    knowledge: Option<Arc<Knowledge>>,
    pub(super) decisions: VecDeque<Arc<api::Report>>,
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

    pub(crate) fn reported(&mut self, event: &TraceEvent, report: &api::NodeReport) {
        let instance = match event {
            TraceEvent::Evaluated { instance, .. } => Some(instance.clone()),
            TraceEvent::Judged { request, .. } => request.instance().cloned(),
            _ => None,
        };
        if let Some(instance) = instance {
            let remembered = self.instances.entry(instance).or_default();
            if remembered.decisions.len() == DECISIONS_KEPT {
                remembered.decisions.pop_front();
            }
            remembered.decisions.push_back(Arc::new(api::Report::Known(report.clone())));
        }
    }

    /// What is remembered of an instance.
    pub(super) fn of(&self, instance: &InstanceId) -> Option<&Remembered> {
        self.instances.get(instance)
    }

    pub(super) fn keep_only(&mut self, here: &BTreeSet<InstanceId>) {
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
        Ok(match question {
            Question::Status => Json::of(&self.status()),
            Question::Instances => Json::of(&self.instances()),
            Question::Instance(instance) => Json::of(&self.instance(&instance).ok_or_else(|| not_here(&instance))?),
            Question::Applications => Json::of(&self.applications()),
            Question::Links => Json::of(&self.links_status()),
            Question::Routes => Json::of(&self.routes()),
            Question::Journal => Json::of(&self.journal_status()),
            Question::Deploy { key, document, older } => Json::of(&self.deploy(key, &document, older)?),
            Question::Update { instance, document } => {
                self.is_here(&instance)?;
                Json::of(&self.update_to(instance, &document)?)
            }
            Question::Rollback { instance, from } => {
                self.is_here(&instance)?;
                Json::of(&self.roll_back(instance, from)?)
            }
            Question::Shadow(application, command) => Json::of(&self.shadow(&application, command)?),
            Question::Undeploy(instance) => {
                self.is_here(&instance)?;
                self.handle(Input::Operator(Command::Undeploy(instance.clone())));
                Json::of(&api::Undeployed { instance })
            }
            Question::Pin(instance, is_pinned) => {
                self.is_here(&instance)?;
                let command = if is_pinned { Command::Pin(instance.clone()) } else { Command::Unpin(instance.clone()) };
                self.handle(Input::Operator(command));
                Json::of(&api::Pinned { instance, is_pinned })
            }
            Question::Anchor(instance, is_anchor) => Json::of(&self.anchor(instance, is_anchor)?),
            Question::Drain(is_draining) => Json::of(&self.drain(is_draining)),
            Question::Lost(journal) => Json::of(&self.lost(journal)?),
        })
    }

    fn drain(&mut self, is_draining: bool) -> api::Drained {
        self.is_draining = is_draining;
        self.handle(Input::Operator(Command::Drain(is_draining)));
        if is_draining {
            self.drain_step();
        }
        api::Drained { is_draining, left: self.node.instances().cloned().collect() }
    }

    fn lost(&mut self, journal: JournalId) -> Result<api::Lost, Refusal> {
        if !self.node.ledger().has_met(journal) {
            return Err(Refusal {
                status: 404,
                message: format!("no neighbour of this node has journal {:032x}", journal.0),
                hint: Some("`mario node status` shows the journals of neighbours".to_owned()),
            });
        }
        self.handle(Input::Operator(Command::Lost(journal)));
        Ok(api::Lost { lost: format!("{:032x}", journal.0) })
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

    fn anchor(&mut self, instance: InstanceId, is_anchor: bool) -> Result<api::Anchored, Refusal> {
        self.is_here(&instance)?;
        if !self.node.ledger().owned().any(|owned| owned.instance == instance) {
            return Err(Refusal {
                status: 409,
                message: format!("instance {instance} is being handed over to a neighbour"),
                hint: Some("repeat it on the node that has the instance then".to_owned()),
            });
        }
        self.handle(Input::Operator(Command::Anchor { instance: instance.clone(), is_anchor }));
        Ok(api::Anchored { instance, is_anchor })
    }

    fn is_here(&self, instance: &InstanceId) -> Result<(), Refusal> {
        let ledger = self.node.ledger();
        let is_owned = ledger.owned().any(|owned| owned.instance == *instance);
        let is_kept = ledger.custody().any(|custody| custody.owned.instance == *instance);
        if is_owned || is_kept { Ok(()) } else { Err(not_here(instance)) }
    }

    /// The copy of an instance.
    pub(crate) fn workload(&self, instance: &InstanceId) -> Option<WorkloadId> {
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
}

/// Why a request about an instance that is not on this node is rejected.
pub(crate) fn not_here(instance: &InstanceId) -> Refusal {
    let hint = Some("`mario app list` shows the instances of a node".to_owned());
    Refusal { status: 404, message: format!("instance {instance} is not on this node"), hint }
}
