//! Where the instances of each application are.

use mario_colony::{AgentIndex, ApplicationIndex, NodeIndex};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Where the instances of each application are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Placement {
    /// For each application, its instances.
    agents: Vec<Instances>,
    on_node: FxHashMap<(ApplicationIndex, NodeIndex), SmallVec<[AgentIndex; 4]>>,
}

/// The instances of one application, in the order in which they appeared. They are numbered in this order, so that a new one
/// belongs at the end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Instances {
    /// Those that are gone are marked, until they are more than the others.
    marked: Vec<u32>,
    gone: usize,
}

/// Marks an instance that is gone.
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
    pub(crate) fn new(applications: usize) -> Placement {
        Placement { agents: vec![Instances::default(); applications], on_node: FxHashMap::default() }
    }

    /// The instances of an application, in the order in which they appeared.
    pub(crate) fn agents(&self, application: ApplicationIndex) -> &Instances {
        &self.agents[application.position()]
    }

    /// Those of them that are on a node.
    pub(crate) fn on_node(&self, application: ApplicationIndex, node: NodeIndex) -> &[AgentIndex] {
        self.on_node.get(&(application, node)).map_or(&[], SmallVec::as_slice)
    }

    pub(crate) fn add(&mut self, application: ApplicationIndex, node: NodeIndex, agent: AgentIndex) {
        self.agents[application.position()].add(agent);
        self.on_node.entry((application, node)).or_default().push(agent);
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
        self.on_node.entry((application, to)).or_default().push(agent);
    }

    fn leave(&mut self, application: ApplicationIndex, node: NodeIndex, agent: AgentIndex) {
        if let Some(present) = self.on_node.get_mut(&(application, node)) {
            present.retain(|other| *other != agent);
            if present.is_empty() {
                self.on_node.remove(&(application, node));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_those_that_came_and_did_not_go() {
        let application = ApplicationIndex(0);
        let mut placement = Placement::new(1);
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
        }
        for agent in expected {
            placement.remove(application, NodeIndex(agent.0 % 7), agent);
        }
        assert!(placement.agents(application).is_empty());
        assert!((0..7).all(|node| placement.on_node(application, NodeIndex(node)).is_empty()));
    }
}
