//! Which client requests a colony with faults could have answered at all.
//!
//! A request that fails while no instance of its application is on the user's side of a fault is no defect: in a tree, a cut link is
//! a partition, and the colony does not fail over by design. What fails although an instance could be reached is told apart.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::chaos::Fault;
use crate::plan::Plan;

/// How long nodes may take to notice a fault and route around it: three seconds of silence, and one more.
pub(crate) const REROUTING: Duration = Duration::from_secs(4);

/// What is known of faults and instances.
pub(crate) struct Reach {
    links: Vec<(usize, usize)>,
    state: Mutex<State>,
}

struct State {
    /// For each node, whether its daemon is down.
    down: Vec<bool>,
    /// For each link, whether it is cut.
    cut: Vec<bool>,
    /// For each application, the nodes that had an instance when they were last asked.
    hosts: Vec<BTreeSet<usize>>,
    /// When something broke or was mended last.
    changed: Option<Instant>,
}

/// Why a request could not be answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Excuse {
    /// There was no instance on this side of the faults.
    CutOff,
    /// Something broke or was mended a moment ago.
    Rerouting,
}

impl Reach {
    pub(crate) fn new(plan: &Plan) -> Reach {
        let state = State {
            down: vec![false; plan.nodes.len()],
            cut: vec![false; plan.links.len()],
            hosts: vec![BTreeSet::new(); plan.applications.len()],
            changed: None,
        };
        Reach { links: plan.links.iter().map(|link| (link.a, link.b)).collect(), state: Mutex::new(state) }
    }

    /// Notes a fault, or its end.
    pub(crate) fn note(&self, fault: Fault) {
        let mut state = self.state();
        match fault {
            Fault::Kill { node } => state.down[node] = true,
            Fault::Start { node } => state.down[node] = false,
            Fault::Cut { link } => state.cut[link] = true,
            Fault::Heal { link } => state.cut[link] = false,
        }
        state.changed = Some(Instant::now());
    }

    /// Notes which applications have instances on a node.
    pub(crate) fn set_hosted(&self, node: usize, applications: &BTreeSet<usize>) {
        for (application, hosts) in self.state().hosts.iter_mut().enumerate() {
            if applications.contains(&application) {
                hosts.insert(node);
            } else {
                hosts.remove(&node);
            }
        }
    }

    /// Why a request that began at a time and failed now need not have been answered, if that is so.
    pub(crate) fn excuse(&self, place: usize, application: usize, begin: Instant) -> Option<Excuse> {
        let state = self.state();
        let changed = state.changed?;
        let side = self.side(&state, place);
        if state.hosts[application].is_disjoint(&side) {
            return Some(Excuse::CutOff);
        }
        (begin < changed + REROUTING).then_some(Excuse::Rerouting)
    }

    /// The nodes that a node can reach, itself included.
    fn side(&self, state: &State, from: usize) -> BTreeSet<usize> {
        let mut side = BTreeSet::from([from]);
        let mut next = vec![from];
        while let Some(node) = next.pop() {
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
        side
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use mario_scenario::{Document, NoFiles};

    use super::*;

    /// A cloud, node 0, with four access points.
    fn reach() -> Reach {
        let mut document = Document::preset("paper").expect("it ships");
        document.set(&["topology.size=2".to_owned()]);
        let scenario = document.resolve(&mut NoFiles).expect("valid").scenario;
        Reach::new(&Plan::new(&scenario, 200.0).expect("it can be live"))
    }

    #[test]
    fn without_faults_there_is_no_excuse() {
        let reach = reach();
        assert_eq!(reach.excuse(1, 0, Instant::now()), None);
    }

    #[test]
    fn who_is_cut_off_from_every_instance_is_excused_and_others_only_for_a_moment() {
        let reach = reach();
        reach.set_hosted(0, &BTreeSet::from([0, 1]));
        reach.set_hosted(2, &BTreeSet::from([1]));
        let link = reach.links.iter().position(|ends| *ends == (0, 2)).expect("a star");
        reach.note(Fault::Cut { link });
        let now = Instant::now();
        assert_eq!(reach.excuse(2, 0, now), Some(Excuse::CutOff));
        assert_eq!(reach.excuse(2, 1, now), Some(Excuse::Rerouting));
        assert_eq!(reach.excuse(1, 0, now), Some(Excuse::Rerouting));
        let later = now + 2 * REROUTING;
        assert_eq!(reach.excuse(2, 0, later), Some(Excuse::CutOff));
        assert_eq!(reach.excuse(2, 1, later), None);
        assert_eq!(reach.excuse(1, 0, later), None);
        reach.note(Fault::Heal { link });
        assert_eq!(reach.excuse(2, 0, later), None);
        reach.note(Fault::Kill { node: 0 });
        assert_eq!(reach.excuse(3, 1, later), Some(Excuse::CutOff));
    }
}
