//! Where the instances of each application are.

use std::collections::BTreeSet;

use mario_colony::{AgentIndex, ApplicationIndex, NodeIndex};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Where the instances of each application are.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Placement {
    /// For each application, its instances. They are numbered as they appear.
    agents: Vec<BTreeSet<AgentIndex>>,
    on_node: FxHashMap<(ApplicationIndex, NodeIndex), SmallVec<[AgentIndex; 4]>>,
}

impl Placement {
    pub(crate) fn new(applications: usize) -> Placement {
        Placement { agents: vec![BTreeSet::new(); applications], on_node: FxHashMap::default() }
    }

    /// The instances of an application, in the order in which they appeared.
    pub(crate) fn agents(&self, application: ApplicationIndex) -> &BTreeSet<AgentIndex> {
        &self.agents[application.position()]
    }

    /// Those of them that are on a node.
    pub(crate) fn on_node(&self, application: ApplicationIndex, node: NodeIndex) -> &[AgentIndex] {
        self.on_node.get(&(application, node)).map_or(&[], SmallVec::as_slice)
    }

    pub(crate) fn add(&mut self, application: ApplicationIndex, node: NodeIndex, agent: AgentIndex) {
        self.agents[application.position()].insert(agent);
        self.on_node.entry((application, node)).or_default().push(agent);
    }

    pub(crate) fn remove(&mut self, application: ApplicationIndex, node: NodeIndex, agent: AgentIndex) {
        self.agents[application.position()].remove(&agent);
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
