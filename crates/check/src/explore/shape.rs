//! Small trees of nodes: one per isomorphism class, in up to two numberings.

use std::collections::BTreeSet;

/// A tree of nodes, numbered from 0, with its distances.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    /// The neighbours of each node, sorted.
    pub(super) neighbours: Vec<Vec<usize>>,
    /// The number of links between each two nodes.
    pub(super) hops: Vec<Vec<usize>>,
}

impl Shape {
    /// All trees with this number of nodes, up to isomorphism. Names break ties, so each tree is also included with its
    /// numbering reversed, unless that yields the same tree.
    pub(super) fn all(nodes: usize) -> Vec<Shape> {
        let mut seen = BTreeSet::new();
        let mut shapes: Vec<Shape> = Vec::new();
        for parents in all_parents(nodes) {
            let shape = Shape::new(nodes, &parents);
            if seen.insert(shape.canonical()) {
                let mirrored = shape.mirrored();
                let is_new = mirrored != shape;
                shapes.push(shape);
                if is_new {
                    shapes.push(mirrored);
                }
            }
        }
        shapes
    }

    /// The tree in which `parents[i]` is the parent of node `i + 1`.
    fn new(nodes: usize, parents: &[usize]) -> Shape {
        let mut neighbours = vec![Vec::new(); nodes];
        for (index, &parent) in parents.iter().enumerate() {
            neighbours[parent].push(index + 1);
            neighbours[index + 1].push(parent);
        }
        Shape::of(neighbours)
    }

    fn of(mut neighbours: Vec<Vec<usize>>) -> Shape {
        for list in &mut neighbours {
            list.sort_unstable();
        }
        let hops = (0..neighbours.len()).map(|from| hops_from(&neighbours, from)).collect();
        Shape { neighbours, hops }
    }

    fn mirrored(&self) -> Shape {
        let last = self.nodes() - 1;
        let mirror = |list: &Vec<usize>| list.iter().map(|node| last - node).collect();
        Shape::of(self.neighbours.iter().rev().map(mirror).collect())
    }

    pub(super) fn nodes(&self) -> usize {
        self.neighbours.len()
    }

    /// The neighbour of `at` through which a request from `from` arrives; `at` itself if both are the same node.
    pub(super) fn last_hop(&self, from: usize, at: usize) -> usize {
        let nearer = |neighbour: &&usize| self.hops[from][**neighbour] < self.hops[from][at];
        *self.neighbours[at].iter().find(nearer).unwrap_or(&at)
    }

    /// A string that is equal exactly for isomorphic trees.
    fn canonical(&self) -> String {
        (0..self.nodes()).map(|root| self.canonical_below(root, root)).min().unwrap_or_default()
    }

    fn canonical_below(&self, node: usize, parent: usize) -> String {
        let below = self.neighbours[node].iter().filter(|child| **child != parent);
        let mut parts: Vec<String> = below.map(|child| self.canonical_below(*child, node)).collect();
        parts.sort();
        format!("({})", parts.concat())
    }
}

/// All parent vectors: the parent of each of the nodes 1, 2, … is an earlier node.
fn all_parents(nodes: usize) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new()];
    for node in 1..nodes {
        let longer =
            |list: &Vec<usize>| (0..node).map(|parent| [list.as_slice(), &[parent]].concat()).collect::<Vec<_>>();
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

fn hops_from(neighbours: &[Vec<usize>], from: usize) -> Vec<usize> {
    let mut hops = vec![usize::MAX; neighbours.len()];
    let mut reached = vec![from];
    hops[from] = 0;
    let mut next = 0;
    while next < reached.len() {
        let node = reached[next];
        next += 1;
        for &neighbour in &neighbours[node] {
            if hops[neighbour] == usize::MAX {
                hops[neighbour] = hops[node] + 1;
                reached.push(neighbour);
            }
        }
    }
    hops
}

/// All ways to place `count` identical items on nodes, as sorted lists of nodes.
pub(super) fn placements(nodes: usize, count: usize) -> Vec<Vec<usize>> {
    let mut lists: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        let longer = |list: &Vec<usize>| {
            let from = list.last().copied().unwrap_or(0);
            (from..nodes).map(|node| [list.as_slice(), &[node]].concat()).collect::<Vec<_>>()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_trees_is_right() {
        let count = |nodes| {
            let shapes: BTreeSet<String> = Shape::all(nodes).iter().map(Shape::canonical).collect();
            shapes.len()
        };
        assert_eq!([1, 2, 3, 4, 5, 6].map(count), [1, 1, 1, 2, 3, 6]);
    }

    #[test]
    fn the_number_of_placements_is_right() {
        assert_eq!(placements(5, 3).len(), 35);
        assert_eq!(placements(5, 2).len(), 15);
        assert_eq!(placements(4, 0), [Vec::<usize>::new()]);
    }

    #[test]
    fn finds_the_last_hop_of_a_request() {
        // 1 - 0 - 2 - 3
        let shape = Shape::new(4, &[0, 0, 2]);
        assert_eq!(shape.hops[1][3], 3);
        assert_eq!(shape.last_hop(3, 0), 2);
        assert_eq!(shape.last_hop(1, 3), 2);
        assert_eq!(shape.last_hop(2, 2), 2);
    }
}
