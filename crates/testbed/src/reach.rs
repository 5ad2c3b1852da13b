//! Determines whether injected faults explain why a client request failed.
//!
//! If faults separate a user from all instances of the application, a failed request is not a defect: a cut link
//! divides a tree, and the part without an instance cannot get one. A request that fails soon after a fault although an
//! instance was reachable is counted separately, because nodes may still have been rerouting.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::chaos::Fault;
use crate::plan::Plan;

/// How long nodes may take to detect a fault and reroute: the default of `silence_ms` in `node.toml`, which is three
/// seconds, plus one second.
pub(crate) const REROUTING: Duration = Duration::from_secs(4);

/// The history of faults and of hosted applications, from which failed requests are classified.
pub(crate) struct FaultHistory {
    links: Vec<(usize, usize)>,
    applications: usize,
    nodes: usize,
    history: Mutex<Vec<(Instant, Change)>>,
}

/// A change that may affect which instances are reachable.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Change {
    Fault(Fault),
    /// The set of applications with instances on a node has changed.
    Hosted {
        node: usize,
        applications: BTreeSet<usize>,
    },
}

/// The state between two changes.
struct State {
    /// For each node, whether its daemon is down.
    down: Vec<bool>,
    /// For each link, whether it is cut.
    cut: Vec<bool>,
    /// For each node, the applications that have instances there.
    hosted: Vec<BTreeSet<usize>>,
}

/// How faults explain a failed request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FaultImpact {
    /// No instance was reachable for part of the request, and there were never four seconds in a row during the request
    /// in which an instance was reachable and no fault began or ended.
    CutOff,
    /// An instance was reachable during the whole request, and a fault began or ended during the request or within four
    /// seconds before it.
    Rerouting,
}

impl FaultHistory {
    pub(crate) fn new(plan: &Plan) -> FaultHistory {
        FaultHistory {
            links: plan.links.iter().map(|link| (link.a, link.b)).collect(),
            applications: plan.applications.len(),
            nodes: plan.nodes.len(),
            history: Mutex::default(),
        }
    }

    /// Records a fault, or its end, at a time.
    pub(crate) fn note(&self, at: Instant, fault: Fault) {
        self.history().push((at, Change::Fault(fault)));
    }

    /// Records which applications have instances on a node at a time, if they differ from those recorded last.
    pub(crate) fn set_hosted(&self, at: Instant, node: usize, applications: &BTreeSet<usize>) {
        let mut history = self.history();
        let last = history.iter().rev().find_map(|(_, change)| match change {
            Change::Hosted { node: known, applications } if *known == node => Some(applications),
            _ => None,
        });
        if last.map_or(!applications.is_empty(), |last| last != applications) {
            history.push((at, Change::Hosted { node, applications: applications.clone() }));
        }
    }

    /// Returns why a request that was open from `begin` to `end` may have failed, or `None` if faults do not explain
    /// it.
    pub(crate) fn impact(&self, place: usize, application: usize, [begin, end]: [Instant; 2]) -> Option<FaultImpact> {
        let history = self.history();
        let mut state = State {
            down: vec![false; self.nodes],
            cut: vec![false; self.links.len()],
            hosted: vec![BTreeSet::new(); self.nodes],
        };
        assert!(place < self.nodes && application < self.applications, "they are of the plan");
        let mut last_fault: Option<Instant> = None;
        // During the request: whether there was a time without a reachable instance; the start of the current
        // undisturbed period, in which an instance is reachable and no fault begins or ends; and the longest such
        // period.
        let mut was_cut_off = false;
        let mut undisturbed_since = begin;
        let mut longest = Duration::ZERO;
        let mut is_reachable = false;
        for (position, (at, change)) in history.iter().enumerate() {
            if *at > end {
                break;
            }
            let is_fault = matches!(change, Change::Fault(_));
            state.apply(change);
            if is_fault {
                last_fault = Some(*at);
            }
            if is_fault && *at > begin {
                if is_reachable {
                    longest = longest.max(at.saturating_duration_since(undisturbed_since));
                }
                undisturbed_since = *at;
            }
            // All changes before the request are applied before reachability is first computed.
            let next = history.get(position + 1).map(|(next, _)| *next);
            if next.is_some_and(|next| next <= begin) {
                continue;
            }
            let before = is_reachable;
            is_reachable = self.is_reachable(&state, place, application);
            was_cut_off |= !is_reachable;
            if is_reachable && !before {
                undisturbed_since = (*at).max(begin);
            }
        }
        if is_reachable {
            longest = longest.max(end.saturating_duration_since(undisturbed_since));
        }
        let last_fault = last_fault?;
        match was_cut_off {
            true if longest < REROUTING => Some(FaultImpact::CutOff),
            true => None,
            false if begin < last_fault + REROUTING => Some(FaultImpact::Rerouting),
            false => None,
        }
    }

