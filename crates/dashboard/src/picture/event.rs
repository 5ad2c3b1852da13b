//! Events of nodes, with descriptions for users and the data that the page draws.

use serde::Serialize;
use serde_json::Value;

use super::{clipped, text};

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

impl ColonyEvent {
    /// Interprets an event of a node.
    pub(super) fn read(event: &Value, node: &str, application_of: impl Fn(&str) -> Option<String>) -> ColonyEvent {
        let mut colony_event = ColonyEvent {
            number: 0,
            time_ms: event["time_ms"].as_u64().unwrap_or(0),
            node: node.to_owned(),
            kind: "node",
            text: String::new(),
            instance: text(&event["instance"]),
            application: None,
            from: None,
            to: None,
            is_fresh: false,
        };
        let word = |key: &str| text(&event[key]).unwrap_or_default();
        let (kind, words) = match event["event"].as_str().unwrap_or_default() {
            "report" => {
                let report = &event["report"];
                colony_event.instance = text(&report["instance"]);
                colony_event.report(report)
            }
            "started" => ("node", "the daemon started".to_owned()),
            "stopping" => ("node", "the daemon is stopping".to_owned()),
            "fault" => ("fault", word("message")),
            "link-up" => ("link", format!("the link to {} is up", word("neighbour"))),
            "link-down" => ("link", format!("the link to {} is down", word("neighbour"))),
            "link-failed" => ("link", format!("a connection with {} ended: {}", word("neighbour"), word("cause"))),
            "refused" => ("fault", format!("refused a connection from {}: {}", word("address"), word("cause"))),
            "copy" => ("copy", format!("the copy {} of {} is {}", word("workload"), word("instance"), word("state"))),
            "shadow-differs" => {
                let words =
                    format!("{} proposes {}; the shadow proposes {}", word("instance"), word("policy"), word("shadow"));
                ("proposed", words)
            }
            "journal-fails" => ("journal", format!("the journal cannot be written: {}", word("cause"))),
            "trace-fails" => ("journal", format!("the trace cannot be written: {}", word("cause"))),
            "trace-works" => ("journal", "the trace can be written again".to_owned()),
            "journal-works" => ("journal", "the journal can be written again".to_owned()),
            other => ("node", other.to_owned()),
        };
        colony_event.kind = kind;
        colony_event.text = clipped(&words);
        if colony_event.application.is_none() {
            colony_event.application = colony_event.instance.as_deref().and_then(application_of);
        }
        colony_event
    }

    fn report(&mut self, report: &Value) -> (&'static str, String) {
        let instance = self.instance.clone().unwrap_or_default();
        match report["kind"].as_str().unwrap_or_default() {
            "evaluated" if report["has_failed"] == true => {
                ("policy", format!("the policy of {instance} has no valid answer"))
            }
            "evaluated" => {
                let target = text(&report["target"]);
                let asked = operation_words(report["operation"].as_str().unwrap_or("nothing"), target.as_deref());
                ("proposed", format!("{instance} asks to {asked}"))
            }
            "judged" => self.judged(report),
            "arrived" => {
                (self.from, self.to) = (text(&report["from"]), Some(self.node.clone()));
                let from = self.from.clone().unwrap_or_default();
                ("arrived", format!("{instance} arrived from {from}"))
            }
            "undeployed" => ("copy", format!("{instance} was undeployed")),
            "lives-on" => ("copy", format!("{instance} continues on {}", text(&report["node"]).unwrap_or_default())),
            "updated" => {
                let (from, to) = (text(&report["from"]).unwrap_or_default(), text(&report["to"]).unwrap_or_default());
                match text(&report["reason"]) {
                    None => ("copy", format!("{instance} runs version {to} instead of {from}")),
                    Some(reason) => ("inhibited", format!("{instance} stays at version {from}: {reason}")),
                }
            }
            "leave" => {
                let (left, reason) = (&report["evaluations"], text(&report["reason"]).unwrap_or_default());
                (
                    "inhibited",
                    format!("the owner of {} wants {instance} to leave within {left} evaluations: {reason}", self.node),
                )
            }
            "evicted" => {
                let reason = text(&report["reason"]).unwrap_or_default();
                ("undeploy", format!("the owner of {} evicts {instance}: {reason}", self.node))
            }
            "shrunk" => {
                let reason = text(&report["reason"]).unwrap_or_default();
                ("copy", format!("the owner of {} shrinks {instance}: {reason}", self.node))
            }
            "initiative-failed" => {
                let cause = text(&report["cause"]).unwrap_or_default();
                ("policy", format!("the policy of the owner of {} has no answer: {cause}", self.node))
            }
            "woken" => match text(&report["reason"]) {
                None => ("copy", format!("a client request wakes {instance}")),
                Some(reason) => ("inhibited", format!("a client request does not wake {instance}: {reason}")),
            },
            "acceptance-failed" => {
                let cause = text(&report["cause"]).unwrap_or_default();
                ("policy", format!("the acceptance policy of {} has no answer: {cause}", self.node))
            }
            "refused-peer" => {
                let peer = text(&report["node"]).unwrap_or_default();
                ("fault", format!("{peer} is rejected: its journal is another one than before"))
            }
            other => ("node", other.to_owned()),
        }
    }

    fn judged(&mut self, report: &Value) -> (&'static str, String) {
        let request = &report["request"];
        let requester = &request["requester"];
        let operation = request["operation"].as_str().unwrap_or_default();
        self.instance = text(&requester["instance"]);
        self.application = text(&request["application"]);
        self.from = text(&requester["node"]);
        self.to = match text(&request["target"]) {
            Some(target) if target == "self" => self.from.clone(),
            other => other,
        };
        let who = self.instance.clone().or_else(|| self.application.clone()).unwrap_or_default();
        let asked = operation_words(operation, self.to.as_deref());
        if report["is_accepted"] != true {
            let reason = text(&report["reason"]).unwrap_or_default();
            return ("inhibited", format!("{who}: {asked} inhibited: {reason}"));
        }
        let created = text(&report["created"]);
        match operation {
            "migrate" => ("migrate", format!("{who} migrates to {}", self.to.clone().unwrap_or_default())),
            "replicate" => {
                let as_whom = created.map_or_else(String::new, |created| format!(" as {created}"));
                ("replicate", format!("{who} replicates to {}{as_whom}", self.to.clone().unwrap_or_default()))
            }
            "undeploy" => ("undeploy", format!("{who} undeploys")),
            "deploy" => {
                let what = created.clone().unwrap_or_default();
                self.instance = created;
                ("deploy", format!("{who} is deployed on {} as {what}", self.to.clone().unwrap_or_default()))
            }
            _ => ("node", format!("{who}: {asked} accepted")),
        }
    }
}

fn operation_words(operation: &str, target: Option<&str>) -> String {
    match (operation, target) {
        ("undeploy" | "sleep" | "wake", _) | (_, None) => operation.to_owned(),
        ("deploy", Some(target)) => format!("deploy on {target}"),
        (_, Some("self")) => format!("{operation} on its own node"),
        (_, Some(target)) => format!("{operation} to {target}"),
    }
}
