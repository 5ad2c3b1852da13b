//! Events of nodes, with descriptions for users and the data that the page draws.

#![deny(clippy::wildcard_enum_match_arm)]

use mario_domain::{Concerned, InstanceEffect, OperationName};
use mario_live::api::{
    Event, Happening, JudgedRequest, NodeEvent, NodeReport, Operation, Report, Requester, UnknownEvent, UnknownReport,
    Word,
};
use serde::Serialize;

use super::{clipped, named};

/// Events received within this time after they happened are fresh. The page animates only fresh events.
pub(super) const FRESH_MS: u64 = 10_000;

/// An event on a node.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Happening"))]
pub struct ColonyEvent {
    /// The sequence number in this picture, from 1.
    pub number: u64,
    /// The time by the clock of the node, in milliseconds since 1970.
    pub time_ms: u64,
    /// The node that reported it.
    pub node: String,
    /// The kind. For a judged request, it is `migrate`, `replicate`, `undeploy` or `deploy` if that operation was
    /// accepted, `node` if another one was, and `inhibited` if the request was inhibited. An eviction is an `undeploy`;
    /// an announced eviction, a rejected update and a refused waking are `inhibited`. Other events are `arrived`,
    /// `proposed`, `policy`, `copy`, `link`, `journal`, `fault` or `node`.
    pub kind: &'static str,
    /// A description for users.
    pub text: String,
    /// The instance concerned.
    pub instance: Option<String>,
    /// Its application, if known.
    pub application: Option<String>,
    /// The node of the agent whose request was judged, or the node that an instance arrived from.
    pub from: Option<String>,
    /// The target of the judged request (for an adapt, a flavour), or the node at which an instance arrived.
    pub to: Option<String>,
    /// Whether the event was received within 10 seconds after it happened. A node that is first polled also reports
    /// past events.
    pub is_fresh: bool,
}

