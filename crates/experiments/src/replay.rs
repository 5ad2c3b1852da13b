//! What happened in a recorded run from a given time on, and in a run that replayed it under another policy.

use std::fmt::Write as _;
use std::io::BufRead;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use mario_domain::{Concerned, OperationCounts};
use mario_trace::reader::{ReadError, TraceReader, TraceRecord};
use mario_trace::{Actor, Change, State};
use serde::Serialize;
use serde_json::{Value, json};

/// Counts of what happened in a part of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct CountsSince {
    /// How long the part is, in milliseconds.
    #[serde(rename = "time")]
    pub duration: f64,
    /// Evaluations of agents.
    pub evaluations: u64,
    /// Accepted operations.
    #[serde(flatten)]
    pub accepted: OperationCounts,
    /// Instances that client requests woke.
    pub woken: u64,
    /// Inhibited operations.
    pub inhibited: u64,
    /// Client requests that were served.
    pub served: u64,
    /// Client requests that were lost.
    pub lost: u64,
    /// The sum of the response times of the served requests, in milliseconds.
    #[serde(skip)]
    pub response_sum: f64,
    /// Whether live nodes recorded the trace, and real clients measured the requests.
    #[serde(skip)]
    pub is_live: bool,
}

impl CountsSince {
    /// Counts what a trace records in `part`, in milliseconds.
    pub fn read<R: BufRead>(mut reader: TraceReader<R>, part: Range<f64>) -> Result<CountsSince, ReadError> {
        let header = reader.header();
        let mut counts = CountsSince { is_live: header.live.is_some(), ..CountsSince::default() };
        let mut state = State::new(Arc::clone(header));
        let mut until = 0.0;
        while let Some(record) = reader.next_record()? {
            if record.time() > part.end {
                break;
            }
            until = record.time();
            let is_counted = until >= part.start;
            state.apply(&record, &mut |_, change| {
                if is_counted {
                    counts.apply(change);
                }
            });
            if is_counted {
                counts.count(&record);
            }
        }
        counts.duration = until - part.start;
        Ok(counts)
    }

    fn apply(&mut self, change: Change<'_>) {
        match change {
            Change::Accepted { proposal, .. } => self.accepted[proposal.operation] += 1,
            Change::Inhibited { .. } => self.inhibited += 1,
            Change::Woke { by: Actor::Client, .. } => self.woken += 1,
            Change::Woke { by: Actor::Agent | Actor::Owner(_) | Actor::LiveNode, .. }
            | Change::Appeared { .. }
            | Change::Moved { .. }
            | Change::Left { .. }
            | Change::Adapted { .. }
            | Change::Slept { .. }
            | Change::Anchored { .. }
            | Change::EvictionAnnounced { .. }
            | Change::Updated { .. }
            | Change::PolicyChanged { .. }
            | Change::Nop { .. }
            | Change::DeployInhibited { .. }
            | Change::WakeInhibited { .. }
            | Change::NodeDown { .. }
            | Change::NodeUp { .. }
            | Change::NodeLeaving { .. }
            | Change::Draining { .. }
            | Change::LinkDown { .. }
            | Change::LinkUp { .. } => {}
        }
    }

    fn count(&mut self, record: &TraceRecord) {
        if let TraceRecord::Evaluation(_) = record {
            self.evaluations += 1;
        }
        if let TraceRecord::Responses(responses) = record {
            self.served += responses.served;
            self.lost += responses.lost;
            self.response_sum += responses.sum;
        }
    }

    /// The counts, and the mean response time.
    pub fn json(&self) -> Value {
        let mut counts = json!(self);
        counts["mean_response"] = json!(self.mean_response());
        counts
    }

    /// The mean response time in milliseconds; `None` if no request was served.
    pub fn mean_response(&self) -> Option<f64> {
        (self.served > 0).then(|| self.response_sum / self.served as f64)
    }
}

/// Shows the counts of a recorded run and of the run that replayed it under another policy from time `from` on, side by
/// side.
pub fn table(from: f64, recorded: &CountsSince, replayed: &CountsSince) -> String {
    let mut text = format!("from {from} ms on\n");
    let response =
        |counts: &CountsSince| counts.mean_response().map_or_else(|| "n/a".to_owned(), |mean| format!("{mean:.2}"));
    let mut row = |title: &str, recorded: String, replayed: String| {
        let _ = writeln!(text, "{title:<22} {recorded:>12} {replayed:>12}");
    };
    row("", "recorded".to_owned(), "replayed".to_owned());
    row("time, ms", format!("{:.0}", recorded.duration), format!("{:.0}", replayed.duration));
    let accepted = |concerned| {
        let pairs = recorded.accepted.of(concerned).zip(replayed.accepted.of(concerned));
        pairs.map(|((operation, recorded), (_, replayed))| (operation.as_str(), recorded, replayed))
    };
    let counts = iter::once(("evaluations", recorded.evaluations, replayed.evaluations))
        .chain(accepted(Concerned::Every))
        .chain(accepted(Concerned::WithFlavours))
        .chain([("inhibited", recorded.inhibited, replayed.inhibited)]);
    let of_sleep = accepted(Concerned::WithSleep)
        .chain([("woken by requests", recorded.woken, replayed.woken)])
        .filter(|(_, recorded, replayed)| recorded + replayed > 0);
    for (title, recorded, replayed) in counts.chain(of_sleep) {
        row(title, recorded.to_string(), replayed.to_string());
    }
    if recorded.is_live {
        text += "client requests and response times are not compared: the clients of the recorded run measured theirs, and \
                 those of the replayed run are simulated\n";
        return text;
    }
    row("client requests served", recorded.served.to_string(), replayed.served.to_string());
    row("client requests lost", recorded.lost.to_string(), replayed.lost.to_string());
    row("mean response, ms", response(recorded), response(replayed));
    text
}

#[cfg(test)]
mod tests {
    use super::{CountsSince, table};

    #[test]
    fn measured_requests_of_a_live_run_are_not_compared_with_simulated_ones() {
        let replayed = CountsSince { served: 12, response_sum: 33.0, ..CountsSince::default() };
        let simulated = CountsSince { served: 10, response_sum: 20.0, ..CountsSince::default() };
        let live = CountsSince { is_live: true, ..CountsSince { served: 10, ..CountsSince::default() } };
        assert!(table(0.0, &simulated, &replayed).contains("mean response, ms              2.00         2.75"));
        let text = table(0.0, &live, &replayed);
        assert!(!text.contains("mean response") && text.contains("are not compared"), "{text}");
    }
}
