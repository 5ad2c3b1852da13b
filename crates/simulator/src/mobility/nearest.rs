//! Finds the closest of many places.

use mario_colony::NodeIndex;

use crate::position::Position;

/// So few places are looked at one by one.
const LEAF: usize = 8;

/// Places, sorted so that the closest to a point is found without looking at all: a k-d tree over the points of the unit
/// sphere. In three dimensions there is neither a date line nor a pole to take care of.
#[derive(Debug)]
pub(super) struct Nearest {
    /// The tree: the median of each part is in its middle, what is below it before, what is above it after.
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    point: [f64; 3],
    node: NodeIndex,
    /// Which coordinate divides the part that this is the median of.
    axis: u8,
}

/// The best so far: the square of the straight distance, then the node.
#[derive(Clone, Copy, Debug)]
struct Best {
    square: f64,
    node: NodeIndex,
}

impl Nearest {
    pub(super) fn new(places: impl Iterator<Item = (NodeIndex, Position)>) -> Nearest {
        let mut places: Vec<Place> =
            places.map(|(node, position)| Place { point: position.on_unit_sphere(), node, axis: 0 }).collect();
        arrange(&mut places);
        Nearest { places }
    }

    /// The closest node to a place by great-circle distance, the first of those equally close; `None` without any nodes.
    pub(super) fn to(&self, position: Position) -> Option<NodeIndex> {
        let mut best = Best { square: f64::INFINITY, node: NodeIndex(u32::MAX) };
        search(&self.places, position.on_unit_sphere(), &mut best);
        (!self.places.is_empty()).then_some(best.node)
    }
}

fn arrange(places: &mut [Place]) {
    if places.len() <= LEAF {
        return;
    }
    let axis = longest_axis(places);
    let middle = places.len() / 2;
    places.select_nth_unstable_by(middle, |one, other| {
        one.point[axis].total_cmp(&other.point[axis]).then(one.node.cmp(&other.node))
    });
    places[middle].axis = axis as u8;
    let (below, rest) = places.split_at_mut(middle);
    arrange(below);
    arrange(&mut rest[1..]);
}

/// The coordinate in which the places are spread most.
fn longest_axis(places: &[Place]) -> usize {
    let spread = |axis: usize| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for place in places {
            low = low.min(place.point[axis]);
            high = high.max(place.point[axis]);
        }
        high - low
    };
    let spreads = [spread(0), spread(1), spread(2)];
    (0..3).max_by(|one, other| spreads[*one].total_cmp(&spreads[*other])).unwrap_or(0)
}

fn search(places: &[Place], point: [f64; 3], best: &mut Best) {
    if places.len() <= LEAF {
        for place in places {
            best.consider(place, point);
        }
        return;
    }
    let middle = places.len() / 2;
    let median = &places[middle];
    let axis = usize::from(median.axis);
    let beyond = point[axis] - median.point[axis];
    let (near, far) = if beyond < 0.0 {
        (&places[..middle], &places[middle + 1..])
    } else {
        (&places[middle + 1..], &places[..middle])
    };
    search(near, point, best);
    best.consider(median, point);
    // Equally far is looked at too: a node that comes first in the order may be there.
    if beyond * beyond <= best.square {
        search(far, point, best);
    }
}

impl Best {
    fn consider(&mut self, place: &Place, point: [f64; 3]) {
        let [x, y, z] = [0, 1, 2].map(|axis| place.point[axis] - point[axis]);
        let square = x * x + y * y + z * z;
        if square < self.square || (square <= self.square && place.node < self.node) {
            *self = Best { square, node: place.node };
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn finds_what_looking_at_all_places_finds() {
        let mut random = Pcg64::seed_from_u64(1);
        for count in [1, 2, 8, 9, 64, 1_000] {
            let mut position = |latitude: f64, longitude: f64| Position {
                latitude: random.random_range(-latitude..latitude),
                longitude: random.random_range(-longitude..longitude),
            };
            // A town, a country, and the whole earth.
            for (latitude, longitude) in [(0.02, 0.02), (5.0, 5.0), (90.0, 180.0)] {
                let places: Vec<Position> = (0..count).map(|_| position(latitude, longitude)).collect();
                let nearest =
                    Nearest::new(places.iter().enumerate().map(|(index, place)| (NodeIndex::at(index), *place)));
                for _ in 0..200 {
                    let user = position(latitude, longitude);
                    let found = nearest.to(user).expect("there is one");
                    let least = places.iter().map(|place| place.distance_m(user)).fold(f64::INFINITY, f64::min);
                    assert!(places[found.position()].distance_m(user) <= least + 1e-6);
                }
            }
        }
    }

    #[test]
    fn the_first_of_equally_close_nodes_is_taken() {
        let place = Position { latitude: 1.0, longitude: 1.0 };
        let nearest = Nearest::new((0..100).rev().map(|node| (NodeIndex(node), place)));
        assert_eq!(nearest.to(Position { latitude: 0.0, longitude: 0.0 }), Some(NodeIndex(0)));
        assert_eq!(Nearest::new(std::iter::empty()).to(place), None);
    }
}
