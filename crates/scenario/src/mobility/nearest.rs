//! Nearest-neighbour search: finds the closest of many positions with a k-d tree.

use serde::{Deserialize, Serialize};

use crate::index::NodeIndex;
use crate::position::Position;

/// The maximum number of places in a leaf of the tree.
const LEAF: usize = 8;

/// A k-d tree over points on the unit sphere. In three dimensions the date line and the poles need no special cases.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Nearest {
    /// The tree, without pointers. In the middle of each part is its median along one axis, with smaller values before
    /// it and larger values after it. Both halves are parts again, down to [`LEAF`] places, which are not ordered.
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place {
    point: [f64; 3],
    /// If the squared chord distance from a point to this place is less than `alone`, no other place is closer to the
    /// point.
    alone: f64,
    node: NodeIndex,
    /// The axis along which this median divides its part of the tree.
    axis: u8,
}

/// A search result, from which the next search can start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) node: NodeIndex,
    position: u32,
}

/// If a point is within half the distance from a place to the nearest other place, no other place is closer to the
/// point. For squared distances, the factor is a quarter, here reduced to allow for rounding errors.
const HALF_SQUARED: f64 = 0.25 * (1.0 - 1e-6);

/// The best candidate so far. Candidates are compared by squared chord distance, then by node.
#[derive(Clone, Copy, Debug)]
struct Best {
    square: f64,
    found: Found,
    /// The index of a place to skip; `u32::MAX` for none.
    except: u32,
}

impl Nearest {
    /// Whether a deserialized tree can be searched: it has places, and their axes are valid.
    pub(super) fn is_consistent(&self) -> bool {
        !self.places.is_empty() && self.places.iter().all(|place| usize::from(place.axis) < place.point.len())
    }

    pub(super) fn new(places: impl Iterator<Item = (NodeIndex, Position)>) -> Nearest {
        let place = |(node, position): (NodeIndex, Position)| Place {
            point: position.on_unit_sphere(),
            alone: 0.0,
            node,
            axis: 0,
        };
        let mut places: Vec<Place> = places.map(place).collect();
        arrange(&mut places);
        for position in 0..places.len() {
            let mut best = Best { except: position as u32, ..Best::NOTHING };
            search(&places, 0, places[position].point, &mut best);
            places[position].alone = best.square * HALF_SQUARED;
        }
        Nearest { places }
    }

    /// The node closest to a position by great-circle distance; on a tie, the one with the lowest index. `None` if
    /// there are no nodes. `last` is any previous result of this tree; the closer it is to the position, the sooner the
    /// search ends.
    pub(super) fn to(&self, position: Position, last: Option<Found>) -> Option<Found> {
        let point = position.on_unit_sphere();
        let mut best = Best::NOTHING;
        if let Some(last) = last {
            let place = &self.places[last.position as usize];
            best.consider(place, last.position, point);
            if best.square < place.alone {
                return Some(last);
            }
        }
        search(&self.places, 0, point, &mut best);
        (!self.places.is_empty()).then_some(best.found)
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

/// The axis along which the places are spread most.
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

/// Updates `best` if one of `places` is closer. The first of them has index `first` in the tree.
fn search(places: &[Place], first: u32, point: [f64; 3], best: &mut Best) {
    if places.len() <= LEAF {
        for (position, place) in (first..).zip(places) {
            best.consider(place, position, point);
        }
        return;
    }
    let middle = places.len() / 2;
    let median = &places[middle];
    let (below, above) = ((&places[..middle], first), (&places[middle + 1..], first + middle as u32 + 1));
    let axis = usize::from(median.axis);
    let beyond = point[axis] - median.point[axis];
    let (near, far) = if beyond < 0.0 { (below, above) } else { (above, below) };
    search(near.0, near.1, point, best);
    best.consider(median, first + middle as u32, point);
    // Not `<`: the other side may have an equally close node with a lower index.
    if beyond * beyond <= best.square {
        search(far.0, far.1, point, best);
    }
}

impl Best {
    const NOTHING: Best = Best {
        square: f64::INFINITY,
        found: Found { node: NodeIndex(u32::MAX), position: u32::MAX },
        except: u32::MAX,
    };

    #[inline]
    fn consider(&mut self, place: &Place, position: u32, point: [f64; 3]) {
        let [x, y, z] = place.point;
        let (x, y, z) = (x - point[0], y - point[1], z - point[2]);
        let square = x * x + y * y + z * z;
        let is_better = square < self.square || (square <= self.square && place.node < self.found.node);
        if is_better && position != self.except {
            self.square = square;
            self.found = Found { node: place.node, position };
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    #[test]
    fn finds_the_same_as_brute_force() {
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
                let mut last = None;
                for _ in 0..200 {
                    let user = position(latitude, longitude);
                    let found = nearest.to(user, None).expect("there is one");
                    let least = places.iter().map(|place| place.distance_m(user)).fold(f64::INFINITY, f64::min);
                    assert!(places[found.node.position()].distance_m(user) <= least + 1e-6);
                    assert_eq!(nearest.to(user, last), Some(found), "wherever the search begins");
                    assert_eq!(nearest.to(user, Some(found)), Some(found));
                    last = Some(found);
                }
            }
        }
    }

    #[test]
    fn the_first_of_equally_close_nodes_is_taken() {
        let place = Position { latitude: 1.0, longitude: 1.0 };
        let nearest = Nearest::new((0..100).rev().map(|node| (NodeIndex(node), place)));
        let origin = Position { latitude: 0.0, longitude: 0.0 };
        let first = nearest.to(origin, None);
        assert_eq!(first.map(|found| found.node), Some(NodeIndex(0)));
        for position in 0..100 {
            let last = Found { node: nearest.places[position].node, position: position as u32 };
            assert_eq!(nearest.to(origin, Some(last)), first);
            assert_eq!(nearest.to(place, Some(last)), first);
        }
        assert_eq!(Nearest::new(std::iter::empty()).to(place, None), None);
    }
}
