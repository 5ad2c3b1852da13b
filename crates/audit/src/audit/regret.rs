//! Checks the recorded comparisons of the placement with the best one.

use mario_domain::Capacity;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Audit;
use crate::finding::FindingKind;
use crate::reader::{Detail, PlacementValue, Regret, Search};

/// The comparisons so far.
#[derive(Default)]
pub(super) struct Comparisons {
    last: Option<Regret>,
    /// The value of the best placement that a search has found since users or infrastructure last changed; `None` while
    /// no search has found a better placement than the actual one. Until the next change, further searches must find
    /// the same value, or that of the actual placement if it is higher.
    best: Option<PlacementValue>,
    /// The time between two comparisons. It equals the time of the first one.
    period: f64,
    have_users_changed: bool,
    has_infrastructure_changed: bool,
    has_placement_changed: bool,
    /// The time of the last cycle.
    last_cycle: Option<f64>,
    /// The time of the last cycle, while its comparison may still follow.
    awaited: Option<f64>,
    /// The time of the first cycle whose missing comparison has not been reported yet.
    missing: Option<f64>,
    /// For each node, its connected component; empty if not computed since the infrastructure last changed.
    parts: Vec<u32>,
}

impl Comparisons {
    /// Whether there were any comparisons.
    pub(super) fn has_any(&self) -> bool {
        self.last.is_some()
    }

    pub(super) fn users_changed(&mut self) {
        self.have_users_changed = true;
    }

    pub(super) fn instances_changed(&mut self) {
        self.has_placement_changed = true;
    }

    pub(super) fn infrastructure_changed(&mut self) {
        self.has_infrastructure_changed = true;
        self.parts.clear();
    }
}

impl Audit {
    /// Notes a cycle, after which a comparison may follow. Reports a second cycle at the same time.
    pub(super) fn await_comparison(&mut self, has_placement_changed: bool) {
        let last = self.comparisons.last_cycle.replace(self.time);
        if last.is_some_and(|last| last >= self.time) {
            self.find(FindingKind::Time, "the cycle", "one at a time", "another at the same time");
        }
        self.comparisons.has_placement_changed |= has_placement_changed;
        self.comparisons.awaited = Some(self.time);
    }

    /// Called before a record that is neither a comparison nor an action of owners: if the comparison of the last cycle
    /// is still awaited, it is missing.
    pub(super) fn note_cycle_without_comparison(&mut self) {
        if let Some(time) = self.comparisons.awaited.take() {
            self.comparisons.missing.get_or_insert(time);
            self.require_no_cycle_without_comparison();
        }
    }

    fn require_no_cycle_without_comparison(&mut self) {
        if self.comparisons.last.is_some()
            && let Some(time) = self.comparisons.missing.take()
        {
            let expected = "a comparison after every cycle, because other cycles have one";
            self.find(FindingKind::Regret, format!("the cycle at {time}"), expected, "none");
        }
    }

    /// Checks after the last record that no further comparison was due before the end of the run.
    pub(super) fn require_last_comparison(&mut self) {
        let Some(last) = &self.comparisons.last else { return };
        let next = last.time + self.comparisons.period;
        if next < self.header.duration && !is_same_time(next, self.header.duration) {
            let expected = format!("another comparison at {next}");
            self.find(FindingKind::Regret, "the placement", expected, "none until the end");
        }
    }

