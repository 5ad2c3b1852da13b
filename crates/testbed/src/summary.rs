//! The results of a live run: `summary.json`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use mario_domain::{ApplicationId, Concerned, OperationCounts};
use mario_live::LiveError;
use mario_live::api::{Event, Happening, JudgedRequest, NodeEvent, NodeReport, Report, Word};
use mario_live::identity::application_id;
use serde::Serialize;

use crate::clients::Tally;
use crate::directory::write;
use crate::plan::Plan;

/// The results of a live run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// The scenario.
    pub scenario: String,
    /// The seed of the scenario. Faults have their own seed.
    pub seed: u64,
    /// Nodes, each with a daemon.
    pub nodes: usize,
    /// Users who are connected to an access point at some time of the scenario.
    pub users: usize,
    /// Time units of the scenario per second.
    pub speed: f64,
    /// The time from the start of the run until every access point reached every application with users, in seconds.
    pub startup_s: f64,
    /// How long clients sent requests, in seconds.
    pub duration_s: f64,
    /// Client requests, answered or failed.
    pub requests: u64,
    /// Answered requests.
    pub answered: u64,
    /// Failed requests.
    pub failed: u64,
    /// Failed requests, by reason.
    pub failures: BTreeMap<String, u64>,
    /// Response times of the first million answered requests of each application, in milliseconds; `None` if no request
    /// was answered.
    pub response_ms: Option<Percentiles>,
    /// Accepted migrations.
    pub migrate: u64,
    /// Accepted replications.
    pub replicate: u64,
    /// Accepted undeploys that agents requested.
    pub undeploy: u64,
    /// Inhibited migrations of agents and operators, and inhibited replications and undeploys of agents.
    pub inhibited: u64,
    /// Evaluations of policies. Until [`Summary::set_traced`], only those with a proposal or without a valid answer.
    pub evaluations: u64,
    /// Evaluations without a valid answer.
    pub evaluations_failed: u64,
    /// Instances at the end. Until [`Summary::set_traced`], only those on nodes that answered.
    pub instances: usize,
    /// How often an injected fault killed a daemon.
    pub kills: u64,
    /// How often an injected fault cut a link.
    pub cuts: u64,
    /// The proportional set size of all daemons and workloads when the clients had ended, in bytes.
    pub memory_bytes: u64,
    /// The results by application.
    pub applications: Vec<ApplicationSummary>,
}

/// The results of the requests to one application.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ApplicationSummary {
    /// Its id.
    pub id: String,
    /// Client requests, answered or failed.
    pub requests: u64,
    /// Failed requests.
    pub failed: u64,
    /// Response times of the first million answered requests, in milliseconds; `None` if no request was answered.
    pub response_ms: Option<Percentiles>,
    /// The share of these response times that are longer than twice the tolerated latency; `None` if no request was
    /// answered.
    pub late_share: Option<f64>,
    /// Instances at the end. Until [`Summary::set_traced`], only those on nodes that answered.
    pub instances: usize,
}

/// The distribution of response times, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Percentiles {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Percentiles {
    /// Computes the mean, the percentiles and the maximum of times in microseconds, in any order; `None` if there are
    /// no times.
    pub fn of(mut times_us: Vec<u32>) -> Option<Percentiles> {
        times_us.sort_unstable();
        let count = times_us.len();
        let ms = |us: u32| f64::from(us) / 1_000.0;
        // The nearest-rank percentile: the smallest value that at least `share` of all values do not exceed. For
        // simulated runs, see `percentile` in `crates/experiments/src/figures/measuring.rs`.
        let rank = |share: f64| ms(times_us[((share * count as f64).ceil() as usize).clamp(1, count) - 1]);
        let sum: u64 = times_us.iter().map(|us| u64::from(*us)).sum();
        (count > 0).then(|| Percentiles {
            mean: sum as f64 / count as f64 / 1_000.0,
            p50: rank(0.50),
            p95: rank(0.95),
            p99: rank(0.99),
            max: rank(1.0),
        })
    }
}

/// A request is late if it takes longer than this multiple of the tolerated latency: the tolerated latency is one-way,
/// and a client measures the round trip.
pub(crate) const LATE: f64 = 2.0;

/// Returns the share of late response times; `None` if there are no response times.
pub(crate) fn late_share(times_us: &[u32], max_latency_ms: f64) -> Option<f64> {
    let late = times_us.iter().filter(|us| f64::from(**us) / 1_000.0 > LATE * max_latency_ms).count();
    (!times_us.is_empty()).then(|| late as f64 / times_us.len() as f64)
}

/// Operations, as counted in the logs of daemons.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Operations {
    /// Accepted migrations, replications and undeploys.
    pub accepted: OperationCounts,
    /// Inhibited migrations, replications and undeploys.
    pub inhibited: u64,
    /// Evaluations in the logs: those with a proposal, or without a valid answer.
    pub evaluations: u64,
    /// Evaluations without a valid answer.
    pub evaluations_failed: u64,
}

impl Operations {
    /// Adds the counts of a daemon's log. Lines that are no events are skipped, such as the incomplete last line of a
    /// killed daemon.
    pub fn add_log(&mut self, path: &Path) -> std::io::Result<()> {
        for line in BufReader::new(fs::File::open(path)?).split(b'\n') {
            if let Ok(Event { event: Happening::Known(NodeEvent::Report { report: Report::Known(report) }), .. }) =
                serde_json::from_slice(&line?)
            {
                self.add(&report);
            }
        }
        Ok(())
    }

