//! The regret of a placement: how far it is from the best placement at the same time.

use mario_domain::Time;
use mario_scenario::{NodeIndex, Scenario, Search, UserIndex};
use serde::{Deserialize, Deserializer, Serialize};

use crate::optimum::{Allocation, Distances, PlacementValue, Problem, best, room, search_for};
use crate::paths::Paths;
use crate::population::{AgentIndex, CompactVerdict, CycleLabel, Outcome, OwnerActs, Population};
use crate::recorder::{Cause, Recorder, RegretSample};
use crate::validation::TableSizes;

/// Compares the placement with the best one at each activation of the managers, after the accepted operations are
/// enacted and the owners of nodes have acted.
///
/// It tracks users, nodes and links by the recorded events, and reads the instances from the population at the
/// activation.
pub struct Regret<'a> {
    scenario: &'a Scenario,
    search: Search,
    paths: Paths,
    distances: Distances,
    access_points: Vec<Option<NodeIndex>>,
    /// The users and infrastructure, and the value of the best placement found for them; `None` before the first
    /// activation, and if users or infrastructure have changed since the last one.
    snapshot: Option<(Problem, PlacementValue)>,
    /// The value of the actual placement; `None` if the placement may have changed since it was computed, or if
    /// `snapshot` has.
    actual: Option<PlacementValue>,
    /// The result of the last activation.
    last: Option<RegretSample>,
    sums: Sums,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sums {
    activations: u64,
    optimal: u64,
    users: u64,
    actual: PlacementValue,
    best: PlacementValue,
    satisfied_regret_max: i64,
    /// For the actual and for the best placement: the sum of the mean latency of served users over all activations with
    /// a served user. `with_latency` counts these activations.
    latency: [f64; 2],
    with_latency: [u64; 2],
}

/// The regret of the placement against the best one.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RegretFigures {
    /// How the best placement was searched for. Unless the search is exact, the best placement is the better one of the
    /// result of the search and the actual placement.
    pub against: Search,
    /// The number of activations of the managers. The placement is compared at each.
    pub activations: u64,
    /// The number of activations at which the placement was as good as the best one.
    pub optimal: u64,
    /// The mean number of connected users, over all activations.
    pub users: f64,
    /// The mean number of users whose nearest instances are within the tolerated latency and not overloaded.
    pub satisfied: ValueComparison,
    /// The maximum, over all activations, of the number of additional users who could have been satisfied.
    pub satisfied_regret_max: i64,
    /// The latency of users who reach an instance, in milliseconds, without queueing: the mean over these users at an
    /// activation, then over the activations that have such users. The regret can be negative, because more satisfied
    /// users and more users who reach an instance take precedence over lower latency.
    pub latency: ValueComparison,
    /// The mean number of instances, over all activations. The regret can be negative, because fewer instances come
    /// last in the order of preference, see [`PlacementValue`].
    pub instances: ValueComparison,
}

/// A value of the actual placement, of the best one, and their difference.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ValueComparison {
    /// The value of the actual placement.
    pub actual: f64,
    /// The value of the best placement.
    pub best: f64,
    /// How much worse the actual value is; negative if it is better.
    pub regret: f64,
}

impl<'a> Regret<'a> {
    /// Starts the comparison for a run of `scenario`.
    pub fn new(scenario: &'a Scenario) -> Regret<'a> {
        Regret {
            scenario,
            search: search_for(scenario),
            paths: Paths::new(&scenario.topology),
            distances: Distances::default(),
            access_points: vec![None; scenario.users.len()],
            snapshot: None,
            actual: None,
            last: None,
            sums: Sums::default(),
        }
    }

    /// The state to store in a checkpoint. Distances and the values of placements are left out, because they can be
    /// recomputed; the last sample is, because it was reported at its activation.
    pub(crate) fn saved(&self) -> impl Serialize + '_ {
        // Destructured, so that a new field does not compile until it is decided here whether to save it.
        let Regret {
            scenario: _,
            search: _,
            paths,
            distances: _,
            access_points,
            snapshot: _,
            actual: _,
            last: _,
            sums,
        } = self;
        (paths, access_points, sums)
    }

