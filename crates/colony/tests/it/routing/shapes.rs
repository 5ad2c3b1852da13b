//! Networks: trees, grids, and random networks drawn from a seed.

use mario_testing::Random;

/// Nodes by number, and links with their costs in microseconds.
pub struct Shape {
    pub nodes: usize,
    pub links: Vec<(usize, usize, u32)>,
}

impl Shape {
    /// A tree in which each inner node has `fan` children.
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

    /// A connected network with links of different costs, some of them equal.
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
