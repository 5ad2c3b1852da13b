//! Copies that ended or did not start are restarted: the first time at once, and then with exponential backoff.

use mario_domain::{Duration, Time};

use super::{Node, State, Step, Timing};
use crate::ids::WorkloadId;
use crate::journal::Owned;

/// The restarts of a copy that ended or did not start. They are forgotten when the copy is stopped, and count from 0
/// again after the copy has been healthy for [`Timing::restart_reset_after`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Restart {
    /// How often the copy has ended or not started, without being healthy for long enough in between; at least 1.
    pub failures: u32,
    /// Why it ended or did not start the last time.
    pub cause: String,
    /// When it is started next; `None` if it has been started since its last failure.
    pub at: Option<Time>,
    /// Since when it is healthy; `None` if it has not become healthy since its last failure.
    healthy_since: Option<Time>,
}

/// How long a copy that has failed this many times in a row waits for its restart: not at all after the first failure,
/// then twice as long after each.
fn restart_delay(failures: u32, timing: &Timing) -> Duration {
    match failures.checked_sub(2) {
        None => Duration::default(),
        Some(doublings) => (timing.restart_after * 2_f64.powi(doublings.min(64) as i32)).min(timing.restart_after_max),
    }
}

impl State {
    /// The instance, owned or in custody, of a copy that must run; `None` if the copy need not run.
    fn wanted(&self, workload: WorkloadId) -> Option<&Owned> {
        if self.stopping.contains(&workload) {
            return None;
        }
        let custody = self.ledger.custody.values().filter(|custody| custody.is_running).map(|custody| &custody.owned);
        let is_wanted = |owned: &&Owned| owned.workload == workload && !owned.is_asleep() && !self.is_held_back(owned);
        self.ledger.owned.values().chain(custody).find(is_wanted)
    }

    pub(super) fn next_restart(&self) -> Option<Time> {
        self.restarts.values().filter_map(|restart| restart.at).min()
    }
}

impl Node {
    /// The restarts of a copy; `None` if it has neither ended nor failed to start, or was stopped since.
    pub fn restart(&self, workload: WorkloadId) -> Option<&Restart> {
        self.state.restarts.get(&workload)
    }

    /// How many copies have ended or not started, and are not healthy again.
    pub fn copies_down(&self) -> usize {
        self.state.restarts.values().filter(|restart| restart.healthy_since.is_none()).count()
    }
}

impl Step<'_> {
    /// Schedules the restart of a copy that ended or did not start, if it must run.
    pub(super) fn restart_later(&mut self, workload: WorkloadId, cause: String) {
        if self.state.wanted(workload).is_none() {
            return;
        }
        let timing = self.state.config.timing;
        let before =
            self.state.restarts.get(&workload).filter(|restart| {
                restart.healthy_since.is_none_or(|since| self.now - since < timing.restart_reset_after)
            });
        let failures = before.map_or(0, |restart| restart.failures).saturating_add(1);
        let at = Some(self.now + restart_delay(failures, &timing));
        self.state.restarts.insert(workload, Restart { failures, cause, at, healthy_since: None });
    }

    /// Notes that a copy is healthy, for the backoff of its next restart.
    pub(super) fn restarted(&mut self, workload: WorkloadId) {
        if let Some(restart) = self.state.restarts.get_mut(&workload) {
            (restart.at, restart.healthy_since) = (None, Some(self.now));
        }
    }

    /// Restarts the copies whose backoff has passed, unless they are no longer needed.
    pub(super) fn restart_due(&mut self) {
        let now = self.now;
        let due = self.state.restarts.iter().filter(|(_, restart)| restart.at.is_some_and(|at| at <= now));
        let due: Vec<WorkloadId> = due.map(|(workload, _)| *workload).collect();
        for workload in due {
            let Some(resume) = self.state.wanted(workload).map(Owned::resume) else {
                self.state.restarts.remove(&workload);
                continue;
            };
            if let Some(restart) = self.state.restarts.get_mut(&workload) {
                restart.at = None;
            }
            self.effects.push(resume);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_restart_is_at_once_and_the_backoff_doubles_up_to_its_maximum() {
        let timing = Timing::default();
        let delays: Vec<f64> = (1..=8).map(|failures| restart_delay(failures, &timing).units()).collect();
        assert_eq!(delays, [0.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 10_000.0, 10_000.0]);
        assert_eq!(restart_delay(u32::MAX, &timing), timing.restart_after_max);
    }
}
