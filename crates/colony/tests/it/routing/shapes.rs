//! Networks: trees, grids, and random networks drawn from a seed.

use mario_testing::Random;

/// A network of nodes 0 to `nodes` - 1. A link is two nodes and a cost in microseconds.
pub struct Shape {
    pub nodes: usize,
    pub links: Vec<(usize, usize, u32)>,
}

impl Shape {
    /// A tree in which each node has at most `fan` children, filled level by level.
    pub fn tree(nodes: usize, fan: usize, cost: u32) -> Shape {
        Shape { nodes, links: (1..nodes).map(|node| ((node - 1) / fan, node, cost)).collect() }
    }

    pub fn grid(side: usize, cost: u32) -> Shape {
        let mut links = Vec::new();
        for row in 0..side {
            for column in 0..side {
                let node = row * side + column;
                if column + 1 < side {
                    links.push((node, node + 1, cost));
                }
                if row + 1 < side {
                    links.push((node, node + side, cost));
                }
            }
        }
        Shape { nodes: side * side, links }
    }

    /// A random connected network of 2 to 16 nodes, with link costs of 1 to 6 ms.
    pub fn drawn(random: &mut Random) -> Shape {
        let nodes = random.between(2, 16) as usize;
        let mut links: Vec<(usize, usize, u32)> = Vec::new();
        let cost = |random: &mut Random| 1_000 * random.between(1, 6) as u32;
        for node in 1..nodes {
            links.push((random.below(node), node, cost(random)));
        }
        for _ in 0..random.below(nodes as u64 + 1) {
            let (one, other) = (random.below(nodes), random.below(nodes));
            let is_new =
                one != other && !links.iter().any(|(a, b, _)| (*a, *b) == (one, other) || (*a, *b) == (other, one));
            if is_new {
                links.push((one, other, cost(random)));
            }
        }
        Shape { nodes, links }
    }
}
