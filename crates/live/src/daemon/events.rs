//! Events on a node, for its log and for operators.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mario_colony::{TraceEvent, WorkloadId};
use mario_domain::{ApplicationId, InstanceId, NodeId, Verdict};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::repeats::Repeats;
use crate::admission::LimitReport;

/// How many of the latest events are kept for later readers.
const KEPT: usize = 1_000;

/// An event on a node.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum NodeEvent {
    /// The daemon has started.
    Started { node: NodeId, journal: String, records: u64 },
    /// The node has restarted, and no neighbour has confirmed its journal yet.
    Unconfirmed,
    /// Processes of workloads of a former journal in the same data directory were ended.
    OrphansEnded { processes: usize },
    /// The limit of open files, before and after the daemon raised it (`None` for no limit), and how many clients it
    /// serves at once. `is_enough` is false if the limit is too low for as many clients as are configured.
    OpenFiles {
        limit: Option<u64>,
        limit_before: Option<u64>,
        clients_max: usize,
        clients_per_address_max: usize,
        is_enough: bool,
    },
    /// What the limits of a listener did since the last event of this kind.
    ConnectionsLimited(LimitReport),
    /// A signal that does not end the daemon.
    SignalIgnored { signal: &'static str, message: &'static str },
    /// A certificate has expired, or expires soon.
    CertificateExpires { certificate: &'static str, expires_in_s: i64, message: String },
    /// The daemon shuts down; workloads keep running.
    Stopping,
    /// An error.
    Fault { message: String },
    /// The link to a neighbour is up.
    LinkUp { neighbour: NodeId },
    /// The link to a neighbour is down.
    LinkDown { neighbour: NodeId },
    /// A connection to or from a neighbour ended, or failed.
    LinkFailed { neighbour: NodeId, cause: String },
    /// A connection to this node's address for neighbours was rejected.
    Refused { address: String, cause: String },
    /// A copy of an application changed its state.
    Copy { workload: String, instance: InstanceId, state: String },
    /// An application claims a name that another one holds. The holder keeps it.
    NameClaimedTwice { name: String, holder: ApplicationId, claimed_by: ApplicationId },
    /// A neighbour announced names of an application without a valid proof.
    NamesRefused { neighbour: NodeId, cause: String },
    /// The journal cannot be written: nothing new is reserved.
    JournalFails { cause: String },
    /// The journal can be written again.
    JournalWorks,
    /// The node's part of the trace cannot be written. Nothing else is affected.
    TraceFails { cause: String },
    /// The trace can be written again.
    TraceWorks,
    /// A shadow policy proposed something other than the policy in use.
    ShadowDiffers { instance: InstanceId, policy: String, shadow: String },
    /// A report of the node.
    Report { report: Value },
}

/// An event with its number and its time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Stamped {
    /// The sequence number, from 1.
    pub(crate) number: u64,
    /// Milliseconds since 1970.
    pub(crate) time_ms: u64,
    #[serde(flatten)]
    pub(crate) event: NodeEvent,
    /// For an event that repeats: how many were not published since the last one, including this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repeated: Option<u64>,
}

/// The sink of events. A clone is a handle to the same sink.
#[derive(Clone)]
pub(crate) struct Events {
    kept: Arc<Mutex<Kept>>,
    news: broadcast::Sender<Arc<Stamped>>,
}

struct Kept {
    next: u64,
    events: VecDeque<Arc<Stamped>>,
    repeats: Repeats,
}

impl Events {
    pub(crate) fn new() -> Events {
        let kept = Kept { next: 1, events: VecDeque::new(), repeats: Repeats::default() };
        Events { kept: Arc::new(Mutex::new(kept)), news: broadcast::channel(256).0 }
    }

    /// Keeps an event for later readers, logs it to standard error, and sends it to all subscribers. An event that
    /// repeats is only counted, see [`Repeats`].
    pub(crate) fn publish(&self, event: NodeEvent) {
        if self.kept().repeats.admit(&event, Instant::now()) {
            self.write(event, None);
        }
    }

