//! Random geometric graphs: finds pairs of nearby nodes on a plane, and the shortest links that connect all nodes.

/// A position relative to the south-west corner of an area, or the size of the area, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Metres {
    pub(super) north: f64,
    pub(super) east: f64,
}

/// Positions, sorted into a grid of square cells so that only those in nearby cells are compared.
pub(super) struct Near<'p> {
    places: &'p [Metres],
    radius: f64,
    cell: f64,
    rows: usize,
    columns: usize,
    /// The places of cell `c` are `members[first[c]..first[c + 1]]`.
    first: Vec<u32>,
    members: Vec<u32>,
}

/// A candidate for a link between two disconnected parts, with the square of its length.
#[derive(Clone, Copy, Debug)]
struct Missing {
    square: f64,
    one: u32,
    other: u32,
}

impl Metres {
    pub(super) fn square_to(self, other: Metres) -> f64 {
        let (north, east) = (self.north - other.north, self.east - other.east);
        north * north + east * east
    }
}

impl<'p> Near<'p> {
    pub(super) fn new(places: &'p [Metres], size: Metres, radius: f64) -> Near<'p> {
        // The side of a cell with about two positions. The radius may require larger cells.
        let crowd = (size.north * size.east * 2.0 / places.len() as f64).sqrt();
        // In a very elongated area, the number of cells along the longer side must not exceed the number of positions.
        let longest = size.north.max(size.east) / places.len() as f64;
        let cell = radius.max(crowd).max(longest);
        let (rows, columns) = ((size.north / cell) as usize + 1, (size.east / cell) as usize + 1);
        let mut near =
            Near { places, radius, cell, rows, columns, first: vec![0; rows * columns + 1], members: Vec::new() };
        near.members = vec![0; places.len()];
        for place in places {
            let cell = near.cell_of(*place);
            near.first[cell + 1] += 1;
        }
        for cell in 1..near.first.len() {
            near.first[cell] += near.first[cell - 1];
        }
        let mut next = near.first.clone();
        for (node, place) in places.iter().enumerate() {
            let cell = near.cell_of(*place);
            near.members[next[cell] as usize] = node as u32;
            next[cell] += 1;
        }
        near
    }

    fn row_and_column(&self, place: Metres) -> (usize, usize) {
        let row = ((place.north / self.cell) as usize).min(self.rows - 1);
        (row, ((place.east / self.cell) as usize).min(self.columns - 1))
    }

    fn cell_of(&self, place: Metres) -> usize {
        let (row, column) = self.row_and_column(place);
        row * self.columns + column
    }

    /// The members of the square ring of cells that are `distance` cells away from the cell of a place.
    fn ring(&self, place: Metres, distance: usize) -> impl Iterator<Item = u32> {
        let (row, column) = self.row_and_column(place);
        let rows = row.saturating_sub(distance)..=(row + distance).min(self.rows - 1);
        rows.flat_map(move |other_row| {
            let whole = other_row.abs_diff(row) == distance;
            let (west, east) = (column.saturating_sub(distance), (column + distance).min(self.columns - 1));
            // In the rows between the first and the last row of the ring, only the two ends belong to it.
            let step = if whole || distance == 0 { 1 } else { 2 * distance };
            let start = if whole { west } else { column.checked_sub(distance).unwrap_or(column + distance) };
            (start..=east).step_by(step).flat_map(move |other_column| {
                let cell = other_row * self.columns + other_column;
                self.members[self.first[cell] as usize..self.first[cell + 1] as usize].iter().copied()
            })
        })
    }

    /// All pairs of positions within the radius of each other, in ascending order; `None` if there are more than
    /// `limit`.
    pub(super) fn pairs(&self, limit: usize) -> Option<Vec<(u32, u32)>> {
        let mut pairs = Vec::new();
        let square = self.radius * self.radius;
        for (node, place) in self.places.iter().enumerate() {
            let start = pairs.len();
            let near = (0..=1).flat_map(|distance| self.ring(*place, distance));
            for other in near.filter(|other| *other as usize > node) {
                if self.places[other as usize].square_to(*place) <= square {
                    pairs.push((node as u32, other));
                }
            }
            if pairs.len() > limit {
                return None;
            }
            pairs[start..].sort_unstable();
        }
        Some(pairs)
    }

    /// Adds links until the graph is connected, by Borůvka's algorithm: in each round, each part except the largest
    /// gets its shortest link to another part. The total length of the added links is minimal.
    pub(super) fn connect(&self, links: &mut Vec<(u32, u32)>) {
        let mut parts = Parts::new(self.places.len());
        for (one, other) in &*links {
            parts.join(*one, *other);
        }
        loop {
            let part_of: Vec<u32> = (0..self.places.len() as u32).map(|node| parts.find(node)).collect();
            let mut sizes = vec![0_u32; self.places.len()];
            for part in &part_of {
                sizes[*part as usize] += 1;
            }
            let largest = (0..sizes.len()).max_by_key(|part| sizes[*part]).unwrap_or(0) as u32;
            let mut shortest: Vec<Option<Missing>> = vec![None; self.places.len()];
            for (node, part) in part_of.iter().enumerate().filter(|(_, part)| **part != largest) {
                let best = &mut shortest[*part as usize];
                self.look_beyond(node as u32, &part_of, best);
            }
            let mut missing: Vec<Missing> = shortest.into_iter().flatten().collect();
            if missing.is_empty() {
                return;
            }
            missing.sort_by(Missing::order);
            for missing in missing {
                if parts.join(missing.one, missing.other) {
                    links.push((missing.one, missing.other));
                }
            }
        }
    }

    /// Updates `best` if a link from this node to another part is better by [`Missing::order`].
    fn look_beyond(&self, node: u32, part_of: &[u32], best: &mut Option<Missing>) {
        let place = self.places[node as usize];
        for distance in 0..self.rows.max(self.columns) {
            // A lower bound on the distance to positions in this ring, in metres.
            let least = distance.saturating_sub(1) as f64 * self.cell;
            if best.is_some_and(|best| best.square < least * least) {
                return;
            }
            for other in self.ring(place, distance).filter(|other| part_of[*other as usize] != part_of[node as usize]) {
                let square = self.places[other as usize].square_to(place);
                let missing = Missing { square, one: node.min(other), other: node.max(other) };
                if best.is_none_or(|best| missing.order(&best).is_lt()) {
                    *best = Some(missing);
                }
            }
        }
    }
}

impl Missing {
    /// Compares by length, then by ends. The order is total, so the links of a round form no cycle.
    fn order(&self, other: &Missing) -> std::cmp::Ordering {
        self.square.total_cmp(&other.square).then((self.one, self.other).cmp(&(other.one, other.other)))
    }
}

/// The connected parts of a graph, as a union-find structure.
struct Parts {
    parent: Vec<u32>,
}

impl Parts {
    fn new(count: usize) -> Parts {
        Parts { parent: (0..count as u32).collect() }
    }

    fn find(&mut self, node: u32) -> u32 {
        let mut root = node;
        while self.parent[root as usize] != root {
            self.parent[root as usize] = self.parent[self.parent[root as usize] as usize];
            root = self.parent[root as usize];
        }
        root
    }

    /// Joins two parts. Returns whether they were different.
    fn join(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.find(one), self.find(other));
        self.parent[one.max(other) as usize] = one.min(other);
        one != other
    }
}
