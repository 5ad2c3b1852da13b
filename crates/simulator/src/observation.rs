//! The client requests that agents observe, if messages are simulated.
//!
//! There are two strategies. *Arrivals* is the default: the requests that reached the instance since the last
//! evaluation of its agent, one fact for each last hop and latency, in standard order. *Route entries* is the
//! strategy of the prototype, see [`InstanceObservation::entry_facts`].

use mario_scenario::{NodeIndex, Observation};
use serde::{Deserialize, Serialize};

use crate::paths::{PathIndex, Paths};
use crate::population::{AgentIndex, Neighbour, Population, RequestFact};
use crate::routing::Router;

/// The observations of all instances.
#[derive(Serialize, Deserialize)]
pub(crate) struct Observations {
    strategy: Observation,
    of_agent: Vec<InstanceObservation>,
    /// The number of client requests that all instances together have started to serve.
    rows: u64,
}

/// The observations of one instance.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct InstanceObservation {
    arrivals: Vec<RequestFact>,
    /// If route entries are observed, the started requests that the next observation may count: their numbers,
    /// counted over all instances, and the access points they came from.
    taken_up: Vec<(u64, NodeIndex)>,
    /// How many requests all instances together had started to serve by the agent's last observation; `None` before its
    /// first.
    seen: Option<u64>,
    /// How far the next observation reaches back before the last one, in requests counted over all instances. Of these
    /// requests, those that this instance started to serve are counted again.
    seen_again: u64,
}

impl Observations {
    pub(crate) fn new(strategy: Observation) -> Observations {
        Observations { strategy, of_agent: Vec::new(), rows: 0 }
    }

    /// Whether restored observations are valid for this strategy and this number of instances.
    pub(crate) fn is_consistent(&self, strategy: Observation, instances: usize) -> bool {
        self.strategy == strategy && self.of_agent.len() == instances
    }

    /// Adds an instance. `was_there_at_the_start` is true for the initial deployment.
    pub(crate) fn add(&mut self, was_there_at_the_start: bool) {
        let seen_again = if was_there_at_the_start { 2 } else { 1 };
        self.of_agent.push(InstanceObservation { seen_again, ..InstanceObservation::default() });
    }

    /// Drops the observations of a removed instance.
    pub(crate) fn remove(&mut self, agent: AgentIndex) {
        self.of_agent[agent.position()] = InstanceObservation::default();
    }

    /// Drops the arrivals so far, because the instance moved to another node or its agent starts to observe.
    pub(crate) fn restart(&mut self, agent: AgentIndex) {
        self.of_agent[agent.position()].arrivals.clear();
    }

    /// Records the arrival of a request at its instance. Does nothing if route entries are observed.
    #[inline]
    pub(crate) fn arrived(&mut self, agent: AgentIndex, path: PathIndex, paths: &Paths) {
        if self.strategy != Observation::Arrivals {
            return;
        }
        let (neighbour, latency) = (paths.last_hop(path), paths.latency(path).units());
        let arrivals = &mut self.of_agent[agent.position()].arrivals;
        let same =
            |known: &&mut RequestFact| known.neighbour == neighbour && known.latency.to_bits() == latency.to_bits();
        match arrivals.iter_mut().find(same) {
            Some(known) => known.rate += 1.0,
            None => arrivals.push(RequestFact { neighbour, rate: 1.0, latency }),
        }
    }

    /// Records that an instance starts to serve a client request.
    #[inline]
    pub(crate) fn taken_up(&mut self, agent: AgentIndex, access_point: NodeIndex) {
        if self.strategy == Observation::RouteEntries {
            self.of_agent[agent.position()].taken_up.push((self.rows, access_point));
        }
        self.rows += 1;
    }

    /// Replaces the content of `facts` by what the agent sees now, and starts its next period.
    pub(crate) fn facts(
        &mut self,
        agent: AgentIndex,
        router: &Router,
        paths: &Paths,
        population: &Population,
        facts: &mut Vec<RequestFact>,
    ) {
        facts.clear();
        let observation = &mut self.of_agent[agent.position()];
        match self.strategy {
            Observation::Arrivals => {
                facts.append(&mut observation.arrivals);
                in_standard_order(facts, population);
            }
            Observation::RouteEntries => observation.entry_facts(agent, self.rows, router, paths, facts),
        }
    }
}

/// Sorts facts into the standard order of their terms.
pub(crate) fn in_standard_order(facts: &mut [RequestFact], population: &Population) {
    let rank = |fact: &RequestFact| population.rank(fact.neighbour);
    facts.sort_by(|one, other| {
        let by_neighbour = rank(one).cmp(&rank(other));
        by_neighbour.then(one.rate.total_cmp(&other.rate)).then(one.latency.total_cmp(&other.latency))
    });
}

impl InstanceObservation {
    /// One fact for each entry of the routing table that leads to this instance, in order of insertion: how many of the
    /// requests that the instance started to serve since its previous observation came from the entry's access point.
    /// Entries without such requests yield no fact. Two users at one access point have two entries, and each counts the
    /// requests of both.
    ///
    /// Consecutive observations overlap by one request, counted over all instances: if the last request that any
    /// instance started to serve before the previous observation was served by this instance, it is counted again. At
    /// the second observation of an agent of the initial deployment, the overlap is two requests.
    fn entry_facts(
        &mut self,
        agent: AgentIndex,
        rows: u64,
        router: &Router,
        paths: &Paths,
        facts: &mut Vec<RequestFact>,
    ) {
        let first = self.seen.map_or(0, |seen| seen.saturating_sub(self.seen_again));
        if self.seen.is_some() {
            self.seen_again = 1;
        }
        for entry in router.entries(agent) {
            let is_counted = |(row, from): &&(u64, NodeIndex)| *row >= first && *from == entry.access_point;
            let rate = self.taken_up.iter().filter(is_counted).count();
            if rate > 0 {
                let neighbour: Neighbour = paths.last_hop(entry.path);
                facts.push(RequestFact { neighbour, rate: rate as f64, latency: paths.latency(entry.path).units() });
            }
        }
        self.seen = Some(rows);
        let next = rows.saturating_sub(self.seen_again);
        self.taken_up.retain(|(row, _)| *row >= next);
    }
}
