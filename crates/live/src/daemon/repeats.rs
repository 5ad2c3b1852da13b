//! Summarises repeated events, so that no fault and no peer can fill the log: the first ones are published at once, and
//! then one for each minute, with their number.

#![deny(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mario_domain::OperationName;

use crate::api::{NodeEvent, NodeReport, Operation, Report, Requester};

/// How long repetitions of an event are counted before one of them is published.
const INTERVAL: Duration = Duration::from_mins(1);

/// The maximum number of different events that are counted. Beyond that, all events of a kind count as the same.
const EVENTS_MAX: usize = 256;

/// The events of the last [`INTERVAL`] that may repeat.
#[derive(Default)]
pub(crate) struct Repeats {
    known: BTreeMap<String, Repeat>,
}

struct Repeat {
    since: Instant,
    published: u32,
    /// How many were not published, and the last of them.
    counted: u64,
    last: NodeEvent,
}

impl Repeats {
    /// Counts an event. Returns whether it is to be published now.
    pub(crate) fn admit(&mut self, event: &NodeEvent, now: Instant) -> bool {
        let Some((kind, subject, burst)) = kind_of(event) else { return true };
        let mut key = format!("{kind} {subject}");
        if self.known.len() >= EVENTS_MAX && !self.known.contains_key(&key) {
            key = kind.to_owned();
        }
        let repeat = self.known.entry(key).or_insert_with(|| Repeat {
            since: now,
            published: 0,
            counted: 0,
            last: event.clone(),
        });
        if repeat.published < burst {
            repeat.published += 1;
            return true;
        }
        repeat.counted += 1;
        repeat.last = event.clone();
        false
    }

    /// Returns the events that were repeated and whose intervals have ended, each with the number of repetitions.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<(NodeEvent, u64)> {
        let mut due = Vec::new();
        self.known.retain(|_, repeat| {
            if now.duration_since(repeat.since) < INTERVAL {
                return true;
            }
            if repeat.counted == 0 {
                return false;
            }
            due.push((repeat.last.clone(), std::mem::take(&mut repeat.counted)));
            repeat.since = now;
            true
        });
        due
    }
}

/// For an event that may repeat without bound: its kind, what makes it different from others of its kind, and how many
/// are published before they are counted. `None` for events that the work of the node bounds.
fn kind_of(event: &NodeEvent) -> Option<(&'static str, String, u32)> {
    match event {
        NodeEvent::Refused { address, cause } => Some(("refused", format!("{address} {}", without_numbers(cause)), 1)),
        NodeEvent::LinkFailed { neighbour, cause } => {
            Some(("link-failed", format!("{neighbour} {}", without_numbers(cause)), 3))
        }
        NodeEvent::NamesRefused { neighbour, cause } => {
            Some(("names-refused", format!("{neighbour} {}", without_numbers(cause)), 1))
        }
        // Links that go up and down now and then are reported each time.
        NodeEvent::LinkUp { neighbour } => Some(("link-up", neighbour.to_string(), 5)),
        NodeEvent::LinkDown { neighbour } => Some(("link-down", neighbour.to_string(), 5)),
        NodeEvent::Fault { message } => Some(("fault", message.clone(), 3)),
        NodeEvent::Report { report: Report::Known(report) } => kind_of_report(report),
        NodeEvent::Started { .. }
        | NodeEvent::Unconfirmed
        | NodeEvent::OrphansEnded { .. }
        | NodeEvent::OpenFiles { .. }
        | NodeEvent::ConnectionsLimited { .. }
        | NodeEvent::SignalIgnored { .. }
        | NodeEvent::CertificateExpires { .. }
        | NodeEvent::Stopping
        | NodeEvent::Copy { .. }
        | NodeEvent::NameClaimedTwice { .. }
        | NodeEvent::JournalFails { .. }
        | NodeEvent::JournalWorks
        | NodeEvent::TraceFails { .. }
        | NodeEvent::TraceWorks
        | NodeEvent::ShadowDiffers { .. }
        | NodeEvent::Report { .. } => None,
    }
}

