//! Small trees of nodes, each shape once.

use std::collections::BTreeSet;

/// A tree of nodes, numbered from 0, and the ways through it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    /// By node.
    pub(super) neighbours: Vec<Vec<usize>>,
    /// By node and node: how many links lie between them.
    pub(super) hops: Vec<Vec<usize>>,
}

impl Shape {
    /// Every tree of this many nodes up to isomorphism, and once more with the numbers in reverse: which node has the
    /// greater name decides ties.
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

    /// The tree in which node `i + 1` hangs below `parents[i]`.
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

    /// The neighbour of `at` through which a request from `from` arrives.
    pub(super) fn last_hop(&self, from: usize, at: usize) -> usize {
        let nearer = |neighbour: &&usize| self.hops[from][**neighbour] < self.hops[from][at];
        *self.neighbours[at].iter().find(nearer).unwrap_or(&at)
    }

    /// Equal for isomorphic trees.
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

/// All ways to hang nodes 1, 2, … below nodes that come before them.
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

/// All ways to put this many equal things on nodes, as sorted lists of nodes.
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
    fn there_are_as_many_trees_as_mathematics_says() {
        let count = |nodes| {
            let shapes: BTreeSet<String> = Shape::all(nodes).iter().map(Shape::canonical).collect();
            shapes.len()
        };
        assert_eq!([1, 2, 3, 4, 5, 6].map(count), [1, 1, 1, 2, 3, 6]);
    }

    #[test]
    fn there_are_as_many_placements_as_mathematics_says() {
        assert_eq!(placements(5, 3).len(), 35);
        assert_eq!(placements(5, 2).len(), 15);
        assert_eq!(placements(4, 0), [Vec::<usize>::new()]);
    }

    #[test]
    fn knows_where_a_request_comes_from() {
        // 1 - 0 - 2 - 3
        let shape = Shape::new(4, &[0, 0, 2]);
        assert_eq!(shape.hops[1][3], 3);
        assert_eq!(shape.last_hop(3, 0), 2);
        assert_eq!(shape.last_hop(1, 3), 2);
        assert_eq!(shape.last_hop(2, 2), 2);
    }
}
