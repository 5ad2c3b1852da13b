//! The names of what is in a small world.

use mario_domain::{NodeId, SELF};

/// The ids of nodes, and their standard order.
#[derive(Clone, Debug)]
pub(super) struct Names {
    nodes: Vec<NodeId>,
    /// The position of each node, and last of `self`, in the standard order of terms.
    ranks: Vec<usize>,
}

/// The node through which client requests reach an instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum LastHop {
    /// None: the clients are on the instance's own node.
    Own,
    /// A neighbour.
    Node(usize),
}

impl Names {
    /// The names of up to `nodes` nodes: `n1`, `n2` and so on.
    pub(super) fn of(nodes: usize) -> Names {
        let texts: Vec<String> = (1..=nodes).map(|number| format!("n{number}")).chain([SELF.to_owned()]).collect();
        let rank = |text: &String| texts.iter().filter(|other| *other < text).count();
        let nodes = texts[..nodes].iter().map(|text| NodeId::name(text).expect("it is neither empty nor `self`"));
        Names { nodes: nodes.collect(), ranks: texts.iter().map(rank).collect() }
    }

    pub(super) fn node(&self, node: usize) -> &NodeId {
        &self.nodes[node]
    }

    /// The node with this id; `None` if there is none.
    pub(super) fn find(&self, id: &NodeId) -> Option<usize> {
        self.nodes.iter().position(|node| node == id)
    }

    /// The position of a last hop in the standard order of terms.
    pub(super) fn rank(&self, hop: LastHop) -> usize {
        match hop {
            LastHop::Own => self.ranks[self.nodes.len()],
            LastHop::Node(node) => self.ranks[node],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_hops_are_in_the_standard_order_of_terms() {
        let names = Names::of(11);
        let rank = |node: usize| names.rank(LastHop::Node(node - 1));
        assert!(rank(1) < rank(10) && rank(10) < rank(11) && rank(11) < rank(2));
        assert!(rank(9) < names.rank(LastHop::Own));
    }
}