    /// Checks the time and the counts of a comparison, that the best placement is possible and not worse than the
    /// actual one, and that the comparison is consistent with the last one. Satisfied users, latencies and the best
    /// placement cannot be derived from a trace.
    pub(super) fn regret(&mut self, record: &Regret) {
        self.check_comparison_time(record);
        self.check_regret_counts(record);
        self.check_best_counts(&record.best);
        for (who, value) in [("the placement", &record.actual), ("the best placement", &record.best)] {
            let PlacementValue { present, satisfied, served, latency_millionths, .. } = *value;
            let applications = self.header.applications.len() as u64;
            if satisfied > served || served > record.users || present > applications {
                let expected = format!(
                    "at most {} users served, no more of them satisfied, and at most {applications} applications present",
                    record.users
                );
                let found = format!("{served}, {satisfied} and {present}");
                self.find(FindingKind::Regret, who, expected, found);
            }
            if served == 0 && latency_millionths > 0 {
                let found = format!("{latency_millionths} millionths");
                self.find(FindingKind::Regret, who, "no latency if no user is served", found);
            }
            if present > value.instances {
                let found = format!("{} of {present} applications", value.instances);
                self.find(FindingKind::Regret, who, "an instance of each application present", found);
            }
        }
        if record.best.is_less_than(&record.actual) {
            let expected = "a value no lower than that of the placement itself";
            self.find(FindingKind::Regret, "the best placement", expected, "a lower value");
        }
        self.compare_with_last(record);
        self.comparisons.last = Some(record.clone());
        self.require_no_cycle_without_comparison();
        let comparisons = &mut self.comparisons;
        comparisons.have_users_changed = false;
        comparisons.has_infrastructure_changed = false;
        comparisons.has_placement_changed = false;
    }

    /// Checks that the format of the trace has comparisons, and that they are periodic: the time of the first one is
    /// the period. If the last cycle still awaits a comparison and is earlier than this one, notes that it has none.
    fn check_comparison_time(&mut self, record: &Regret) {
        if self.header.mario_trace < 2 {
            self.find(FindingKind::Regret, "the record", "no comparison in a trace of format 1", "one");
        }
        let awaited = self.comparisons.awaited.take();
        if let Some(cycle) = awaited.filter(|cycle| *cycle < record.time) {
            self.comparisons.missing.get_or_insert(cycle);
        }
        let Some(last) = &self.comparisons.last else {
            self.comparisons.period = record.time;
            return;
        };
        let due = last.time + self.comparisons.period;
        if !is_same_time(due, record.time) {
            let found = format!("one at {}", record.time);
            self.find(FindingKind::Regret, "the placement", format!("a comparison at {due}"), found);
        }
    }

    fn check_regret_counts(&mut self, record: &Regret) {
        // A trace of counts does not record which users are connected.
        let (users, is_known) = match self.header.detail {
            Detail::Summary => (self.header.users.len(), false),
            Detail::Full | Detail::Operations => (self.world.users.iter().flatten().count(), true),
        };
        let users = users as u64;
        if record.users > users || (is_known && record.users < users) {
            let expected = if is_known { format!("{users} connected") } else { format!("at most {users} connected") };
            self.find(FindingKind::Regret, "the users", expected, record.users.to_string());
        }
        let present = (0..self.header.applications.len() as u32).filter(|place| self.is_present(*place)).count();
        let expected = [("instances", self.alive(), record.actual.instances)];
        let expected = expected.into_iter().chain([("applications", present as u64, record.actual.present)]);
        let served = is_known.then(|| ("users served", self.served_users(), record.actual.served));
        for (what, expected, found) in expected.chain(served).collect::<Vec<_>>() {
            if expected != found {
                let expected = format!("{expected} {what}");
                self.find(FindingKind::Regret, "the placement", expected, found.to_string());
            }
        }
    }

    /// Checks the best placement against upper bounds. An application can have an instance only if a node is large
    /// enough for one, and a user can be served only if the user's access point is connected to such a node.
    fn check_best_counts(&mut self, best: &PlacementValue) {
        self.find_parts();
        let mut rooms: FxHashMap<u32, Capacity> = FxHashMap::default();
        let mut largest = Capacity::units(0);
        let nodes = self.world.nodes.iter().zip(&self.comparisons.parts);
        for (node, part) in nodes.filter(|(node, _)| node.is_up) {
            let room = rooms.entry(*part).or_insert(node.capacity);
            *room = larger(*room, node.capacity);
            largest = larger(largest, node.capacity);
        }
        let present = self.header.applications.iter().filter(|application| application.hardware.fits(largest)).count();
        let mut bounds = vec![
            ("applications present", present as u64, best.present),
            ("instances", self.instances_max(), best.instances),
        ];
        // A trace of counts does not record the access points of users.
        if self.header.detail != Detail::Summary {
            let fits = |application: u32, node: u32| {
                let part = self.comparisons.parts[node as usize];
                rooms.get(&part).is_some_and(|room| self.needed(application).fits(*room))
            };
            let users = self.header.users.iter().zip(&self.world.users);
            let served = users.filter(|(user, node)| node.is_some_and(|node| fits(user.application, node)));
            bounds.push(("users served", served.count() as u64, best.served));
        }
        for (what, most, found) in bounds {
            if found > most {
                let expected = format!("at most {most} {what}, given the capacities of nodes");
                self.find(FindingKind::Regret, "the best placement", expected, found.to_string());
            }
        }
    }