    /// Whether a node can reach an instance of an application over links that are not cut and nodes that are up.
    fn is_reachable(&self, state: &State, from: usize, application: usize) -> bool {
        let mut side = BTreeSet::from([from]);
        let mut next = vec![from];
        while let Some(node) = next.pop() {
            if state.hosted[node].contains(&application) {
                return true;
            }
            for (link, (a, b)) in self.links.iter().enumerate() {
                let other = match (*a == node, *b == node) {
                    (true, _) => *b,
                    (_, true) => *a,
                    _ => continue,
                };
                if !state.cut[link] && !state.down[other] && side.insert(other) {
                    next.push(other);
                }
            }
        }
        false
    }

    fn history(&self) -> MutexGuard<'_, Vec<(Instant, Change)>> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Fault(Fault::Kill { node }) => self.down[*node] = true,
            Change::Fault(Fault::Start { node }) => self.down[*node] = false,
            Change::Fault(Fault::Cut { link }) => self.cut[*link] = true,
            Change::Fault(Fault::Heal { link }) => self.cut[*link] = false,
            Change::Hosted { node, applications } => self.hosted[*node].clone_from(applications),
        }
    }
}

#[cfg(test)]
mod tests {
    use mario_scenario::{Document, NoFiles};

    use super::*;

    /// A cloud, node 0, with four access points.
    fn reach() -> FaultHistory {
        let mut document = Document::preset("paper").expect("it ships");
        document.set(&["topology.size=2".to_owned()]);
        let scenario = document.resolve(&mut NoFiles).expect("valid").scenario;
        FaultHistory::new(&Plan::new(&scenario, 200.0).expect("it can be live"))
    }

    #[test]
    fn without_faults_no_failure_is_explained() {
        let reach = reach();
        let now = Instant::now();
        assert_eq!(reach.impact(1, 0, [now, now + REROUTING]), None);
    }

    #[test]
    fn faults_explain_failures_while_they_separate_a_user_from_all_instances_and_shortly_after() {
        let reach = reach();
        let start = Instant::now();
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        reach.set_hosted(at(0.0), 0, &BTreeSet::from([0, 1]));
        reach.set_hosted(at(0.0), 2, &BTreeSet::from([1]));
        let link = reach.links.iter().position(|ends| *ends == (0, 2)).expect("a star");
        reach.note(at(10.0), Fault::Cut { link });
        reach.note(at(20.0), Fault::Heal { link });
        reach.note(at(40.0), Fault::Kill { node: 0 });
        let impact = |place, application, begin, end| reach.impact(place, application, [at(begin), at(end)]);
        assert_eq!(impact(2, 0, 1.0, 6.0), None, "before the fault");
        assert_eq!(impact(2, 0, 9.0, 14.0), Some(FaultImpact::CutOff), "the link was cut meanwhile");
        assert_eq!(impact(2, 0, 12.0, 17.0), Some(FaultImpact::CutOff));
        assert_eq!(impact(2, 1, 12.0, 17.0), Some(FaultImpact::Rerouting), "an instance is on the access point itself");
        assert_eq!(impact(1, 0, 12.0, 17.0), Some(FaultImpact::Rerouting), "the fault is elsewhere");
        assert_eq!(impact(1, 0, 15.0, 19.0), None, "the fault is elsewhere, and old");
        assert_eq!(impact(2, 0, 16.0, 21.0), Some(FaultImpact::CutOff), "it has healed a second ago");
        assert_eq!(impact(2, 0, 19.0, 24.5), None, "it has healed long enough ago");
        assert_eq!(impact(2, 0, 21.0, 26.0), Some(FaultImpact::Rerouting));
        assert_eq!(impact(3, 1, 42.0, 47.0), Some(FaultImpact::CutOff), "the hub of the star is down");
        assert_eq!(impact(2, 1, 42.0, 47.0), Some(FaultImpact::Rerouting));
        assert_eq!(impact(2, 1, 45.0, 47.0), None);
    }
}
