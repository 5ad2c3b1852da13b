//! Which nodes are full, in one byte for each.

use mario_colony::Availability;
use mario_domain::{Capacity, Hardware};
use mario_scenario::NodeIndex;

use crate::population::simulated_node::SimulatedNode;

/// Which nodes have nothing left, whatever is asked for.
///
/// Where hardware is scarce, half of all agents ask for a place on such a node in every cycle. This tells so without a look
/// at the manager, which would have to be fetched from far away. It follows from the managers, and is not saved.
pub(crate) struct Rooms {
    is_full: Vec<bool>,
}

/// What a full node has left.
pub(crate) const NOTHING: Capacity = Capacity::units(0);

impl Rooms {
    pub(crate) fn new(nodes: &[SimulatedNode]) -> Rooms {
        Rooms { is_full: nodes.iter().map(is_full).collect() }
    }

    /// The manager of a node has changed. Gives whether there is room where there was none.
    pub(crate) fn follow(&mut self, node: NodeIndex, changed: &SimulatedNode) -> bool {
        let is_full = is_full(changed);
        std::mem::replace(&mut self.is_full[node.position()], is_full) && !is_full
    }

    pub(crate) fn is_full(&self, node: NodeIndex) -> bool {
        self.is_full[node.position()]
    }

    /// Whether it is clear without asking the manager that a node has no room for this.
    #[inline]
    pub(crate) fn refuse(&self, node: NodeIndex, needed: Hardware) -> bool {
        self.is_full[node.position()] && !needed.fits(NOTHING)
    }
}

/// Whether a node is up and has nothing left.
fn is_full(node: &SimulatedNode) -> bool {
    let manager = node.manager();
    manager.availability() == Availability::Up && manager.unreserved() == NOTHING
}