    fn add(&mut self, report: &NodeReport) {
        match report {
            NodeReport::Evaluated { has_failed, .. } => {
                self.evaluations += 1;
                self.evaluations_failed += u64::from(*has_failed);
            }
            NodeReport::Judged {
                request: JudgedRequest { operation: Word::Known(operation), .. },
                is_accepted,
                ..
            } => {
                let agents = operation.0.of_agent();
                // Summaries have the columns of the paper's operations.
                let Some(operation) = agents.filter(|agents| agents.concerned() == Concerned::Every) else { return };
                if *is_accepted {
                    self.accepted[operation] += 1;
                } else {
                    self.inhibited += 1;
                }
            }
            // An operation of a newer version has no counter.
            NodeReport::Judged { request: JudgedRequest { operation: Word::Unknown(_), .. }, .. }
            | NodeReport::Arrived { .. }
            | NodeReport::Updated { .. }
            | NodeReport::Undeployed { .. }
            | NodeReport::LivesOn { .. }
            | NodeReport::AcceptanceFailed { .. }
            | NodeReport::Evicted { .. }
            | NodeReport::Woken { .. }
            | NodeReport::Shrunk { .. }
            | NodeReport::Leave { .. }
            | NodeReport::InitiativeFailed { .. }
            | NodeReport::RefusedPeer { .. }
            | NodeReport::Confirmed { .. }
            | NodeReport::Outdated { .. } => {}
        }
    }
}

/// The data from which the summary of a run is computed.
pub(crate) struct Ending<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) tallies: &'a [Tally],
    pub(crate) operations: Operations,
    /// Instances at the end, by application.
    pub(crate) instances: &'a BTreeMap<String, usize>,
    pub(crate) startup: Duration,
    pub(crate) duration: Duration,
    pub(crate) kills: u64,
    pub(crate) cuts: u64,
    pub(crate) memory_bytes: u64,
}

impl Summary {
    pub(crate) fn new(ending: &Ending<'_>) -> Summary {
        let Ending { plan, tallies, operations, instances, startup, duration, kills, cuts, memory_bytes } = ending;
        let mut failures = BTreeMap::new();
        for (failure, count) in tallies.iter().flat_map(|tally| &tally.failures) {
            *failures.entry(failure.name()).or_default() += count;
        }
        let applications = plan.applications.iter().zip(*tallies).map(|(application, tally)| ApplicationSummary {
            id: application.id.clone(),
            requests: tally.requests,
            failed: tally.failed(),
            response_ms: Percentiles::of(tally.times_us.clone()),
            late_share: late_share(&tally.times_us, application.max_latency),
            instances: instances.get(&application.id).copied().unwrap_or(0),
        });
        let all_times = tallies.iter().flat_map(|tally| tally.times_us.iter().copied()).collect();
        Summary {
            scenario: plan.name.clone(),
            seed: plan.seed,
            nodes: plan.nodes.len(),
            users: plan.users.iter().filter(|user| user.arrival().is_some()).count(),
            speed: plan.speed,
            startup_s: startup.as_secs_f64(),
            duration_s: duration.as_secs_f64(),
            requests: tallies.iter().map(|tally| tally.requests).sum(),
            answered: tallies.iter().map(|tally| tally.answered).sum(),
            failed: tallies.iter().map(Tally::failed).sum(),
            failures,
            response_ms: Percentiles::of(all_times),
            migrate: operations.accepted.migrate,
            replicate: operations.accepted.replicate,
            undeploy: operations.accepted.undeploy,
            inhibited: operations.inhibited,
            evaluations: operations.evaluations,
            evaluations_failed: operations.evaluations_failed,
            instances: instances.values().sum(),
            kills: *kills,
            cuts: *cuts,
            memory_bytes: *memory_bytes,
            applications: applications.collect(),
        }
    }
}

impl Summary {
    /// Writes `summary.json` in the directory of the run.
    pub fn save(&self, directory: &Path) -> Result<(), LiveError> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| LiveError::new("cannot encode `summary.json`").caused_by(error))?;
        text.push('\n');
        write(&directory.join("summary.json"), text.as_bytes())
    }

    /// Replaces the numbers of evaluations and instances with those of the trace, which are exact: logs omit
    /// evaluations that succeed without a proposal, and instances may change until the last daemon has ended.
    /// `instances` returns the number of instances of an application.
    pub fn set_traced(&mut self, evaluations: u64, instances: impl Fn(&ApplicationId) -> usize) {
        self.evaluations = evaluations;
        for application in &mut self.applications {
            application.instances = application_id(&application.id).map_or(0, |id| instances(&id));
        }
        self.instances = self.applications.iter().map(|application| application.instances).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        assert_eq!(Percentiles::of(Vec::new()), None);
        let of = Percentiles::of((1..=100).rev().map(|ms| ms * 1_000).collect()).expect("some");
        assert_eq!(of, Percentiles { mean: 50.5, p50: 50.0, p95: 95.0, p99: 99.0, max: 100.0 });
        let one = Percentiles::of(vec![7_000]).expect("one");
        assert_eq!(late_share(&[1_999, 2_000, 2_001, 9_000], 1.0), Some(0.5));
        assert_eq!(late_share(&[], 1.0), None);
        assert_eq!(one, Percentiles { mean: 7.0, p50: 7.0, p95: 7.0, p99: 7.0, max: 7.0 });
    }
}
