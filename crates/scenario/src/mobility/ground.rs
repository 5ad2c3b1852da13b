//! Shared by the generators of movements: points on a plane over an area, and random generators.
//!
//! Only basic arithmetic and square roots are used here. They are correctly rounded, so results do not depend on the
//! machine.

use rand::RngExt;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// A position or a size, in metres north and east of the south-west corner of an area.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Metres {
    pub(super) north: f64,
    pub(super) east: f64,
}

/// The golden ratio conjugate: the fractional parts of its multiples are evenly spread, however many are taken.
pub(crate) const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// A random generator. Each pair of `seed` and `user` has its own sequence. `user` is the index of a user, alone or
/// combined with a day, or `u64::MAX` for the values that are drawn once for all users.
pub(super) fn stream(seed: u64, user: u64) -> Pcg64 {
    Pcg64::new(u128::from(seed) << 64 | u128::from(seed ^ user.wrapping_mul(0x9e37_79b9_7f4a_7c15)), u128::from(user))
}

pub(super) fn anywhere(size: Metres, random: &mut Pcg64) -> Metres {
    Metres { north: random.random::<f64>() * size.north, east: random.random::<f64>() * size.east }
}

pub(super) fn between(from: Metres, to: Metres, share: f64) -> Metres {
    Metres { north: from.north + share * (to.north - from.north), east: from.east + share * (to.east - from.east) }
}

pub(super) fn distance(from: Metres, to: Metres) -> f64 {
    let (north, east) = (to.north - from.north, to.east - from.east);
    (north * north + east * east).sqrt()
}

/// A random position in the square that extends `radius` metres from `place` in each direction, clamped to an area of
/// size `size`.
pub(super) fn near(place: Metres, radius: f64, size: Metres, random: &mut Pcg64) -> Metres {
    // The difference of two draws: most positions are close to the centre.
    let mut offset = || (random.random::<f64>() - random.random::<f64>()) * radius;
    Metres {
        north: (place.north + offset()).clamp(0.0, size.north),
        east: (place.east + offset()).clamp(0.0, size.east),
    }
}
