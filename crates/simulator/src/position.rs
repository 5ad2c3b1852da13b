//! Places on the map.

/// A place on the map, in degrees.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Position {
    /// Degrees north of the equator.
    pub latitude: f64,
    /// Degrees east of Greenwich.
    pub longitude: f64,
}

/// A rectangle on the map.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Area {
    /// Its corner with the least latitude and longitude.
    pub south_west: Position,
    /// Its corner with the greatest latitude and longitude.
    pub north_east: Position,
}

/// The mean radius of the earth.
const EARTH_RADIUS_M: f64 = 6_371_008.8;

impl Position {
    /// The distance to another place, along a great circle.
    pub fn distance_m(self, other: Position) -> f64 {
        let (from, to) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half_latitude = ((to - from) / 2.0).sin();
        let half_longitude = ((other.longitude - self.longitude).to_radians() / 2.0).sin();
        let chord = half_latitude * half_latitude + from.cos() * to.cos() * half_longitude * half_longitude;
        2.0 * EARTH_RADIUS_M * chord.sqrt().min(1.0).asin()
    }
}