    /// Resumes from the state stored by [`Regret::saved`].
    pub(crate) fn resumed<'de, D: Deserializer<'de>>(scenario: &'a Scenario, saved: D) -> Result<Regret<'a>, D::Error> {
        let (paths, access_points, sums) = Deserialize::deserialize(saved)?;
        Ok(Regret { paths, access_points, sums, ..Regret::new(scenario) })
    }

    /// Whether the restored state is consistent with its scenario. Call it once, after [`Regret::resumed`].
    pub(crate) fn is_consistent(&mut self) -> bool {
        let limits = TableSizes { paths: self.paths.count(), ..TableSizes::of(self.scenario) };
        self.access_points.len() == self.scenario.users.len()
            && limits.hold_for(&self.saved())
            && self.paths.resume(&self.scenario.topology)
    }

    /// Computes the figures; `None` if the managers were never active.
    pub fn figures(&self) -> Option<RegretFigures> {
        let sums = &self.sums;
        if sums.activations == 0 {
            return None;
        }
        let mean = |sum: i64| sum as f64 / sums.activations as f64;
        let [actual, best] = [0, 1].map(|place| sums.latency[place] / sums.with_latency[place].max(1) as f64);
        let satisfied = [mean(sums.actual.satisfied), mean(sums.best.satisfied)];
        let instances = [mean(sums.actual.instances), mean(sums.best.instances)];
        Some(RegretFigures {
            against: self.search,
            activations: sums.activations,
            optimal: sums.optimal,
            users: sums.users as f64 / sums.activations as f64,
            satisfied: ValueComparison {
                actual: satisfied[0],
                best: satisfied[1],
                regret: satisfied[1] - satisfied[0],
            },
            satisfied_regret_max: sums.satisfied_regret_max,
            latency: ValueComparison { actual, best, regret: actual - best },
            instances: ValueComparison {
                actual: instances[0],
                best: instances[1],
                regret: instances[0] - instances[1],
            },
        })
    }

    /// The current users and infrastructure, and the value of the best placement that the search finds.
    fn snapshot(&mut self) -> (Problem, PlacementValue) {
        // A node that has announced its departure still runs its instances, so its hardware counts.
        let topology = &self.scenario.topology;
        let rooms = topology.nodes().map(
            |(index, node)| {
                if self.paths.is_node_up(index) { room(node.capacity) } else { Some(0) }
            },
        );
        let rooms = rooms.collect();
        let access_points = self.access_points.iter().copied();
        let problem = Problem::new(self.scenario, access_points, rooms, &mut self.distances, &self.paths);
        let best = problem.value(&best(&problem, self.search));
        (problem, best)
    }

    fn changed(&mut self) {
        (self.snapshot, self.actual) = (None, None);
    }
}

/// The current allocation of each application.
fn allocations(population: &Population, scenario: &Scenario) -> Vec<Allocation> {
    let mut allocations = vec![Allocation::default(); scenario.applications.len()];
    for node in (0..scenario.topology.node_count()).map(NodeIndex::at) {
        for agent in population.node(node).agents() {
            allocations[population.agent(*agent).application().position()].add(node.0);
        }
    }
    allocations
}

impl Recorder for Regret<'_> {
    fn wants_everyone(&self) -> bool {
        false
    }

    fn handover(&mut self, _time: Time, user: UserIndex, _from: Option<NodeIndex>, to: Option<NodeIndex>) {
        self.access_points[user.position()] = to;
        self.changed();
    }

    fn cycle(&mut self, _time: Time, label: &CycleLabel, _colony: &Population) {
        if label.iter().any(|outcome| !matches!(outcome, Outcome::Nop(_))) {
            self.actual = None;
        }
    }

    fn owner(&mut self, _time: Time, _acts: &OwnerActs, _colony: &Population) {
        self.actual = None;
    }

    fn woken(&mut self, _time: Time, _agent: AgentIndex, _verdict: &CompactVerdict, _colony: &Population) {
        self.actual = None;
    }

    fn node_down(&mut self, _time: Time, node: NodeIndex, _cause: Cause, _gone: &[AgentIndex], _colony: &Population) {
        self.paths.set_node(&self.scenario.topology, node, false);
        self.changed();
    }

    fn node_up(&mut self, _time: Time, node: NodeIndex) {
        self.paths.set_node(&self.scenario.topology, node, true);
        self.changed();
    }

    fn link(&mut self, _time: Time, one: NodeIndex, other: NodeIndex, is_up: bool) {
        self.paths.set_link(&self.scenario.topology, one, other, is_up);
        self.changed();
    }

    fn activation(&mut self, _time: Time, population: &Population) {
        let snapshot = self.snapshot.take().unwrap_or_else(|| self.snapshot());
        let (problem, found) = &snapshot;
        let actual = self.actual.unwrap_or_else(|| problem.value(&allocations(population, self.scenario)));
        self.actual = Some(actual);
        let best = actual.max(*found);
        self.last = Some(RegretSample { search: self.search, users: problem.users(), actual, best });
        let sums = &mut self.sums;
        sums.activations += 1;
        sums.optimal += u64::from(actual == best);
        sums.users += problem.users();
        sums.actual = sums.actual + actual;
        sums.best = sums.best + best;
        sums.satisfied_regret_max = sums.satisfied_regret_max.max(best.satisfied - actual.satisfied);
        for (place, value) in [actual, best].into_iter().enumerate() {
            if value.served > 0 {
                sums.latency[place] += value.latency_millionths as f64 / 1e6 / value.served as f64;
                sums.with_latency[place] += 1;
            }
        }
        self.snapshot = Some(snapshot);
    }

    fn regret_sample(&self) -> Option<RegretSample> {
        self.last
    }
}
