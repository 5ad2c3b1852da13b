//! Positions on the map.

use serde::{Deserialize, Serialize};

/// A position on the map, in degrees.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Position {
    /// Degrees north of the equator.
    pub latitude: f64,
    /// Degrees east of Greenwich.
    pub longitude: f64,
}

/// A rectangle on the map.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Area {
    /// Its corner with the lowest latitude and longitude.
    pub south_west: Position,
    /// Its corner with the highest latitude and longitude.
    pub north_east: Position,
}

/// The mean radius of the earth.
const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// The length of one degree of latitude.
const DEGREE_M: f64 = EARTH_RADIUS_M * std::f64::consts::PI / 180.0;

impl Position {
    /// The position with these coordinates; `None` if they are not valid degrees of latitude and longitude.
    pub fn checked(latitude: f64, longitude: f64) -> Option<Position> {
        let on_the_map = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        on_the_map.then_some(Position { latitude, longitude })
    }

    /// The position `north` and `east` metres from this one; the distance east is measured at the latitude of `self`.
    /// `None` beyond a pole or the date line.
    pub fn moved_m(self, north: f64, east: f64) -> Option<Position> {
        let degrees_east = east / DEGREE_M / self.latitude.to_radians().cos();
        Position::checked(self.latitude + north / DEGREE_M, self.longitude + degrees_east)
    }

    /// The point on the unit sphere. The longer the chord between two such points, the farther apart the positions are.
    /// Comparing chords needs no trigonometry.
    pub(crate) fn on_unit_sphere(self) -> [f64; 3] {
        let (north, east) = (self.latitude.to_radians(), self.longitude.to_radians());
        [north.cos() * east.cos(), north.cos() * east.sin(), north.sin()]
    }

    /// The great-circle distance to another position.
    pub fn distance_m(self, other: Position) -> f64 {
        let (from, to) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half_latitude = ((to - from) / 2.0).sin();
        let half_longitude = ((other.longitude - self.longitude).to_radians() / 2.0).sin();
        let chord = half_latitude * half_latitude + from.cos() * to.cos() * half_longitude * half_longitude;
        2.0 * EARTH_RADIUS_M * chord.sqrt().min(1.0).asin()
    }
}

impl Area {
    /// The rectangle between two corners; `None` if the first is not south-west of the second.
    pub fn between(south_west: Position, north_east: Position) -> Option<Area> {
        let ordered = south_west.latitude < north_east.latitude && south_west.longitude < north_east.longitude;
        ordered.then_some(Area { south_west, north_east })
    }

    /// The rectangle of this height and width around a position; the width is measured at the latitude of the position.
    /// `None` if it reaches beyond a pole or the date line.
    pub fn around(centre: Position, height_m: f64, width_m: f64) -> Option<Area> {
        let north = height_m / DEGREE_M / 2.0;
        let east = width_m / DEGREE_M / centre.latitude.to_radians().cos() / 2.0;
        let south_west = Position::checked(centre.latitude - north, centre.longitude - east)?;
        let north_east = Position::checked(centre.latitude + north, centre.longitude + east)?;
        Area::between(south_west, north_east)
    }

    /// The distance from the southern to the northern side.
    pub fn height_m(self) -> f64 {
        (self.north_east.latitude - self.south_west.latitude) * DEGREE_M
    }

    /// The distance from the western to the eastern side, at the middle latitude.
    pub fn width_m(self) -> f64 {
        let degrees = self.north_east.longitude - self.south_west.longitude;
        degrees * DEGREE_M * self.at(0.5, 0.5).latitude.to_radians().cos()
    }

    /// The position at these fractions from south to north and from west to east, each from 0 to 1.
    pub fn at(self, north: f64, east: f64) -> Position {
        let (low, high) = (self.south_west, self.north_east);
        Position {
            latitude: low.latitude + north * (high.latitude - low.latitude),
            longitude: low.longitude + east * (high.longitude - low.longitude),
        }
    }

    /// The inverse of [`Area::at`]: the fractions of a position from south to north and from west to east. In the area,
    /// they are from 0 to 1.
    pub fn part(self, place: Position) -> (f64, f64) {
        let (low, high) = (self.south_west, self.north_east);
        let part = |value: f64, low: f64, high: f64| (value - low) / (high - low);
        (part(place.latitude, low.latitude, high.latitude), part(place.longitude, low.longitude, high.longitude))
    }

    /// Whether a position is in the area or on its border.
    pub fn contains(self, place: Position) -> bool {
        let (low, high) = (self.south_west, self.north_east);
        (low.latitude..=high.latitude).contains(&place.latitude)
            && (low.longitude..=high.longitude).contains(&place.longitude)
    }

    /// The row and column of a position in a grid of `size` by `size` cells over the area. Rows are counted from the
    /// south, columns from the west. A position outside of the area is moved to the border first.
    pub fn cell(self, size: u32, place: Position) -> (u32, u32) {
        let cell = |value: f64, low: f64, high: f64| {
            let cell = ((value - low) / (high - low) * f64::from(size)).floor();
            // The cast saturates negative values to 0.
            (cell as u32).min(size - 1)
        };
        let (low, high) = (self.south_west, self.north_east);
        (cell(place.latitude, low.latitude, high.latitude), cell(place.longitude, low.longitude, high.longitude))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROME: Position = Position { latitude: 41.8986, longitude: 12.4806 };

    #[test]
    fn an_area_around_a_position_has_the_requested_size() {
        let area = Area::around(ROME, 4_000.0, 3_000.0).expect("it is on the map");
        assert!((area.height_m() - 4_000.0).abs() < 0.001, "{}", area.height_m());
        assert!((area.width_m() - 3_000.0).abs() < 0.001, "{}", area.width_m());
        assert!(area.at(0.5, 0.5).distance_m(ROME) < 0.001);
        let along_the_equator = area.at(0.5, 0.0).distance_m(area.at(0.5, 1.0));
        assert!((along_the_equator - 3_000.0).abs() < 0.01, "{along_the_equator}");
        assert_eq!(Area::around(Position { latitude: 90.0, longitude: 0.0 }, 10.0, 10.0), None);
    }

    #[test]
    fn a_position_outside_is_in_the_closest_cell_at_the_border() {
        let area = Area::around(ROME, 4_000.0, 4_000.0).expect("it is on the map");
        for (north, east, cell) in
            [(0.0, 0.0, (0, 0)), (0.49, 0.51, (3, 4)), (1.0, 1.0, (7, 7)), (-3.0, 0.3, (0, 2)), (0.3, 99.0, (2, 7))]
        {
            assert_eq!(area.cell(8, area.at(north, east)), cell, "{north} {east}");
        }
    }

    #[test]
    fn degrees_beyond_the_map_are_rejected() {
        assert_eq!(Position::checked(41.9, 12.5), Some(Position { latitude: 41.9, longitude: 12.5 }));
        for (latitude, longitude) in [(90.1, 0.0), (0.0, -180.1), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
            assert_eq!(Position::checked(latitude, longitude), None);
        }
    }
}