    /// Publishes the events that were counted and whose intervals have ended.
    pub(crate) fn publish_repeated(&self) {
        let due = self.kept().repeats.due(Instant::now());
        for (event, repeated) in due {
            self.write(event, Some(repeated));
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, event: NodeEvent, repeated: Option<u64>) {
        let time_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let mut kept = self.kept();
        let stamped = Arc::new(Stamped { number: kept.next, time_ms, event, repeated });
        kept.next += 1;
        if kept.events.len() == KEPT {
            kept.events.pop_front();
        }
        kept.events.push_back(Arc::clone(&stamped));
        drop(kept);
        if let Ok(line) = serde_json::to_string(&*stamped) {
            // A node keeps running if its log is closed.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
        let _ = self.news.send(stamped);
    }

    /// The kept events with numbers above this one, and a receiver for later events. An event that is being published
    /// may be among both.
    pub(crate) fn since(&self, number: u64) -> (Vec<Arc<Stamped>>, broadcast::Receiver<Arc<Stamped>>) {
        let kept = self.kept();
        let news = self.news.subscribe();
        (kept.events.iter().filter(|event| event.number > number).cloned().collect(), news)
    }
}

/// A report of the node as JSON, for operators; `null` for reports that are recorded only in the trace.
pub(crate) fn report_json(report: &TraceEvent) -> Value {
    match report {
        TraceEvent::Evaluated { instance, proposal, has_failed, .. } => json!({
            "kind": "evaluated",
            "instance": instance,
            "operation": proposal.as_ref().map(|proposal| proposal.operation.as_str()),
            "target": proposal.as_ref().map(|proposal| proposal.target.to_string()),
            "has_failed": has_failed,
        }),
        TraceEvent::Judged { request, verdict, created } => {
            let (is_accepted, reason) = match verdict {
                Verdict::Accepted => (true, None),
                Verdict::Inhibited(inhibition) => (false, Some(inhibition.to_string())),
            };
            let (rule, node) = match verdict {
                Verdict::Inhibited(inhibition) => (Some(inhibition.rule.as_str()), Some(&inhibition.node)),
                Verdict::Accepted => (None, None),
            };
            json!({
                "kind": "judged",
                "request": request,
                "is_accepted": is_accepted,
                "inhibited_by": node,
                "rule": rule,
                "reason": reason,
                "created": created,
            })
        }
        TraceEvent::Arrived { instance, epoch, from, .. } => {
            json!({ "kind": "arrived", "instance": instance, "epoch": epoch.0, "from": from })
        }
        TraceEvent::Updated { instance, from, to, refused } => json!({
            "kind": "updated",
            "instance": instance,
            "from": from,
            "to": to,
            "is_accepted": refused.is_none(),
            "reason": refused.as_ref().map(ToString::to_string),
        }),
        TraceEvent::Undeployed(instance) => json!({ "kind": "undeployed", "instance": instance }),
        TraceEvent::LivesOn { instance, node } => json!({ "kind": "lives-on", "instance": instance, "node": node }),
        TraceEvent::AcceptanceFailed { request, failure } => {
            json!({ "kind": "acceptance-failed", "request": request, "cause": failure.0.cause })
        }
        TraceEvent::Evicted { instance, reason, is_pinned } => {
            json!({ "kind": "evicted", "instance": instance, "reason": reason, "pinned": is_pinned })
        }
        TraceEvent::Woken { instance, verdict } => {
            let reason = match verdict {
                Verdict::Accepted => None,
                Verdict::Inhibited(inhibition) => Some(inhibition.to_string()),
            };
            json!({ "kind": "woken", "instance": instance, "is_accepted": reason.is_none(), "reason": reason })
        }
        TraceEvent::Shrunk { instance, reason, .. } => {
            json!({ "kind": "shrunk", "instance": instance, "reason": reason })
        }
        TraceEvent::Announced { instance, evaluations, reason } => {
            json!({ "kind": "leave", "instance": instance, "evaluations": evaluations, "reason": reason })
        }
        TraceEvent::InitiativeFailed { failure } => {
            json!({ "kind": "initiative-failed", "cause": failure.0.cause })
        }
        TraceEvent::RefusedPeer(node) => json!({ "kind": "refused-peer", "node": node }),
        TraceEvent::Confirmed { by } => json!({ "kind": "confirmed", "by": by }),
        TraceEvent::Outdated(outdated) => {
            json!({ "kind": "outdated", "by": outdated.by, "cause": outdated.to_string() })
        }
        TraceEvent::Neighbours { .. }
        | TraceEvent::Availability(_)
        | TraceEvent::Preparing { .. }
        | TraceEvent::Undeploying(_)
        | TraceEvent::Aborted { .. }
        | TraceEvent::Reserved { .. }
        | TraceEvent::Released { .. }
        | TraceEvent::Freed(_) => Value::Null,
    }
}

/// The id of a copy as text: `BOOT.COUNTER`.
pub(crate) fn workload_text(workload: WorkloadId) -> String {
    format!("{}.{}", workload.boot, workload.counter)
}
