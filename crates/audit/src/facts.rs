//! The extra facts of a header, grouped by the agents and managers that know them.

use mario_domain::{Fact, Id};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::reader::Header;

/// The extra facts of a header. A fact whose subject is the id of a node, and not also that of an application, is about
/// that node; all agents and managers know all other facts.
pub(crate) struct ExtraFacts {
    /// Known to all agents and managers.
    general: Vec<Fact>,
    /// By the node that they are about. Known to its manager, and to agents on it and on nodes that reach it.
    of_node: FxHashMap<u32, Vec<Fact>>,
}

impl ExtraFacts {
    pub(crate) fn new(header: &Header) -> ExtraFacts {
        let applications: FxHashSet<&Id> = header.applications.iter().map(|application| application.id.id()).collect();
        let nodes: FxHashMap<&Id, u32> = header.nodes.iter().map(|node| node.id.id()).zip(0..).collect();
        let mut facts = ExtraFacts { general: Vec::new(), of_node: FxHashMap::default() };
        for fact in &header.facts {
            match nodes.get(&fact.subject) {
                Some(node) if !applications.contains(&fact.subject) => {
                    facts.of_node.entry(*node).or_default().push(fact.clone());
                }
                _ => facts.general.push(fact.clone()),
            }
        }
        facts
    }

    /// The facts known to all agents and managers.
    pub(crate) fn general(&self) -> &[Fact] {
        &self.general
    }

    /// The facts about a node. Known to its manager, and to agents on it and on nodes that reach it.
    pub(crate) fn of_node(&self, node: u32) -> &[Fact] {
        self.of_node.get(&node).map_or(&[], Vec::as_slice)
    }

    /// Whether there are any facts about single nodes.
    pub(crate) fn has_nodes(&self) -> bool {
        !self.of_node.is_empty()
    }
}
