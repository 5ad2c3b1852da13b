//! The placement of the instances of each application.

use mario_scenario::{ApplicationIndex, NodeIndex, Scenario};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::population::{AgentIndex, Population};

/// The placement of the instances of each application.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Placement {
    /// For each application, its instances.
    agents: Vec<Instances>,
    nodes: usize,
    /// For each application and node, the only instance on the node, or else [`NOBODY`] or [`SEVERAL`]. The list of an
    /// application that never had an instance is empty.
    on_node: Vec<Vec<AgentIndex>>,
    /// The instances on nodes marked [`SEVERAL`], in the order of arrival.
    several: FxHashMap<(ApplicationIndex, NodeIndex), Vec<AgentIndex>>,
}

/// The initial capacity of tables of instances: an estimate of how many there will be. Reserved memory costs little
/// until it is used, and a table that need not grow is never copied.
pub(crate) fn instances_expected(scenario: &Scenario) -> usize {
    scenario.users.len().min(3 * scenario.topology.node_count())
}

/// Marks a node without instances.
const NOBODY: AgentIndex = AgentIndex(u32::MAX);
/// Marks a node with more than one instance.
const SEVERAL: AgentIndex = AgentIndex(u32::MAX - 1);

/// The instances of one application, in the order of creation, which is also the order of their indices.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Instances {
    /// The indices of agents. Removed ones are marked with the bit [`GONE`], and dropped when they outnumber the
    /// others.
    marked: Vec<u32>,
    gone: usize,
}

/// The bit that marks a removed instance.
const GONE: u32 = 1 << 31;

impl Instances {
    pub(crate) fn len(&self) -> usize {
        self.marked.len() - self.gone
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = AgentIndex> {
        self.marked.iter().filter(|number| **number < GONE).map(|number| AgentIndex(*number))
    }

    fn add(&mut self, agent: AgentIndex) {
        assert!(agent.0 < GONE, "fewer than 2^31 instances");
        let position = self.marked.iter().rposition(|number| number & !GONE < agent.0).map_or(0, |last| last + 1);
        self.marked.insert(position, agent.0);
    }

    fn remove(&mut self, agent: AgentIndex) {
        let found = self.marked.binary_search_by_key(&agent.0, |number| number & !GONE);
        let Some(number) = found.ok().map(|position| &mut self.marked[position]).filter(|number| **number < GONE)
        else {
            return;
        };
        *number |= GONE;
        self.gone += 1;
        if self.gone > self.marked.len() / 2 {
            self.marked.retain(|number| *number < GONE);
            self.gone = 0;
        }
    }
}

impl Placement {
    pub(crate) fn new(applications: usize, nodes: usize) -> Placement {
        Placement {
            agents: vec![Instances::default(); applications],
            nodes,
            on_node: vec![Vec::new(); applications],
            several: FxHashMap::default(),
        }
    }

    /// Whether the placement has exactly the living agents of a population, each on its node.
    pub(crate) fn is_consistent(&self, population: &Population, applications: usize, nodes: usize) -> bool {
        self.places_all_but(0, population, applications, nodes)
    }

    /// Whether the placement has all but `missing` of the living agents of a population, each on its node.
    pub(crate) fn places_all_but(
        &self,
        missing: usize,
        population: &Population,
        applications: usize,
        nodes: usize,
    ) -> bool {
        let are_tables = self.nodes == nodes && self.agents.len() == applications && self.on_node.len() == applications;
        if !are_tables || self.on_node.iter().any(|on_node| ![0, nodes].contains(&on_node.len())) {
            return false;
        }
        let is_sorted = |instances: &Instances| {
            let gone = instances.marked.iter().filter(|number| **number >= GONE).count();
            gone == instances.gone && instances.marked.is_sorted_by(|one, other| one & !GONE < other & !GONE)
        };
        let is_alive = |agent: AgentIndex, application: usize| {
            agent.position() < population.agent_count() && {
                let agent = population.agent(agent);
                agent.is_alive() && agent.application().position() == application
            }
        };
        let is_here = |application: usize, node: NodeIndex, agents: &[AgentIndex]| {
            agents.iter().all(|agent| is_alive(*agent, application) && population.agent(*agent).node() == node)
        };
        let mut placed = 0;
        let mut is_sound = |application: usize, on_node: &[AgentIndex]| {
            (0..).map(NodeIndex).zip(on_node).all(|(node, present)| {
                let index = ApplicationIndex::at(application);
                let here = self.on_node(index, node);
                placed += here.len();
                (*present != SEVERAL || here.len() > 1) && is_here(application, node, here)
            })
        };
        let alive =
            (0..population.agent_count()).filter(|agent| population.agent(AgentIndex::at(*agent)).is_alive()).count();
        let Some(listed) = alive.checked_sub(missing) else { return false };
        self.agents.iter().enumerate().all(|(application, instances)| {
            is_sorted(instances) && instances.iter().all(|agent| is_alive(agent, application))
        }) && self.on_node.iter().enumerate().all(|(application, on_node)| is_sound(application, on_node))
            && self.agents.iter().map(Instances::len).sum::<usize>() == listed
            && placed == listed
    }