/// As [`kind_of`]: without clients, the policy of an anchor may propose to undeploy it at each evaluation, and its
/// manager inhibits that each time. An undeploy that is not inhibited happens once.
fn kind_of_report(report: &NodeReport) -> Option<(&'static str, String, u32)> {
    if let NodeReport::Evaluated { instance: Some(instance), operation: Some(operation), .. } = report
        && operation.is(&Operation(OperationName::Undeploy))
    {
        return Some(("proposed-undeploy", instance.to_string(), 1));
    }
    if let NodeReport::Judged { request, .. } = report
        && let Requester::Agent { instance, .. } = &request.requester
        && report.keeps_an_anchor()
    {
        return Some(("anchor-kept", instance.to_string(), 1));
    }
    None
}

/// Durations and ports differ from one event to the next.
fn without_numbers(text: &str) -> String {
    text.chars().filter(|character| !character.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str, cause: &str) -> NodeEvent {
        NodeEvent::Refused { address: address.to_owned(), cause: cause.to_owned() }
    }

    #[test]
    fn a_flood_of_one_event_is_one_line_and_then_one_with_a_count_for_each_minute() {
        let (mut repeats, begin) = (Repeats::default(), Instant::now());
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let admitted = (0..1_000).filter(|_| repeats.admit(&refused("10.0.0.9", "after 31 ms"), begin)).count();
        assert_eq!(admitted, 1);
        assert!(!repeats.admit(&refused("10.0.0.9", "after 77 ms"), at(1)), "only the numbers differ");
        assert!(repeats.admit(&refused("10.0.0.8", "after 31 ms"), at(1)), "another address");
        assert!(repeats.due(at(59)).is_empty());
        let due = repeats.due(at(60));
        assert!(matches!(&due[..], [(NodeEvent::Refused { cause, .. }, 1_000)] if cause == "after 77 ms"), "{due:?}");
        // While it continues, only its number is published; after a minute without it, it is new again.
        assert!(!repeats.admit(&refused("10.0.0.9", "after 5 ms"), at(61)));
        assert_eq!(repeats.due(at(120)).len(), 1);
        assert!(repeats.due(at(180)).is_empty());
        assert!(repeats.admit(&refused("10.0.0.9", "after 5 ms"), at(181)));
    }

    #[test]
    fn links_that_change_now_and_then_and_other_events_are_reported_each_time() {
        let (mut repeats, now) = (Repeats::default(), Instant::now());
        let neighbour = mario_domain::NodeId::name("b").expect("a name");
        let up = NodeEvent::LinkUp { neighbour };
        assert_eq!((0..100).filter(|_| repeats.admit(&up, now)).count(), 5);
        assert_eq!((0..100).filter(|_| repeats.admit(&NodeEvent::JournalWorks, now)).count(), 100);
    }

    #[test]
    fn an_idle_anchor_is_reported_once_and_then_counted() {
        let event = |kind: &str, rule: &str| -> NodeEvent {
            let report = serde_json::json!({
                "event": "report", "report": {
                    "kind": kind, "instance": "i1", "operation": "undeploy", "target": "self", "is_accepted": false,
                    "request": {
                        "requester": { "agent": 1, "instance": "i1", "node": "a" }, "application": "shop",
                        "operation": "undeploy",
                    },
                    "inhibited_by": "a", "rule": rule, "reason": "no",
                },
            });
            serde_json::from_value(report).expect("an event")
        };
        let (mut repeats, begin) = (Repeats::default(), Instant::now());
        let mut admitted =
            |kind: &str, rule: &str| (0..12).filter(|_| repeats.admit(&event(kind, rule), begin)).count();
        assert_eq!((admitted("evaluated", ""), admitted("judged", "anchor")), (1, 1));
        assert_eq!(admitted("judged", "capacity"), 12, "verdicts of other rules are reported each time");
        let due = repeats.due(begin + INTERVAL);
        assert_eq!(due.iter().map(|(_, repeated)| *repeated).collect::<Vec<_>>(), [11, 11]);
    }

    #[test]
    fn the_number_of_different_events_is_bounded() {
        let (mut repeats, now) = (Repeats::default(), Instant::now());
        let admitted =
            (0..10_000_u32).filter(|number| repeats.admit(&refused(&format!("10.{number}"), "no"), now)).count();
        assert!(admitted <= EVENTS_MAX + 1 && repeats.known.len() <= EVENTS_MAX + 1, "{admitted}");
    }
}
