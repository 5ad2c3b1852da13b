//! The data of a running colony for a dashboard: the addresses of its nodes, and data that only the testbed has.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use mario_live::LiveError;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::clients::Tally;
use crate::plan::Plan;
use crate::summary::{Percentiles, late_share};

/// The percentiles and the late share of an application cover at most this many of its latest response times. Only the
/// first million response times are kept, so the values no longer change after these.
const RECENT: usize = 500;

/// The data of a colony for a dashboard.
#[derive(Debug)]
pub struct DashboardFeed {
    operators: Vec<watch::Sender<String>>,
    picture: watch::Sender<Value>,
}

impl DashboardFeed {
    /// Creates the feed of a colony whose nodes do not run yet.
    pub fn new(plan: &Plan) -> DashboardFeed {
        let operators = plan.nodes.iter().map(|_| watch::channel(String::new()).0).collect();
        DashboardFeed { operators, picture: watch::channel(Value::Null).0 }
    }

    /// For each node, its operator address, which changes when its daemon is restarted; empty before the first start.
    pub fn operators(&self) -> Vec<watch::Receiver<String>> {
        self.operators.iter().map(watch::Sender::subscribe).collect()
    }

    /// Data that only the testbed has, such as tiers, users, response times measured at clients, and injected faults. A
    /// JSON object with the keys of the dashboard's `extra`; null before the first update.
    pub fn picture(&self) -> watch::Receiver<Value> {
        self.picture.subscribe()
    }

    /// Announces that the run is over, and how it ended. Call it before the first daemon is stopped: a dashboard then does
    /// not report the stopped daemons as faults.
    pub(crate) fn end(&self, outcome: &str) {
        self.picture.send_modify(|picture| picture["outcome"] = outcome.into());
    }

    pub(crate) fn set_operators(&self, node: usize, address: SocketAddr) {
        self.operators[node].send_replace(address.to_string());
    }

    /// Publishes the current state, if a receiver exists. `at` is the time since the clients started, `before` has the
    /// number of requests of each application at the previous call, and `faults` are those that have not ended.
    pub(crate) fn show(&self, plan: &Plan, at: Duration, tallies: &[Tally], before: &[u64], faults: &[String]) {
        if self.picture.is_closed() {
            return;
        }
        let units = plan.units(at);
        let mut users: BTreeMap<usize, u64> = BTreeMap::new();
        for place in plan.users.iter().filter_map(|user| user.place(units)) {
            *users.entry(place).or_default() += 1;
        }
        let nodes = plan.nodes.iter().enumerate().map(|(place, node)| {
            let mut known = json!({ "tier": node.tier });
            if node.is_access_point {
                known["users"] = users.get(&place).copied().unwrap_or(0).into();
            }
            (node.id.clone(), known)
        });
        let applications = plan.applications.iter().zip(tallies).zip(before).map(|((application, tally), before)| {
            let times = tally.times_us[tally.times_us.len().saturating_sub(RECENT)..].to_vec();
            let mut known = json!({
                "requests_per_s": (tally.requests - before) as f64 / crate::colony::TICK.as_secs_f64(),
                "failed": tally.failed(),
            });
            known["late_share"] = late_share(&times, application.max_latency).into();
            if let Some(times) = Percentiles::of(times) {
                (known["p50_ms"], known["p95_ms"], known["p99_ms"]) =
                    (times.p50.into(), times.p95.into(), times.p99.into());
            }
            (application.id.clone(), known)
        });
        self.picture.send_replace(json!({
            "title": format!("Live run of scenario {}", plan.name),
            "facts": {
                "speed": format!("{} time units a second", plan.speed),
                "time": format!("{units:.0} of {:.0} time units", plan.units(plan.duration)),
            },
            "nodes": nodes.collect::<serde_json::Map<_, _>>(),
            "applications": applications.collect::<serde_json::Map<_, _>>(),
            "faults": faults,
        }));
    }
}

/// Describes how a run ended, for [`DashboardFeed::end`]: its tallies and its duration, nothing if it was stopped before
/// clients sent requests, or its failure.
pub(crate) fn outcome_words(outcome: Result<Option<(&[Tally], Duration)>, &LiveError>, directory: &Path) -> String {
    let (tallies, duration) = match outcome {
        Ok(Some(ended)) => ended,
        Ok(None) => return "It was stopped before clients sent requests.".to_owned(),
        Err(fault) => return format!("It failed: {}", fault.line()),
    };
    let requests: u64 = tallies.iter().map(|tally| tally.requests).sum();
    let failed: u64 = tallies.iter().map(Tally::failed).sum();
    let times = tallies.iter().flat_map(|tally| tally.times_us.iter().copied()).collect();
    let times = Percentiles::of(times).map_or_else(String::new, |times| {
        format!(" Response times: p50 {:.1} ms, p99 {:.1} ms.", times.p50, times.p99)
    });
    format!(
        "It ran for {:.0} s: {requests} client requests, {failed} failed.{times} The results are in {}.",
        duration.as_secs_f64(),
        directory.display()
    )
}

#[cfg(test)]
mod tests {
    use mario_scenario::{Document, NoFiles};

    use super::*;

    #[test]
    fn the_feed_has_users_by_node_and_recent_response_times() {
        let mut document = Document::preset("paper").expect("it ships");
        document.set(&["topology.size=2".to_owned()]);
        let scenario = document.resolve(&mut NoFiles).expect("valid").scenario;
        let plan = Plan::new(&scenario, 200.0).expect("it can be live");
        let feed = DashboardFeed::new(&plan);
        let seen = feed.picture();
        let mut tallies = vec![Tally::default(); plan.applications.len()];
        tallies[0] =
            Tally { requests: 30, answered: 20, times_us: vec![4_000; 20], sum_us: 80_000, ..Tally::default() };
        let before = vec![10; 1].into_iter().chain(vec![0; 5]).collect::<Vec<u64>>();
        feed.show(&plan, Duration::ZERO, &tallies, &before, &["a link is cut".to_owned()]);
        let picture = seen.borrow().clone();
        let users: u64 = plan.nodes.iter().filter_map(|node| picture["nodes"][&node.id]["users"].as_u64()).sum();
        assert_eq!(users, 50, "one of 51 comes later");
        assert_eq!(picture["nodes"][&plan.nodes[0].id], json!({ "tier": 0 }));
        let first = &picture["applications"][&plan.applications[0].id];
        assert_eq!((first["requests_per_s"].as_f64(), first["p95_ms"].as_f64()), (Some(40.0), Some(4.0)));
        assert_eq!(first["late_share"].as_f64(), Some(0.0), "there and back within 20 ms: {first}");
        assert_eq!(picture["applications"][&plan.applications[1].id]["p95_ms"], Value::Null);
        assert_eq!(picture["applications"][&plan.applications[1].id]["late_share"], Value::Null);
        assert_eq!(picture["faults"], json!(["a link is cut"]));
        assert_eq!(picture["outcome"], Value::Null, "it still runs");
        feed.end(&outcome_words(Ok(Some((tallies.as_slice(), Duration::from_secs(2)))), Path::new("runs/live-1")));
        let outcome = "It ran for 2 s: 30 client requests, 0 failed. Response times: p50 4.0 ms, p99 4.0 ms. The results are in runs/live-1.";
        assert_eq!(seen.borrow()["outcome"], outcome);
        assert_eq!(seen.borrow()["faults"], json!(["a link is cut"]), "the rest stays as it was");
    }
}
