//! A table of full nodes: reading one byte replaces an access to the node's manager.

use mario_colony::Availability;
use mario_domain::{Capacity, Hardware};
use mario_scenario::NodeIndex;

use crate::population::simulated_node::SimulatedNode;

/// For each node, whether it is up and all its hardware is used or reserved.
///
/// If hardware is scarce, many agents propose in every cycle to migrate or replicate to a full node. With the table,
/// their requests are inhibited without fetching the node. The table is derived from the nodes, so it is not stored in
/// checkpoints.
pub(crate) struct FullNodes {
    is_full: Vec<bool>,
}

/// The free hardware of a full node.
pub(crate) const NO_HARDWARE: Capacity = Capacity::units(0);

impl FullNodes {
    pub(crate) fn new(nodes: &[SimulatedNode]) -> FullNodes {
        FullNodes { is_full: nodes.iter().map(is_full).collect() }
    }

    /// Updates the entry of a node. Returns whether the node was full and no longer is.
    #[inline]
    pub(crate) fn update(&mut self, node: NodeIndex, changed: &SimulatedNode) -> bool {
        let is_full = is_full(changed);
        std::mem::replace(&mut self.is_full[node.position()], is_full) && !is_full
    }

    pub(crate) fn contains(&self, node: NodeIndex) -> bool {
        self.is_full[node.position()]
    }

    /// Whether a request for `needed` is inhibited because the node is full. A request for no hardware never is.
    #[inline]
    pub(crate) fn inhibits(&self, node: NodeIndex, needed: Hardware) -> bool {
        self.is_full[node.position()] && !needed.fits(NO_HARDWARE)
    }
}

fn is_full(node: &SimulatedNode) -> bool {
    let manager = node.manager();
    manager.unreserved() == NO_HARDWARE && manager.availability() == Availability::Up
}
