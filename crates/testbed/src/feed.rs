//! The data of a running colony for a dashboard: the addresses of its nodes, and data that only the testbed has.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use mario_live::LiveError;
use mario_live::api::{TestbedApplication, TestbedData, TestbedNode};
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
    picture: watch::Sender<TestbedData>,
}

impl DashboardFeed {
    /// Creates the feed of a colony whose nodes do not run yet.
    pub fn new(plan: &Plan) -> DashboardFeed {
        let operators = plan.nodes.iter().map(|_| watch::channel(String::new()).0).collect();
        DashboardFeed { operators, picture: watch::channel(TestbedData::default()).0 }
    }

    /// For each node, its operator address, which changes when its daemon is restarted; empty before the first start.
    pub fn operators(&self) -> Vec<watch::Receiver<String>> {
        self.operators.iter().map(watch::Sender::subscribe).collect()
    }

    /// Data that only the testbed has, such as tiers, users, response times measured at clients, and injected faults;
    /// empty before the first update.
    pub fn picture(&self) -> watch::Receiver<TestbedData> {
        self.picture.subscribe()
    }

    /// Announces that the run is over, and how it ended. Call it before the first daemon is stopped: a dashboard then does
    /// not report the stopped daemons as faults.
    pub(crate) fn end(&self, outcome: &str) {
        self.picture.send_modify(|picture| picture.outcome = Some(outcome.to_owned()));
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
            let users = node.is_access_point.then(|| users.get(&place).copied().unwrap_or(0));
            (node.id.clone(), TestbedNode { tier: Some(node.tier.into()), tier_name: None, users })
        });
        let applications = plan.applications.iter().zip(tallies).zip(before).map(|((application, tally), before)| {
            let times = tally.times_us[tally.times_us.len().saturating_sub(RECENT)..].to_vec();
            let late_share = late_share(&times, application.max_latency);
            let times = Percentiles::of(times);
            let measured = TestbedApplication {
                requests_per_s: Some((tally.requests - before) as f64 / crate::colony::TICK.as_secs_f64()),
                failed: Some(tally.failed()),
                late_share,
                p50_ms: times.map(|times| times.p50),
                p95_ms: times.map(|times| times.p95),
                p99_ms: times.map(|times| times.p99),
            };
            (application.id.clone(), measured)
        });
        let facts = [
            ("speed", format!("{} time units a second", plan.speed)),
            ("time", format!("{units:.0} of {:.0} time units", plan.units(plan.duration))),
        ];
        self.picture.send_replace(TestbedData {
            title: Some(format!("Live run of scenario {}", plan.name)),
            facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            nodes: nodes.collect(),
            applications: applications.collect(),
            faults: faults.to_vec(),
            outcome: None,
        });
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
        let users: u64 = plan.nodes.iter().filter_map(|node| picture.nodes[&node.id].users).sum();
        assert_eq!(users, 50, "one of 51 comes later");
        assert_eq!(picture.nodes[&plan.nodes[0].id], TestbedNode { tier: Some(0), ..TestbedNode::default() });
        let [first, second] = [0, 1].map(|application| &picture.applications[&plan.applications[application].id]);
        assert_eq!((first.requests_per_s, first.p95_ms), (Some(40.0), Some(4.0)));
        assert_eq!(first.late_share, Some(0.0), "there and back within 20 ms: {first:?}");
        assert_eq!((second.p95_ms, second.late_share), (None, None));
        assert_eq!(picture.faults, ["a link is cut"]);
        assert_eq!(picture.outcome, None, "it still runs");
        feed.end(&outcome_words(Ok(Some((tallies.as_slice(), Duration::from_secs(2)))), Path::new("runs/live-1")));
        let outcome = "It ran for 2 s: 30 client requests, 0 failed. Response times: p50 4.0 ms, p99 4.0 ms. The results are in runs/live-1.";
        assert_eq!(seen.borrow().outcome.as_deref(), Some(outcome));
        assert_eq!(seen.borrow().faults, ["a link is cut"], "the rest stays as it was");
    }
}