    /// An upper bound on the number of instances: every node that is up is filled with instances of the application
    /// that needs the fewest units. `u64::MAX` if nothing bounds it.
    fn instances_max(&self) -> u64 {
        let smallest = self.header.applications.iter().map(|application| application.hardware.as_units()).min();
        let Some(smallest @ 1..) = smallest else { return u64::MAX };
        let nodes = self.world.nodes.iter().filter(|node| node.is_up);
        nodes.fold(0, |sum: u64, node| match node.capacity {
            Capacity::Bounded(hardware) => sum.saturating_add(hardware.as_units() / smallest),
            Capacity::Unbounded => u64::MAX,
        })
    }

    fn is_present(&self, application: u32) -> bool {
        match self.header.detail {
            Detail::Summary => self.tiers.of(application) > 0,
            Detail::Full | Detail::Operations => self.world.alive_of[application as usize] > 0,
        }
    }

    /// The number of connected users who reach an instance of their application.
    fn served_users(&mut self) -> u64 {
        self.find_parts();
        let parts = &self.comparisons.parts;
        let here = |agent: &crate::world::Agent| (parts[agent.node as usize], agent.application);
        let served: FxHashSet<(u32, u32)> = self.world.all_alive().map(here).collect();
        let users = self.header.users.iter().zip(&self.world.users);
        let is_served = |application: u32, node: u32| served.contains(&(parts[node as usize], application));
        users.filter(|(user, node)| node.is_some_and(|node| is_served(user.application, node))).count() as u64
    }

    /// Computes the connected components, unless they are known.
    fn find_parts(&mut self) {
        if self.comparisons.parts.is_empty() {
            self.comparisons.parts = self.world.parts();
        }
    }

    /// Checks that the search is the same as in the last comparison, and that the actual placement has the same value
    /// if nothing has changed since. If neither users nor infrastructure have changed, the value of the best placement
    /// must be the same, or that of the actual placement if it is higher.
    fn compare_with_last(&mut self, record: &Regret) {
        let Some(last) = self.comparisons.last.clone() else {
            self.comparisons.best = found(record);
            return;
        };
        if last.search != record.search {
            let word = Search::as_str;
            self.find(FindingKind::Regret, "the search", word(last.search), word(record.search));
        }
        // A trace of counts does not record changes of nodes and links.
        let Comparisons { have_users_changed, has_infrastructure_changed, has_placement_changed, best, .. } =
            self.comparisons;
        if self.header.detail == Detail::Summary || have_users_changed || has_infrastructure_changed {
            self.comparisons.best = found(record);
            return;
        }
        if !has_placement_changed && last.actual != record.actual {
            let expected = "the same value as before, since nothing changed";
            self.find(FindingKind::Regret, "the placement", expected, "a different value");
        }
        let better = |one: PlacementValue, other: PlacementValue| if one.is_less_than(&other) { other } else { one };
        let is_true = match best {
            Some(best) => record.best == better(best, record.actual),
            // The last search found nothing better than the actual placement, so only the current placement may have
            // a higher value.
            None => !better(last.best, record.actual).is_less_than(&record.best),
        };
        if !is_true {
            let expected = "the same value as before, since neither users nor infrastructure changed";
            self.find(FindingKind::Regret, "the best placement", expected, "a different value");
        }
        self.comparisons.best = best.or(found(record));
    }
}

/// `other` if `one` is bounded and fits into it, else `one`.
fn larger(one: Capacity, other: Capacity) -> Capacity {
    match one {
        Capacity::Bounded(hardware) if hardware.fits(other) => other,
        _ => one,
    }
}

/// The value of the best placement; `None` if the actual one has the same value.
fn found(record: &Regret) -> Option<PlacementValue> {
    (record.best != record.actual).then_some(record.best)
}

/// Whether two times are equal up to rounding errors.
fn is_same_time(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}