/// The kind of an event, and its description for users.
type Words = (&'static str, String);

impl ColonyEvent {
    /// Interprets an event of a node.
    pub(super) fn read(event: &Event, node: &str, application_of: impl Fn(&str) -> Option<String>) -> ColonyEvent {
        let mut colony_event = ColonyEvent {
            number: 0,
            time_ms: event.time_ms,
            node: node.to_owned(),
            kind: "node",
            text: String::new(),
            instance: None,
            application: None,
            from: None,
            to: None,
            is_fresh: false,
        };
        let (kind, words) = match &event.event {
            Happening::Known(known) => colony_event.known(known),
            Happening::Unknown(UnknownEvent { event, .. }) => ("node", unknown("event", event)),
        };
        colony_event.kind = kind;
        colony_event.text = clipped(&words);
        if colony_event.application.is_none() {
            colony_event.application = colony_event.instance.as_deref().and_then(application_of);
        }
        colony_event
    }

    fn known(&mut self, event: &NodeEvent) -> Words {
        match event {
            NodeEvent::Report { report: Report::Known(report) } => self.report(report),
            NodeEvent::Report { report: Report::Unknown(UnknownReport { kind, .. }) } => {
                ("node", unknown("report", kind))
            }
            NodeEvent::Copy { workload, instance, state } => {
                let id = self.about(instance);
                ("copy", format!("the copy {workload} of {id} is {state}"))
            }
            NodeEvent::ShadowDiffers { instance, policy, shadow } => {
                let id = self.about(instance);
                ("proposed", format!("{id} proposes {policy}; the shadow proposes {shadow}"))
            }
            NodeEvent::Started { .. } => ("node", "the daemon started".to_owned()),
            NodeEvent::Stopping => ("node", "the daemon is stopping".to_owned()),
            NodeEvent::Fault { message } => ("fault", message.clone()),
            NodeEvent::OrphansEnded { processes } => {
                ("node", format!("{processes} processes of workloads of a former journal were ended"))
            }
            NodeEvent::OpenFiles { is_enough: true, clients_max, .. } => {
                ("node", format!("enough files may be open for {clients_max} clients"))
            }
            NodeEvent::OpenFiles { is_enough: false, clients_max, .. } => {
                ("fault", format!("the limit of open files suffices only for {clients_max} clients"))
            }
            NodeEvent::ConnectionsLimited { listener, refused, replaced, silent, full, failed, last } => {
                let counts = [
                    (*refused, "connections refused"),
                    (*replaced, "replaced"),
                    (*silent, "closed because they were silent"),
                    (*full, "times all places taken"),
                    (*failed, "connections failed"),
                ];
                ("fault", format!("limits of the listener `{listener}`: {}; the last: {last}", counted(&counts)))
            }
            NodeEvent::SignalIgnored { signal, message } => ("node", format!("{signal} is ignored: {message}")),
            NodeEvent::CertificateExpires { message, .. } => ("fault", message.clone()),
            NodeEvent::LinkUp { neighbour } => ("link", format!("the link to {neighbour} is up")),
            NodeEvent::LinkDown { neighbour } => ("link", format!("the link to {neighbour} is down")),
            NodeEvent::LinkFailed { neighbour, cause } => {
                ("link", format!("a connection with {neighbour} ended: {cause}"))
            }
            NodeEvent::Refused { address, cause } => ("fault", format!("refused a connection from {address}: {cause}")),
            NodeEvent::NameClaimedTwice { name, holder, claimed_by } => {
                ("fault", format!("{claimed_by} claims the {name}, which {holder} holds and keeps"))
            }
            NodeEvent::NamesRefused { neighbour, cause } => {
                ("fault", format!("refused names of an application that {neighbour} announced: {cause}"))
            }
            NodeEvent::Unconfirmed => {
                ("journal", "no neighbour has confirmed the journal since the node restarted".to_owned())
            }
            NodeEvent::JournalFails { cause } => ("journal", format!("the journal cannot be written: {cause}")),
            NodeEvent::JournalWorks => ("journal", "the journal can be written again".to_owned()),
            NodeEvent::TraceFails { cause } => ("journal", format!("the trace cannot be written: {cause}")),
            NodeEvent::TraceWorks => ("journal", "the trace can be written again".to_owned()),
        }
    }

    /// Records the instance that the event is about, and returns its id.
    fn about(&mut self, instance: &impl ToString) -> String {
        let id = named(instance);
        self.instance = Some(id.clone());
        id
    }

    fn report(&mut self, report: &NodeReport) -> Words {
        match report {
            NodeReport::Evaluated { instance, operation, target, has_failed } => {
                let id = instance.as_ref().map(|instance| self.about(instance)).unwrap_or_default();
                if *has_failed {
                    return ("policy", format!("the policy of {id} has no valid answer"));
                }
                let asked = operation
                    .as_ref()
                    .map_or_else(|| "nothing".to_owned(), |operation| operation_words(operation, target.as_deref()));
                ("proposed", format!("{id} asks to {asked}"))
            }
            NodeReport::Judged { request, is_accepted, reason, created, .. } => {
                self.judged(request, *is_accepted, reason.as_deref(), created.as_ref().map(named))
            }
            NodeReport::Arrived { instance, from, .. } => {
                (self.from, self.to) = (Some(named(from)), Some(self.node.clone()));
                ("arrived", format!("{} arrived from {from}", self.about(instance)))
            }
            NodeReport::Undeployed { instance } => ("copy", format!("{} was undeployed", self.about(instance))),
            NodeReport::LivesOn { instance, node } => ("copy", format!("{} continues on {node}", self.about(instance))),
            NodeReport::Updated { instance, from, to, reason, .. } => {
                let version = |version: &Option<u64>| version.map(|version| version.to_string()).unwrap_or_default();
                let (id, from, to) = (self.about(instance), version(from), version(to));
                match reason {
                    None => ("copy", format!("{id} runs version {to} instead of {from}")),
                    Some(reason) => ("inhibited", format!("{id} stays at version {from}: {reason}")),
                }
            }
            NodeReport::Leave { instance, evaluations, reason } => {
                let (owner, id) = (self.owner(), self.about(instance));
                ("inhibited", format!("{owner} wants {id} to leave within {evaluations} evaluations: {reason}"))
            }
            NodeReport::Evicted { instance, reason, .. } => {
                ("undeploy", format!("{} evicts {}: {reason}", self.owner(), self.about(instance)))
            }
            NodeReport::Shrunk { instance, reason } => {
                ("copy", format!("{} shrinks {}: {reason}", self.owner(), self.about(instance)))
            }
            NodeReport::InitiativeFailed { cause } => {
                ("policy", format!("the policy of {} has no answer: {cause}", self.owner()))
            }
            NodeReport::Woken { instance, reason, .. } => match (self.about(instance), reason) {
                (id, None) => ("copy", format!("a client request wakes {id}")),
                (id, Some(reason)) => ("inhibited", format!("a client request does not wake {id}: {reason}")),
            },
            NodeReport::AcceptanceFailed { cause, .. } => {
                ("policy", format!("the acceptance policy of {} has no answer: {cause}", self.node))
            }
            NodeReport::RefusedPeer { node } => {
                ("fault", format!("{node} is rejected: its journal is another one than before"))
            }
            NodeReport::Confirmed { by } => ("journal", format!("{by} confirmed the journal of {}", self.node)),
            NodeReport::Outdated { cause, .. } => ("fault", format!("nothing runs on {} any more: {cause}", self.node)),
        }
    }

    fn owner(&self) -> String {
        format!("the owner of {}", self.node)
    }

    fn judged(
        &mut self,
        request: &JudgedRequest,
        is_accepted: bool,
        reason: Option<&str>,
        created: Option<String>,
    ) -> Words {
        let JudgedRequest { requester, application, operation, target } = request;
        if let Requester::Agent { instance, node, .. } = requester {
            (self.instance, self.from) = (Some(named(instance)), Some(named(node)));
        }
        self.application = Some(named(application));
        self.to = match target.as_ref().map(named) {
            Some(target) if target == "self" => self.from.clone(),
            other => other,
        };
        let who = self.instance.clone().unwrap_or_else(|| named(application));
        let asked = operation_words(operation, self.to.as_deref());
        if !is_accepted {
            return ("inhibited", format!("{who}: {asked} inhibited: {}", reason.unwrap_or_default()));
        }
        let to = self.to.clone().unwrap_or_default();
        let accepted = ("node", format!("{who}: {asked} accepted"));
        let Word::Known(Operation(name)) = operation else { return accepted };
        let Some(agents) = name.of_agent() else {
            let what = created.clone().unwrap_or_default();
            self.instance = created;
            return (name.as_str(), format!("{who} is deployed on {to} as {what}"));
        };
        match agents.concerned() {
            Concerned::Every => {
                let to = if agents.asks_for_place() { format!(" to {to}") } else { String::new() };
                let created = created.filter(|_| agents.effect() == InstanceEffect::Created);
                let as_whom = created.map_or_else(String::new, |created| format!(" as {created}"));
                (agents.as_str(), format!("{who} {agents}s{to}{as_whom}"))
            }
            Concerned::WithFlavours | Concerned::WithSleep => accepted,
        }
    }
}

/// Counts that are not zero, each with its name.
fn counted(counts: &[(u64, &str)]) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// The description of a part that only newer versions know.
fn unknown(what: &str, name: &str) -> String {
    format!("unknown {what} `{name}` (from a newer version)")
}

fn operation_words(operation: &Word<Operation>, target: Option<&str>) -> String {
    let Some(target) = target else { return operation.to_string() };
    match operation {
        Word::Known(Operation(OperationName::Deploy)) => format!("deploy on {target}"),
        Word::Known(Operation(name)) if name.of_agent().is_some_and(|agents| !agents.has_target()) => {
            operation.to_string()
        }
        Word::Known(_) | Word::Unknown(_) => match target {
            "self" => format!("{operation} on its own node"),
            target => format!("{operation} to {target}"),
        },
    }
}