    /// The instances of an application, in the order of creation.
    pub(crate) fn agents(&self, application: ApplicationIndex) -> &Instances {
        &self.agents[application.position()]
    }

    /// The instances of an application on a node, in the order of arrival.
    pub(crate) fn on_node(&self, application: ApplicationIndex, node: NodeIndex) -> &[AgentIndex] {
        match self.on_node[application.position()].get(node.position()) {
            None | Some(&NOBODY) => &[],
            Some(&SEVERAL) => self.several.get(&(application, node)).map_or(&[], Vec::as_slice),
            Some(agent) => std::slice::from_ref(agent),
        }
    }

    pub(crate) fn add(&mut self, application: ApplicationIndex, node: NodeIndex, agent: AgentIndex) {
        self.agents[application.position()].add(agent);
        self.arrive(application, node, agent);
    }

    pub(crate) fn remove(&mut self, application: ApplicationIndex, node: NodeIndex, agent: AgentIndex) {
        self.agents[application.position()].remove(agent);
        self.leave(application, node, agent);
    }

    pub(crate) fn relocate(
        &mut self,
        application: ApplicationIndex,
        from: NodeIndex,
        to: NodeIndex,
        agent: AgentIndex,
    ) {
        self.leave(application, from, agent);
        self.arrive(application, to, agent);
    }

    fn arrive(&mut self, application: ApplicationIndex, node: NodeIndex, agent: AgentIndex) {
        let on_node = &mut self.on_node[application.position()];
        if on_node.is_empty() {
            on_node.resize(self.nodes, NOBODY);
        }
        let present = &mut on_node[node.position()];
        match *present {
            NOBODY => *present = agent,
            SEVERAL => self.several.entry((application, node)).or_default().push(agent),
            other => {
                *present = SEVERAL;
                self.several.insert((application, node), vec![other, agent]);
            }
        }
    }

    fn leave(&mut self, application: ApplicationIndex, node: NodeIndex, agent: AgentIndex) {
        let Some(present) = self.on_node[application.position()].get_mut(node.position()) else { return };
        if *present == agent {
            *present = NOBODY;
        } else if *present == SEVERAL
            && let Some(several) = self.several.get_mut(&(application, node))
        {
            several.retain(|other| *other != agent);
            if let [last] = several[..] {
                *present = last;
                self.several.remove(&(application, node));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_has_the_added_instances_that_were_not_removed() {
        let application = ApplicationIndex(0);
        let mut placement = Placement::new(1, 7);
        let mut expected = Vec::new();
        for number in 0..500_u32 {
            let agent = AgentIndex(number);
            placement.add(application, NodeIndex(number % 7), agent);
            expected.push(agent);
            if number % 5 > 1 {
                let gone = expected.remove(number as usize * 13 % expected.len());
                placement.remove(application, NodeIndex(gone.0 % 7), gone);
                placement.remove(application, NodeIndex(gone.0 % 7), gone);
            }
            assert!(placement.agents(application).iter().eq(expected.iter().copied()), "after {number}");
            assert_eq!(placement.agents(application).len(), expected.len());
            for node in 0..7 {
                let here = expected.iter().filter(|agent| agent.0 % 7 == node);
                assert!(placement.on_node(application, NodeIndex(node)).iter().eq(here), "after {number}");
            }
        }
        for agent in expected {
            placement.remove(application, NodeIndex(agent.0 % 7), agent);
        }
        assert!(placement.agents(application).is_empty());
        assert!((0..7).all(|node| placement.on_node(application, NodeIndex(node)).is_empty()));
    }
}
